//! What the directions of an HTTP connection tell each other: the method that a reply answers, and
//! that the server has agreed to another protocol.

use std::ops::ControlFlow;

use crate::wire::counts::Side;
use crate::wire::notes::Notes;
use crate::wire::talk::{Refusal, Talk};
use crate::wire::{Mark, Scanner};

use super::track::Tracker;
use super::{Message, Replies, Reply, Request, Requests};

#[derive(Debug, Default)]
pub(in crate::wire) struct HttpTalk {
    tracker: Tracker,
}

impl Talk for HttpTalk {
    type Requests = Requests;
    type Replies = Replies;

    fn asked(&mut self, mark: Mark<Message<'_>>, replies: &mut Replies, notes: &mut Notes) {
        match mark {
            Mark::Begun { at } => {
                self.tracker.begins(notes.now);
                if notes.is_watchful() {
                    notes.orders.requests.begins(at);
                }
            }
            Mark::Known(message) => {
                self.tracker.known(&message, notes);
                if message.header("expect").is_some() {
                    // Its body comes only when the server has heard of its head.
                    notes.orders.requests.undecided = None;
                }
                let method = Request::of(&message).map_or("", |request| request.method);
                if !replies.owe(method) {
                    let why = "too many requests wait for a reply";
                    notes.opaque(Side::Server, replies.position(), why);
                }
                notes.frame(Side::Client, kind_of_method(method));
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
        mark: Mark<Message<'_>>,
        requests: &mut Requests,
        notes: &mut Notes,
    ) -> ControlFlow<Refusal> {
        match mark {
            Mark::Known(message) => {
                let status = Reply::of(&message).map_or(0, |reply| reply.status);
                notes.frame(Side::Server, kind_of_status(status));
            }
            Mark::Ended { at, frame } => {
                self.tracker.answered(&frame, at, notes);
                if !frame.is_last() {
                    return ControlFlow::Continue(());
                }
                requests.give_up();
                let why = "the server has agreed to another protocol";
                notes.opaque(Side::Server, at, why);
                notes.opaque(Side::Client, requests.position(), why);
            }
            Mark::Opaque { at, why } => {
                notes.orders.replies.undecided = None;
                notes.opaque(Side::Server, at, why);
            }
            Mark::Begun { at } => self.tracker.reply_begins(at, notes),
        }
        ControlFlow::Continue(())
    }
}

fn kind_of_method(method: &str) -> &'static str {
    const KNOWN: [&str; 9] =
        ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| *known == method).unwrap_or("other")
}

const fn kind_of_status(status: u16) -> &'static str {
    match status / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        5 => "5xx",
        _ => "other",
    }
}
