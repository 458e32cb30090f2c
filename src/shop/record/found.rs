//! What a claim found in the record, read out of the fields that the script gives.
//!
//! The script only tells; whether it is the same intent, and whether the record is overdue, is
//! decided by the caller. That is no second step on the record: what was read is one moment's.

use std::time::Duration;

use axum::http::StatusCode;

use crate::shop::{answer::Answer, error::ShopError, fingerprint::Fingerprint, token::Token};

/// fingerprint, status, owner, age in ms, and the answer's status code, location and body; then
/// what is left of the processing lease in ms, and how many owners there were.
pub type Fields = Vec<Option<String>>;

#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    pub fingerprint: Fingerprint,
    pub state: State,
}

#[derive(Debug, PartialEq, Eq)]
pub enum State {
    InProgress(Ownership),
    /// Too many owners went missing: nobody knows, and nobody tries any more.
    Unknown(Token),
    Success(Answer),
}

/// Who works on the intent.
#[derive(Debug, PartialEq, Eq)]
pub struct Ownership {
    pub owner: Token,
    pub age: Duration,
    /// The owner's processing lease is over.
    pub is_overdue: bool,
    /// How many owners there were, this one included.
    pub owners: u32,
}

impl Found {
    pub fn read(fields: Fields) -> Result<Self, ShopError> {
        let unreadable = |what| ShopError::RecordUnreadable { what };
        let Ok([fingerprint, status, owner, age, code, location, body, left, owners]) =
            <[Option<String>; 9]>::try_from(fields)
        else {
            return Err(unreadable("its fields"));
        };
        let fingerprint =
            Fingerprint::read(fingerprint.ok_or_else(|| unreadable("its fingerprint"))?);
        let state = match (status.as_deref(), owner, location, body) {
            (Some("IN_PROGRESS"), Some(owner), ..) => {
                let number = |text: Option<String>| text.and_then(|text| text.parse::<i64>().ok());
                let age_ms = number(age).ok_or_else(|| unreadable("its age"))?;
                let left_ms = number(left).ok_or_else(|| unreadable("its processing lease"))?;
                let owners = number(owners).and_then(|owners| u32::try_from(owners).ok());
                State::InProgress(Ownership {
                    owner: Token::read(owner),
                    // The clock of a server that took over may be behind.
                    age: Duration::from_millis(age_ms.max(0).unsigned_abs()),
                    is_overdue: left_ms < 0,
                    owners: owners.ok_or_else(|| unreadable("its owners"))?,
                })
            }
            (Some("UNKNOWN"), Some(owner), ..) => State::Unknown(Token::read(owner)),
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

    fn in_progress(left_ms: &str) -> Ownership {
        let words = ["f", "IN_PROGRESS", "t1", "1500", "", "", "", left_ms, "2"];
        match read(&words).expect("a good record") {
            State::InProgress(ownership) => ownership,
            state => panic!("{state:?}"),
        }
    }

    #[test]
    fn a_record_in_progress_tells_its_owner_and_its_age() {
        let expected = Ownership {
            owner: Token::read("t1".to_owned()),
            age: Duration::from_millis(1500),
            is_overdue: false,
            owners: 2,
        };
        assert_eq!(in_progress("1"), expected);
    }

    #[test]
    fn an_owner_is_overdue_once_its_processing_lease_is_over() {
        assert!(!in_progress("0").is_overdue);
        assert!(in_progress("-1").is_overdue);
    }

    #[test]
    fn a_stored_answer_comes_back_as_it_was() {
        let body = r#"{"orderId":1417,"status":"CREATED","productId":42,"quantity":1}"#;
        let state = read(&["f", "SUCCESS", "t1", "9", "201", "/orders/1417", body, "1", "1"]);
        let answer =
            Answer::stored(StatusCode::CREATED, "/orders/1417".to_owned(), body.to_owned());
        assert_eq!(state.expect("an answer"), State::Success(answer));
    }

    #[test]
    fn a_record_that_no_script_of_ours_writes_is_an_error() {
        for words in [
            &["f", "SUCCESS"][..],
            &["", "IN_PROGRESS", "t1", "1", "", "", "", "1", "1"],
            &["f", "IN_PROGRESS", "", "1", "", "", "", "1", "1"],
            &["f", "IN_PROGRESS", "t1", "soon", "", "", "", "1", "1"],
            &["f", "IN_PROGRESS", "t1", "1", "", "", "", "soon", "1"],
            &["f", "IN_PROGRESS", "t1", "1", "", "", "", "1", "some"],
            &["f", "SUCCESS", "t1", "1", "abc", "/orders/1", "{}", "1", "1"],
            &["f", "SUCCESS", "t1", "1", "201", "/orders/1", "", "1", "1"],
            &["f", "DONE", "t1", "1", "201", "/orders/1", "{}", "1", "1"],
        ] {
            assert!(read(words).is_err(), "{words:?}");
        }
    }
}
