//! What a claim found in the record, read out of the fields that the script gives.
//!
//! The script only tells; whether it is the same intent, and whether the record is overdue, is
//! decided by the caller. That is no second step on the record: what was read is one moment's.

use std::time::Duration;

use axum::http::StatusCode;

use crate::shop::{answer::Answer, error::ShopError, fingerprint::Fingerprint, token::Token};

/// fingerprint, status, owner, age in ms, and the answer's status code, location and body.
pub type Fields = Vec<Option<String>>;

#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    pub fingerprint: Fingerprint,
    pub state: State,
}

#[derive(Debug, PartialEq, Eq)]
pub enum State {
    InProgress { owner: Token, age: Duration },
    Success(Answer),
}

impl Found {
    pub fn read(fields: Fields) -> Result<Self, ShopError> {
        let unreadable = |what| ShopError::RecordUnreadable { what };
        let Ok([fingerprint, status, owner, age, code, location, body]) =
            <[Option<String>; 7]>::try_from(fields)
        else {
            return Err(unreadable("its fields"));
        };
        let fingerprint =
            Fingerprint::read(fingerprint.ok_or_else(|| unreadable("its fingerprint"))?);
        let state = match (status.as_deref(), owner, location, body) {
            (Some("IN_PROGRESS"), Some(owner), ..) => {
                let age_ms = age.and_then(|age| age.parse::<i64>().ok());
                let age_ms = age_ms.ok_or_else(|| unreadable("its age"))?;
                // The clock of a server that took over may be behind.
                let age = Duration::from_millis(age_ms.max(0).unsigned_abs());
                State::InProgress { owner: Token::read(owner), age }
            }
            (Some("SUCCESS"), _, Some(location), Some(body)) => {
                let status = code
                    .and_then(|code| code.parse().ok())
                    .and_then(|code| StatusCode::from_u16(code).ok())
                    .ok_or_else(|| unreadable("its status code"))?;
                State::Success(Answer::stored(status, location, body))
            }
            _ => return Err(unreadable("its status")),
        };
        Ok(Self { fingerprint, state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty word stands for a field that isn't there.
    fn read(words: &[&str]) -> Result<State, ShopError> {
        let field = |word: &&str| (!word.is_empty()).then(|| (*word).to_owned());
        Found::read(words.iter().map(field).collect()).map(|found| found.state)
    }

    #[test]
    fn a_record_in_progress_tells_its_owner_and_its_age() {
        let state = read(&["f", "IN_PROGRESS", "t1", "1500", "", "", ""]).expect("a good record");
        let owner = Token::read("t1".to_owned());
        assert_eq!(state, State::InProgress { owner, age: Duration::from_millis(1500) });
    }

    #[test]
    fn a_stored_answer_comes_back_as_it_was() {
        let body = r#"{"orderId":1417,"status":"CREATED","productId":42,"quantity":1}"#;
        let state = read(&["f", "SUCCESS", "t1", "9", "201", "/orders/1417", body]);
        let answer =
            Answer::stored(StatusCode::CREATED, "/orders/1417".to_owned(), body.to_owned());
        assert_eq!(state.expect("an answer"), State::Success(answer));
    }

    #[test]
    fn a_record_that_no_script_of_ours_writes_is_an_error() {
        for words in [
            &["f", "SUCCESS"][..],
            &["", "IN_PROGRESS", "t1", "1", "", "", ""],
            &["f", "IN_PROGRESS", "", "1", "", "", ""],
            &["f", "IN_PROGRESS", "t1", "soon", "", "", ""],
            &["f", "SUCCESS", "t1", "1", "abc", "/orders/1", "{}"],
            &["f", "SUCCESS", "t1", "1", "201", "/orders/1", ""],
            &["f", "DONE", "t1", "1", "201", "/orders/1", "{}"],
        ] {
            assert!(read(words).is_err(), "{words:?}");
        }
    }
}
