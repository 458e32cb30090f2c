//! The outcome of one attempt, row by row.

use dupeproof::history::{Outcome, Sent, Waiting};
use dupeproof::load::{Reading, Reply, ReplyBudget, ReplyReader, Seen, classify};
use dupeproof::profile::{Answer, BodyCode, Contract, OtherParameters};

use crate::rig::request;

fn reply(status: u16, headers: &str, body: &str) -> Reply {
    let text =
        format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len());
    ReplyReader::new(10_000, &ReplyBudget::new(100_000)).push(text.as_bytes()).unwrap().unwrap()
}

fn read(contract: &Contract, status: u16, headers: &str, body: &str) -> Reading {
    classify(contract, &request(), Seen::Reply(&reply(status, headers, body)))
}

fn answer(statuses: &[u16], code: Option<&str>) -> Answer {
    let code =
        code.map(|value| BodyCode { pointer: "/code".to_owned(), values: vec![value.to_owned()] });
    Answer { statuses: statuses.to_vec(), code }
}

#[test]
fn a_request_of_which_nothing_left_is_not_sent_and_any_other_failure_unknown() {
    let failed =
        |sent| classify(&Contract::order_strict(), &request(), Seen::Failure { sent, what: "cut" });
    assert_eq!(failed(Sent::Nothing).outcome, Outcome::NotSent);
    assert_eq!(failed(Sent::Part).outcome, Outcome::Unknown);
    assert_eq!(failed(Sent::Whole).outcome, Outcome::Unknown);
    assert_eq!(failed(Sent::Whole).failure.as_deref(), Some("cut"));
}

#[test]
fn a_readable_success_with_an_order_id_is_acknowledged() {
    let contract = Contract::order_strict();
    for (status, body, order) in [
        (201, r#"{"orderId":"o-1"}"#, "o-1"),
        (200, r#"{"orderId":17}"#, "17"),
        (203, r#"{"orderId":9007199254740993}"#, "9007199254740993"),
    ] {
        let reading = read(&contract, status, "", body);
        assert_eq!(
            (reading.outcome, reading.order.as_deref()),
            (Outcome::Acknowledged, Some(order))
        );
        assert_eq!((reading.failure, reading.refusal, reading.waiting), (None, None, None));
    }
}

#[test]
fn a_success_that_cannot_be_read_is_unknown_and_says_why() {
    for body in [
        "",
        "created",
        "{}",
        r#"{"orderId":null}"#,
        r#"{"orderId":""}"#,
        r#"{"orderId":{}}"#,
        r#"{"orderId":"1""#,
    ] {
        let reading = read(&Contract::order_strict(), 201, "", body);
        assert_eq!((reading.outcome, reading.order), (Outcome::Unknown, None), "{body}");
        assert!(reading.failure.unwrap().contains("order id at /orderId"), "{body}");
    }
}

#[test]
fn an_answer_in_progress_is_pending_with_its_hint_even_when_it_names_an_order() {
    let contract = Contract::order_strict();
    let hint = |headers| {
        let reading = read(&contract, 202, headers, r#"{"orderId":"o-1"}"#);
        assert_eq!((reading.outcome, reading.order), (Outcome::Pending, None));
        reading.waiting.unwrap()
    };
    assert_eq!(hint(""), Waiting { retry_after: false, location: false });
    assert_eq!(hint("Retry-After: 1\r\n"), Waiting { retry_after: true, location: false });
    assert_eq!(hint("LOCATION: /o/1\r\n"), Waiting { retry_after: false, location: true });
}

#[test]
fn rejections_of_the_contract_are_refused_by_name() {
    let contract = Contract::order_strict();
    for (status, body, why) in [
        (409, "", "mismatch"),
        (400, r#"{"code":"MISSING_KEY"}"#, "missing-key"),
        (400, r#"{"code":"OTHER"}"#, "malformed-key"),
        (404, "", "business"),
        (422, "", "business"),
        (401, "", "shed"),
        (403, "", "shed"),
        (429, "", "shed"),
    ] {
        let reading = read(&contract, status, "", body);
        assert_eq!((reading.outcome, reading.refusal), (Outcome::Refused, Some(why)), "{status}");
    }
}

#[test]
fn whatever_the_contract_does_not_cover_is_unknown() {
    let contract = Contract::order_strict();
    for status in [302, 405, 418, 500, 502, 503, 504] {
        let reading = read(&contract, status, "", r#"{"code":"OTHER","orderId":"o-1"}"#);
        assert_eq!((reading.outcome, reading.failure), (Outcome::Unknown, None), "{status}");
    }
}

#[test]
fn the_answer_for_an_outcome_to_be_reconciled_is_parked() {
    let contract =
        Contract { parked: Some(answer(&[500], Some("PARKED"))), ..Contract::order_strict() };
    assert_eq!(read(&contract, 500, "", r#"{"code":"PARKED"}"#).outcome, Outcome::Parked);
    assert_eq!(read(&contract, 500, "", r#"{"code":"OOPS"}"#).outcome, Outcome::Unknown);
}

#[test]
fn where_two_answers_share_a_status_the_code_decides() {
    let outcome = |contract: &Contract, code: &str| {
        read(contract, 409, "", &format!(r#"{{"code":"{code}"}}"#)).outcome
    };
    let strict = Contract::order_strict();
    let busy = Contract { in_progress: answer(&[409], Some("BUSY")), ..strict.clone() };
    assert_eq!(outcome(&busy, "BUSY"), Outcome::Pending);
    assert_eq!(outcome(&busy, "MISMATCH"), Outcome::Refused);
    let mismatch = Contract {
        in_progress: answer(&[409], None),
        other_parameters: OtherParameters::Rejected {
            answer: answer(&[409], Some("MISMATCH")),
            while_in_progress: true,
        },
        ..strict.clone()
    };
    assert_eq!(outcome(&mismatch, "BUSY"), Outcome::Pending);
    assert_eq!(outcome(&mismatch, "MISMATCH"), Outcome::Refused);
    let numbered = Contract { in_progress: answer(&[422], Some("704")), ..strict };
    assert_eq!(read(&numbered, 422, "", r#"{"code":704}"#).outcome, Outcome::Pending);
}

#[test]
fn the_replay_marker_is_read_where_the_contract_has_one() {
    let marked = |contract: &Contract, headers| {
        read(contract, 201, headers, r#"{"orderId":"1"}"#).replay_marker
    };
    let strict = Contract::order_strict();
    assert_eq!(marked(&strict, "Idempotent-Replayed: true\r\n"), None);
    let stripe = Contract { replay_marker: Some("idempotent-replayed".to_owned()), ..strict };
    assert_eq!(marked(&stripe, "Idempotent-Replayed: true\r\n"), Some(true));
    assert_eq!(marked(&stripe, "Idempotent-Replayed: false\r\n"), Some(false));
    assert_eq!(marked(&stripe, ""), Some(false));
}
