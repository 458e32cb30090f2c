//! What a database says when it refuses, told once.
//!
//! The driver's error prints its cause within itself and gives it as its source as well, and names
//! lines of PostgreSQL's own source code. A reader needs the message, the detail and the SQLSTATE.

use std::error::Error;

/// An error of the driver in one sentence; it has no source, because everything is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(String);

impl From<sqlx::Error> for Refusal {
    fn from(error: sqlx::Error) -> Self {
        Self(match error.as_database_error() {
            Some(refused) => by_the_server(refused),
            None => with_causes(&error),
        })
    }
}

/// `duplicate key value ... (Key (id)=(1) already exists., SQLSTATE 23505)`.
fn by_the_server(refused: &dyn sqlx::error::DatabaseError) -> String {
    let postgres = refused.try_downcast_ref::<sqlx::postgres::PgDatabaseError>();
    let detail = postgres.and_then(|postgres| postgres.detail()).map(|it| it.trim_end_matches('.'));
    let state = refused.code().map(|code| format!("SQLSTATE {code}"));
    let more: Vec<String> = detail.map(str::to_owned).into_iter().chain(state).collect();
    match more.is_empty() {
        true => refused.message().to_owned(),
        false => format!("{} ({})", refused.message(), more.join(", ")),
    }
}

/// The causes that the error doesn't print itself stand behind it.
fn with_causes(error: &dyn Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !told.contains(&more) {
            told = format!("{told}: {more}");
        }
        source = cause.source();
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_within_the_message_is_not_told_again() {
        let broken = || std::io::Error::new(std::io::ErrorKind::ConnectionReset, "it is gone");
        let told = Refusal::from(sqlx::Error::Io(broken())).to_string();
        assert_eq!(told.matches("it is gone").count(), 1, "{told}");
    }
}
