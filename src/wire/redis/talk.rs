//! What the directions of a Redis connection tell each other: that a replica asks for its master's
//! data, which isn't RESP (a bulk string without its line end, then a stream of commands).
//!
//! A subscription and MONITOR stay RESP. They are noted, since in them replies answer no request.

use std::ops::ControlFlow;

use crate::wire::Mark;
use crate::wire::counts::Side;
use crate::wire::notes::Notes;
use crate::wire::talk::{Refusal, Talk};

use super::track::Tracker;
use super::{Aggregate, Answer, Replies, Reply, Request, Requests};

#[derive(Debug, Default)]
pub(in crate::wire) struct RedisTalk {
    tracker: Tracker,
}

impl Talk for RedisTalk {
    type Requests = Requests;
    type Replies = Replies;

    fn asked(&mut self, mark: Mark<Request<'_>>, replies: &mut Replies, notes: &mut Notes) {
        match mark {
            Mark::Begun { at } => {
                self.tracker.begins(notes.now);
                if notes.is_watchful() {
                    notes.orders.requests.begins(at);
                }
            }
            Mark::Known(request) => {
                self.tracker.known(&request, notes);
                if !self.tracker.waits_for_the_end() {
                    notes.orders.requests.undecided = None;
                }
                let kind = kind_of_request(&request);
                notes.frame(Side::Client, kind);
                if kind == "replication" {
                    replies.give_up();
                    notes.opaque(Side::Server, replies_at(replies), "a replica follows it");
                }
            }
            Mark::Ended { at, frame } => {
                self.tracker.ended(&frame, at, notes);
                notes.orders.requests.undecided = None;
            }
            Mark::Opaque { at, why } => {
                notes.orders.requests.undecided = None;
                notes.opaque(Side::Client, at, why);
            }
        }
    }

    fn answered(
        &mut self,
        mark: Mark<Reply<'_>>,
        _: &mut Requests,
        notes: &mut Notes,
    ) -> ControlFlow<Refusal> {
        match mark {
            Mark::Known(reply) => notes.frame(Side::Server, kind_of_reply(&reply)),
            Mark::Ended { at, frame } => self.tracker.answered(&frame, at, notes),
            Mark::Opaque { at, why } => {
                notes.orders.replies.undecided = None;
                notes.opaque(Side::Server, at, why);
            }
            Mark::Begun { at } => self.tracker.reply_begins(at, notes),
        }
        ControlFlow::Continue(())
    }
}

fn replies_at(replies: &Replies) -> u64 {
    crate::wire::Scanner::position(replies)
}

/// By what a command means for the connection.
fn kind_of_request(request: &Request<'_>) -> &'static str {
    match request.verb() {
        Some("EVAL" | "EVALSHA" | "EVAL_RO" | "EVALSHA_RO" | "FCALL" | "FCALL_RO") => "script",
        Some("MULTI" | "EXEC" | "DISCARD" | "WATCH" | "UNWATCH") => "transaction",
        Some("SUBSCRIBE" | "PSUBSCRIBE" | "SSUBSCRIBE") => "subscription",
        Some("MONITOR") => "monitor",
        Some("PSYNC" | "SYNC") => "replication",
        Some("HELLO" | "AUTH" | "CLIENT" | "SELECT" | "PING" | "QUIT" | "RESET") => "connection",
        Some(_) => "command",
        None => "other",
    }
}

fn kind_of_reply(reply: &Reply<'_>) -> &'static str {
    match reply.answer() {
        Answer::Simple(_) => "simple",
        Answer::Error { .. } => "error",
        Answer::Integer(_) => "integer",
        Answer::Null => "null",
        Answer::Boolean(_) => "boolean",
        Answer::Double(_) => "double",
        Answer::BigNumber(_) => "big number",
        Answer::Bulk { .. } => "bulk",
        Answer::Verbatim(_) => "verbatim",
        Answer::Aggregate { kind: Aggregate::Array, .. } => "array",
        Answer::Aggregate { kind: Aggregate::Set, .. } => "set",
        Answer::Aggregate { kind: Aggregate::Map, .. } => "map",
        Answer::Push { .. } => "push",
        Answer::Unknown => "other",
    }
}
