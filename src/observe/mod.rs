//! All reads of PostgreSQL: baseline, drain, rows, what the schema forbids, refused inserts, the
//! profile's own checks, and the survey of a live database.
//!
//! Nothing here changes a row. The SQL stands in `sql/*.sql`.

mod custom;
mod drain;
mod error;
mod postgres_log;
mod rows;
mod sockets;
mod statement;
mod survey;

pub use drain::{DrainLimits, Drained};
pub use error::ObserveError;
pub use postgres_log::refused_inserts;
pub use rows::{Observer, Subject};
