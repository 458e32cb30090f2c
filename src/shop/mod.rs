//! The reference order service: `POST /orders`, asked twice, makes one order, and no order is both
//! paid and closed.
//!
//! A stranger to the rest of the program: it is served by a process of its own, imports nothing
//! of the other rooms, and is known to them by its HTTP answers, its tables and its Redis keys
//! only. So a drill treats it like any other target, and nothing is proved by knowing too much.
//!
//! Read in this order:
//!
//! | file | holds |
//! |---|---|
//! | `chain` | the story: claim, lease, transaction, unlock, stored answer |
//! | `record`, `submit_token`, `lock`, `transaction`, `stock`, `order` | one line of defence each |
//! | `reconciliation` | what no program can decide |
//! | `life` | the order afterwards: paid or closed |
//! | `paying` | the same through a payment provider, and what is left unclear |
//! | `headers`, `wish`, `intent`, `fingerprint`, `answer` | what comes in, and what goes out |
//! | `scope`, `window` | what a key belongs to, and what stands in for one |
//! | `defects` | what can be broken on purpose, one file per defect |
//! | `settings`, `strategy`, `duration`, `state`, `schema`, `retry` | how it is set up |
//! | `server`, `listen`, `routes`, `speak`, `metrics` | how it is served |

mod answer;
mod chain;
mod defects;
mod duration;
mod error;
mod fingerprint;
mod headers;
mod intent;
mod life;
mod listen;
mod lock;
mod metrics;
mod order;
mod paying;
mod reconciliation;
mod record;
mod retry;
mod routes;
mod schema;
mod scope;
mod server;
mod settings;
mod speak;
mod state;
mod stock;
mod strategy;
mod submit_token;
mod token;
mod transaction;
mod window;
mod wish;

pub use defects::{Defect, DefectInfo, Need, Partner, defects};
pub use error::ShopError;
pub use server::serve;
pub use settings::{Settings, ShopArgs, VARIABLES, check, from_environment};
pub use strategy::list as strategies;
