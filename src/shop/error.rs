//! Everything that can go wrong in the shop, at start and while an order is placed.
//!
//! One enum for both, because the chain asks only two questions of an error: did it certainly
//! have no effect, and may the transaction be tried again? `Display` never holds a URL, since a
//! URL may hold a password.

use std::{io, net::SocketAddr};

use axum::http::StatusCode;
use sqlx::error::DatabaseError;
use thiserror::Error;

/// What the shop was doing when it failed, and to what.
#[derive(Debug, Error)]
pub enum ShopError {
    #[error("no --{flag} was given; add it, or set {variable} in the environment")]
    UrlMissing { flag: &'static str, variable: &'static str },
    #[error("the value of --{flag} isn't a URL that the driver understands")]
    PostgresUrl { flag: &'static str, source: sqlx::Error },
    #[error("the value of --{flag} isn't a URL that the driver understands")]
    RedisUrl { flag: &'static str, source: redis::RedisError },
    #[error("the shop doesn't understand its flags")]
    Flags { source: clap::Error },
    #[error("these settings can't be meant together: {why}")]
    Impossible { why: &'static str },
    #[error("the defect `{defect}` would never be reached: it needs {need}")]
    DefectOutOfPlace { defect: &'static str, need: &'static str },
    #[error("the value of --payments-url can't be used: {reason}")]
    PaymentsUrl { reason: &'static str },
    #[error("the payment provider gave no clear answer: {reason}")]
    PaymentUnclear { reason: String },
    #[error("the order was charged and can't become PAID: it is {status}")]
    ChargedAstray { status: String },
    #[error("unknown defect `{given}`{}", guess(*.nearest))]
    UnknownDefect { given: String, nearest: Option<&'static str> },
    #[error(
        "cannot listen on {address}: another process has this port; stop it, or choose another \
         with --{flag} (port 0 takes a free one)"
    )]
    PortInUse { address: SocketAddr, flag: &'static str, source: io::Error },
    #[error("cannot listen on {address} (--{flag})")]
    Listen { address: SocketAddr, flag: &'static str, source: io::Error },
    #[error("{doing} failed")]
    System { doing: &'static str, source: io::Error },
    #[error("cannot reach PostgreSQL at {place}; is it up, and is --database-url right?")]
    PostgresUnreachable { place: String, source: sqlx::Error },
    #[error("cannot reach Redis at {place}; is it up, and is --redis-url right?")]
    RedisUnreachable { place: String, source: redis::RedisError },
    #[error("PostgreSQL failed while {doing}")]
    Postgres { doing: &'static str, source: sqlx::Error },
    #[error("Redis failed while {doing}")]
    Redis { doing: &'static str, source: redis::RedisError },
    #[error("the answer to COMMIT never came or was an error: the order may or may not exist")]
    CommitUnclear { source: sqlx::Error },
    #[error("a statement of the transaction had failed, so it was rolled back, not committed")]
    CommitOfFailedTransaction,
    #[error("the unique index refused the order, but the order that it stands for is gone")]
    WinnerGone,
    #[error("the lease was over before its holder was done")]
    LeaseLost,
    #[error("the version of the product changed at every try")]
    VersionContended,
    #[error("the record in Redis holds something that this service never writes: {what}")]
    RecordUnreadable { what: &'static str },
}

const SERIALIZATION_FAILURE: &str = "40001";
const DEADLOCK_DETECTED: &str = "40P01";
const LOCK_NOT_AVAILABLE: &str = "55P03";

impl ShopError {
    /// True when the command line is to be corrected, not the world around it.
    pub fn is_mistake_of_the_caller(&self) -> bool {
        matches!(
            self,
            Self::UrlMissing { .. }
                | Self::PostgresUrl { .. }
                | Self::RedisUrl { .. }
                | Self::PaymentsUrl { .. }
                | Self::UnknownDefect { .. }
                | Self::Flags { .. }
                | Self::Impossible { .. }
                | Self::DefectOutOfPlace { .. }
        )
    }

    /// True unless COMMIT may have been carried out.
    pub fn certainly_had_no_effect(&self) -> bool {
        !matches!(self, Self::CommitUnclear { .. })
    }

    /// PostgreSQL rolled back and asks for another try (40001, 40P01), or the order that was in
    /// the way is gone, or its time window over.
    pub fn is_worth_another_transaction(&self) -> bool {
        match self {
            Self::Postgres { source, .. } => asks_for_another_try(source),
            Self::WinnerGone => true,
            _ => false,
        }
    }

    /// Redis can't be asked, or refuses: what it did isn't known, and the database can do without.
    pub fn is_of_redis(&self) -> bool {
        matches!(self, Self::Redis { .. })
    }

    /// The record can't be read, which the order table can do without; the next answer mends it.
    pub fn is_of_the_record(&self) -> bool {
        matches!(self, Self::RecordUnreadable { .. })
    }

    /// Somebody held a row for longer than anybody should wait for it.
    pub fn is_lock_timeout(&self) -> bool {
        match self {
            Self::Postgres { source, .. } => {
                let code = source.as_database_error().and_then(DatabaseError::code);
                code.as_deref() == Some(LOCK_NOT_AVAILABLE)
            }
            _ => false,
        }
    }

    pub fn is_unique_violation(&self) -> bool {
        match self {
            Self::Postgres { source, .. } => {
                source.as_database_error().is_some_and(DatabaseError::is_unique_violation)
            }
            _ => false,
        }
    }

    /// 503 where the same request may succeed later without anybody's help.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Redis { .. } | Self::VersionContended => StatusCode::SERVICE_UNAVAILABLE,
            Self::Postgres { source, .. } if is_unavailable(source) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// This error and its causes in one line, for the log.
    pub fn told_in_one_line(&self) -> String {
        let mut line = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let told = error.to_string();
            // sqlx and redis end their own text with that of their cause.
            if !line.ends_with(&told) {
                line.push_str(": ");
                line.push_str(&told);
            }
            cause = error.source();
        }
        line.replace('\n', " ")
    }
}

pub fn asks_for_another_try(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    matches!(code.as_deref(), Some(SERIALIZATION_FAILURE | DEADLOCK_DETECTED))
}

fn guess(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

fn is_unavailable(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::Io(_) => true,
        sqlx::Error::Database(refusal) => {
            let code = refusal.code().unwrap_or_default();
            // 08 connection, 40 rolled back, 53 resources, 55 not in this state (locked), 57 operator
            // intervention:
            // https://www.postgresql.org/docs/15/errcodes-appendix.html
            ["08", "40", "53", "55", "57"].contains(&code.get(..2).unwrap_or_default())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unclear_commit_leaves_the_effect_open() {
        let unclear = ShopError::CommitUnclear { source: sqlx::Error::WorkerCrashed };
        let before =
            ShopError::Postgres { doing: "taking stock", source: sqlx::Error::PoolTimedOut };
        assert!(!unclear.certainly_had_no_effect());
        assert!(before.certainly_had_no_effect());
    }

    #[test]
    fn a_winner_that_is_gone_makes_room_for_another_try() {
        assert!(ShopError::WinnerGone.is_worth_another_transaction());
        assert!(!ShopError::CommitOfFailedTransaction.is_worth_another_transaction());
        assert!(!ShopError::WinnerGone.is_unique_violation());
    }

    #[test]
    fn a_pool_without_a_free_connection_is_503() {
        let error = ShopError::Postgres {
            doing: "waiting for a connection",
            source: sqlx::Error::PoolTimedOut,
        };
        assert_eq!(error.status(), StatusCode::SERVICE_UNAVAILABLE);
    }

    #[test]
    fn the_log_line_names_the_cause_and_stays_one_line() {
        let error =
            ShopError::System { doing: "raising the file limit", source: io::Error::other("a\nb") };
        assert_eq!(error.told_in_one_line(), "raising the file limit failed: a b");
    }
}
