//! All reads of PostgreSQL: baseline, drain, rows, what the schema forbids, refused inserts.
//!
//! Nothing here changes a row, but for the user's own statements in `statements`. The SQL stands in
//! `sql/*.sql`.

mod drain;
mod error;
mod place;
mod postgres_log;
mod rows;
mod sockets;
mod statements;

pub use drain::{DrainLimits, Drained};
pub use error::ObserveError;
pub use place::{ServerPlace, server_place};
pub use postgres_log::refused_inserts;
pub use rows::{Observer, Subject};
pub use statements::run_statements;
