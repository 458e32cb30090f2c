//! TOML becomes a checked profile, all mistakes at once, each with its place.

mod contract;
mod model;
mod template;

pub use contract::{Answer, BodyCode, BusinessColumn, Contract, Hint, Replay, ReplayBody};
pub use model::{
    AuditTables, Budget, Burst, Choice, ClientSettings, LabSettings, Limits, OrdersTable, Phase,
    Products, Profile, Published, Release, Request, Retries, SameKey, StockTable,
};
pub use template::{BodyTemplate, Filling, Hole, TemplateMistake, TextTemplate};
