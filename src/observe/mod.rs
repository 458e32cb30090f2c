//! All reads of PostgreSQL: baseline, drain, rows, what the schema forbids, refused inserts.
//!
//! Nothing here changes a row. The SQL stands in `sql/*.sql`.

mod drain;
mod error;
mod postgres_log;
mod rows;
mod sockets;

pub use drain::{DrainLimits, Drained};
pub use error::ObserveError;
pub use postgres_log::refused_inserts;
pub use rows::{Observer, Subject};
