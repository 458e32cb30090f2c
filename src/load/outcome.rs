//! What a reply means under the contract: one of the six outcomes.
//!
//! Answers that name a code in the body are asked before those that go by status alone, so that
//! in-progress and mismatch can share a status. Between two answers that can't be told apart the
//! milder reading comes first: pending, then parked, then the refusals. What else is known of the key
//! may rule it out (`meanings`).

use std::cell::OnceCell;

use serde_json::Value;

use crate::history::{Outcome, Sent, Waiting};
use crate::profile::{Answer, Contract, Request};

use super::http::Reply;
use super::pointer::scalar_at;

/// What an exchange came to, before it is judged.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// A complete reply.
    Reply(&'a Reply),
    /// None, in words, and how much of the request had left.
    Failure { sent: Sent, what: &'a str },
}

/// An exchange as the contract reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    pub outcome: Outcome,
    /// The order id of a readable success.
    pub order: Option<String>,
    /// Which rejection it was: `mismatch`, `missing-key`, `business` or `shed`.
    pub refusal: Option<&'static str>,
    /// The hint of a pending answer.
    pub waiting: Option<Waiting>,
    /// Whether the reply carried the contract's replay marker; `None` where there is no marker.
    pub replay_marker: Option<bool>,
    /// What was wrong, when there is no complete, readable reply.
    pub failure: Option<String>,
}

/// Reads an exchange.
pub fn classify(contract: &Contract, request: &Request, seen: Seen<'_>) -> Reading {
    let nothing = |outcome| Reading {
        outcome,
        order: None,
        refusal: None,
        waiting: None,
        replay_marker: None,
        failure: None,
    };
    match seen {
        Seen::Failure { sent: Sent::Nothing, what } => {
            Reading { failure: Some(what.to_owned()), ..nothing(Outcome::NotSent) }
        }
        Seen::Failure { what, .. } => {
            Reading { failure: Some(what.to_owned()), ..nothing(Outcome::Unknown) }
        }
        Seen::Reply(reply) => {
            let reading = by_answer(contract, request, reply, nothing);
            Reading { replay_marker: marker(contract, reply), ..reading }
        }
    }
}

/// A pending answer that can only be the refusal of a changed request, read as that.
pub(super) fn as_mismatch(reading: Reading) -> Reading {
    Reading { outcome: Outcome::Refused, refusal: Some("mismatch"), waiting: None, ..reading }
}

/// Whether a reply may be the refusal of a changed request, whatever else it may be.
pub(super) fn may_be_mismatch(contract: &Contract, reply: &Reply) -> bool {
    contract.mismatch().is_some_and(|answer| is(answer, reply.status, &Said::of(reply)))
}

/// The token in a success of a request that is sent for one.
pub(super) fn token(reply: &Reply, pointer: &str) -> Option<String> {
    let is_success = (200..300).contains(&reply.status);
    scalar_at(&reply.body, pointer).ok()?.filter(|token| is_success && !token.is_empty())
}

/// What a reply says in JSON. It is read as a whole only where the contract looks for a code in it.
struct Said<'a> {
    body: &'a [u8],
    value: OnceCell<Option<Value>>,
}

impl<'a> Said<'a> {
    fn of(reply: &'a Reply) -> Self {
        Self { body: &reply.body, value: OnceCell::new() }
    }

    fn at(&self, pointer: &str) -> Option<String> {
        let value = self.value.get_or_init(|| serde_json::from_slice(self.body).ok());
        value.as_ref()?.pointer(pointer).and_then(scalar)
    }
}

fn by_answer(
    contract: &Contract,
    request: &Request,
    reply: &Reply,
    nothing: impl Fn(Outcome) -> Reading,
) -> Reading {
    let pending = || Reading { waiting: Some(waiting(reply)), ..nothing(Outcome::Pending) };
    let refused = |why| Reading { refusal: Some(why), ..nothing(Outcome::Refused) };
    match matching(contract, reply.status, &Said::of(reply)) {
        Some(Kind::InProgress) => return pending(),
        Some(Kind::Parked) => return nothing(Outcome::Parked),
        Some(Kind::Refusal(why)) => return refused(why),
        None => {}
    }
    if !(200..300).contains(&reply.status) {
        return nothing(Outcome::Unknown);
    }
    let what = match scalar_at(&reply.body, &request.order_id) {
        Ok(Some(order)) if !order.is_empty() => {
            return Reading { order: Some(order), ..nothing(Outcome::Acknowledged) };
        }
        Ok(_) => "no order id",
        Err(_) => "no JSON body with an order id",
    };
    let failure = format!("a {} with {what} at {}", reply.status, request.order_id);
    Reading { failure: Some(failure), ..nothing(Outcome::Unknown) }
}

/// The kinds of answer that aren't a success.
#[derive(Clone, Copy)]
enum Kind {
    InProgress,
    Parked,
    Refusal(&'static str),
}

fn matching(contract: &Contract, status: u16, said: &Said<'_>) -> Option<Kind> {
    let answers = [
        (Some(&contract.in_progress), Kind::InProgress),
        (contract.parked.as_ref(), Kind::Parked),
        (contract.mismatch(), Kind::Refusal("mismatch")),
        (contract.rejects_missing_key(), Kind::Refusal("missing-key")),
        (contract.malformed_key.as_ref(), Kind::Refusal("malformed-key")),
        (Some(&contract.business_rejection), Kind::Refusal("business")),
        (Some(&contract.shed), Kind::Refusal("shed")),
    ];
    let fits = |by_code: bool| {
        answers.iter().find_map(|&(answer, kind)| {
            answer
                .filter(|answer| answer.code.is_some() == by_code && is(answer, status, said))
                .map(|_| kind)
        })
    };
    fits(true).or_else(|| fits(false))
}

fn is(answer: &Answer, status: u16, said: &Said<'_>) -> bool {
    answer.statuses.contains(&status)
        && answer.code.as_ref().is_none_or(|code| {
            said.at(&code.pointer).is_some_and(|said| code.values.contains(&said))
        })
}

/// A string or a number as text.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn waiting(reply: &Reply) -> Waiting {
    let has = |name| reply.header(name).is_some_and(|value| !value.is_empty());
    Waiting { retry_after: has("retry-after"), location: has("location") }
}

/// A marker that says `false` marks a first answer.
fn marker(contract: &Contract, reply: &Reply) -> Option<bool> {
    let name = contract.replay_marker.as_deref()?;
    Some(reply.header(name).is_some_and(|value| !value.eq_ignore_ascii_case("false")))
}
