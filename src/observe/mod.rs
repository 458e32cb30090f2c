//! All reads of PostgreSQL: baseline, drain, rows, what the schema forbids, refused inserts, the
//! profile's own checks, and the survey of a live database.
//!
//! Nothing here changes a row, but for the user's own statements in `setup`. The SQL stands in
//! `sql/*.sql`.

mod blockers;
mod custom;
mod drain;
mod error;
mod payments_log;
mod place;
mod postgres_log;
mod refusal;
mod rows;
mod setup;
mod sockets;
mod statement;
mod survey;

pub use blockers::{LockWaits, LockWatch};
pub use drain::{DrainLimits, Drained};
pub use error::ObserveError;
pub use payments_log::payments;
pub use place::{ServerPlace, server_place};
pub use postgres_log::refused_inserts;
pub use refusal::Refusal;
pub use rows::{Observer, Subject};
pub use setup::run_statements;
