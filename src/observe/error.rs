//! What can go wrong while a database is looked at.

use std::path::PathBuf;

use super::Refusal;

/// Reading failed; the verdict can't be had this way.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    #[error("cannot connect to PostgreSQL at {place}")]
    Connect { place: String, source: Refusal },
    #[error("PostgreSQL did not answer while the audit {doing}")]
    Query { doing: &'static str, source: Refusal },
    #[error("{which} statement {number} (`{begins}`) failed")]
    Statement { which: &'static str, number: usize, begins: String, source: Refusal },
    #[error("there is no table {table} in the audited database")]
    NoTable { table: String },
    #[error("table {table} has no column {column}; it has {known}")]
    NoColumn { table: String, column: String, known: String },
    #[error("cannot read PostgreSQL's log {path}")]
    Log { path: PathBuf, source: std::io::Error },
    #[error("cannot read the payment provider's log {path}")]
    PaymentsLog { path: PathBuf, source: std::io::Error },
    #[error("line {line} of the payment provider's log {path} can't be understood")]
    PaymentsLine { path: PathBuf, line: usize, source: serde_json::Error },
    #[error(
        "{found} orders of this run's users or keys exist before it began, such as order {example}"
    )]
    NotFresh { found: usize, example: String },
}
