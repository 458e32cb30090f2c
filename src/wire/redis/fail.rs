//! An error in place of a command, so that server and client still agree.
//!
//! The command's place is taken by one that does nothing, and the reply to that by the error. So the
//! error comes when its turn has come, behind every reply that is still owed, and the server has shown
//! that it did not do the step. Within MULTI only EXEC can fail like this: a DISCARD takes its place.

use std::ops::Range;
use std::rc::Rc;

use crate::history::StepEnd;
use crate::profile::Failure;
use crate::wire::codec::Edit;
use crate::wire::exchanges::ExchangeId;
use crate::wire::notes::Notes;
use crate::wire::rule::WireAct;
use crate::wire::rules::Decided;

const NOTHING: &[u8] = b"*1\r\n$4\r\nPING\r\n";
const DISCARD: &[u8] = b"*1\r\n$7\r\nDISCARD\r\n";

/// All of the request lies there, and none of it has left.
pub(super) fn request(decided: Decided, id: ExchangeId, at: Range<u64>, notes: &mut Notes) {
    let WireAct::Fail(failure @ Failure::Redis { .. }) = decided.rule.rule.act.clone() else {
        return;
    };
    let Some(exchange) = notes.exchanges.get(id) else { return };
    let is_exec = &*exchange.step.verb == "EXEC";
    let is_queued = exchange.step.transaction.is_some() && !is_exec;
    if is_queued || !notes.orders.requests.is_in_time(at.start) {
        return;
    }
    let instead = if is_exec { DISCARD } else { NOTHING };
    if notes.begin_to_fail(decided, id, failure, false) {
        notes.orders.requests.edits.push(Edit::replace(at, instead.to_vec()));
    }
}

/// The reply to a step ends there.
pub(super) fn reply(id: ExchangeId, end: u64, notes: &mut Notes) {
    let Some(exchange) = notes.exchanges.get(id) else { return };
    let (Some(failing), Some(begin)) = (exchange.failing.take(), exchange.reply_begin) else {
        return;
    };
    let Failure::Redis { error } = &failing.failure else { return };
    let code = error.split(' ').next().unwrap_or_default();
    exchange.step.end = StepEnd::Failed;
    exchange.step.answer = Some(Rc::from(code));
    notes.orders.replies.edits.push(Edit::replace(begin..end, line(error)));
    notes.has_failed(&failing, error);
}

/// A simple error. It is one line, whatever the profile says.
fn line(error: &str) -> Vec<u8> {
    let error: String = error.chars().filter(|letter| !letter.is_control()).collect();
    format!("-{error}\r\n").into_bytes()
}
