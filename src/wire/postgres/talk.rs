//! What the directions of a PostgreSQL connection tell each other: that an answer of one byte is
//! owed, and that encryption was agreed on, which ends a link that can't be read any more (S15 of the
//! catalogue: refuse with the cure). Requests for encryption as drivers send them don't come this far:
//! see `greeting.rs`.

use std::ops::ControlFlow;

use crate::history::Wire;
use crate::wire::Mark;
use crate::wire::counts::Side;
use crate::wire::event::{ProxyEvent, no_tls};
use crate::wire::notes::Notes;
use crate::wire::talk::{Refusal, Talk};

use super::request::Parameters;
use super::track::Tracker;
use super::{Backend, Frame, Frontend, Reply, Request};

#[derive(Debug, Default)]
pub(in crate::wire) struct PostgresTalk {
    tracker: Tracker,
    /// The server has asked the client to prove who it is, and heard nothing yet.
    is_unproven: bool,
}

impl Talk for PostgresTalk {
    type Requests = Frontend;
    type Replies = Backend;

    fn asked(&mut self, mark: Mark<Frame<'_>>, replies: &mut Backend, notes: &mut Notes) {
        match mark {
            Mark::Begun { at } => {
                self.tracker.begins(notes.now, at);
                if notes.is_watchful() {
                    notes.orders.requests.begins(at);
                }
            }
            Mark::Known(frame) => {
                let request = Request::of(&frame);
                self.tracker.known(&request, &frame.place(), notes);
                match request {
                    Request::SslRequest | Request::GssEncRequest => replies.owe_answer(),
                    Request::Password => self.is_unproven = false,
                    Request::Startup { parameters, .. } if replicates(parameters) => notes.stream(),
                    _ => {}
                }
                notes.frame(Side::Client, kind_of_request(&request));
            }
            Mark::Ended { at, .. } => self.tracker.ended(at, notes),
            Mark::Opaque { at, why } => {
                notes.orders.requests.undecided = None;
                notes.opaque(Side::Client, at, why);
            }
        }
    }

    fn answered(
        &mut self,
        mark: Mark<Frame<'_>>,
        _: &mut Frontend,
        notes: &mut Notes,
    ) -> ControlFlow<Refusal> {
        match mark {
            Mark::Known(frame) => {
                let reply = Reply::of(&frame);
                notes.frame(Side::Server, kind_of_reply(&reply));
                self.is_unproven |= matches!(reply, Reply::Authentication(SASL));
                if matches!(reply, Reply::Encryption(answer) if answer != b'N') {
                    notes.insists();
                    return ControlFlow::Break(refusal());
                }
            }
            Mark::Ended { frame, .. } => {
                self.tracker.answered(&Reply::of(&frame), frame.place(), notes);
            }
            Mark::Opaque { at, why } => {
                notes.orders.replies.undecided = None;
                notes.opaque(Side::Server, at, why);
            }
            Mark::Begun { at } => self.tracker.reply_begins(at, notes),
        }
        ControlFlow::Continue(())
    }

    fn over(&mut self, notes: &Notes) {
        if self.is_unproven {
            notes.tell(ProxyEvent::Unproven { link: notes.link() });
        }
    }
}

/// AuthenticationSASL: the client is to choose between SCRAM and SCRAM with channel binding.
const SASL: u32 = 10;

/// An ErrorResponse: FATAL, 08P01 (protocol violation).
pub(in crate::wire) fn refusal() -> Refusal {
    let why = no_tls(Wire::Postgres);
    let fields = format!("SFATAL\0VFATAL\0C08P01\0M{why}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap_or_default();
    [b"E", length.to_be_bytes().as_slice(), fields.as_bytes()].concat()
}

/// Whether a start-up opens a connection of replication. PostgreSQL takes `database` and every
/// spelling of a true boolean.
fn replicates(mut parameters: Parameters<'_>) -> bool {
    let noes: [&[u8]; 4] = [b"0", b"off", b"no", b"false"];
    parameters.any(|(name, value)| {
        name == b"replication" && !noes.iter().any(|no| value.bytes.eq_ignore_ascii_case(no))
    })
}

/// Its name in the specification.
const fn kind_of_request(request: &Request<'_>) -> &'static str {
    match request {
        Request::SslRequest => "SSLRequest",
        Request::GssEncRequest => "GSSENCRequest",
        Request::Cancel { .. } => "CancelRequest",
        Request::Startup { .. } => "StartupMessage",
        Request::Password => "PasswordMessage",
        Request::Query(_) => "Query",
        Request::Parse { .. } => "Parse",
        Request::Bind(_) => "Bind",
        Request::Describe(_) => "Describe",
        Request::Execute { .. } => "Execute",
        Request::Close(_) => "Close",
        Request::Sync => "Sync",
        Request::Flush => "Flush",
        Request::FunctionCall { .. } => "FunctionCall",
        Request::CopyData => "CopyData",
        Request::CopyDone => "CopyDone",
        Request::CopyFail => "CopyFail",
        Request::Terminate => "Terminate",
        Request::Other => "other",
    }
}

const fn kind_of_reply(reply: &Reply<'_>) -> &'static str {
    match reply {
        Reply::Encryption(_) => "answer",
        Reply::Authentication(_) => "Authentication",
        Reply::NegotiateVersion(_) => "NegotiateProtocolVersion",
        Reply::BackendKey { .. } => "BackendKeyData",
        Reply::ParameterStatus { .. } => "ParameterStatus",
        Reply::ParseComplete => "ParseComplete",
        Reply::BindComplete => "BindComplete",
        Reply::CloseComplete => "CloseComplete",
        Reply::ParameterDescription(_) => "ParameterDescription",
        Reply::RowDescription => "RowDescription",
        Reply::NoData => "NoData",
        Reply::DataRow => "DataRow",
        Reply::PortalSuspended => "PortalSuspended",
        Reply::CommandComplete(_) => "CommandComplete",
        Reply::EmptyQuery => "EmptyQueryResponse",
        Reply::ReadyForQuery(_) => "ReadyForQuery",
        Reply::Error(_) => "ErrorResponse",
        Reply::Notice(_) => "NoticeResponse",
        Reply::Notification { .. } => "NotificationResponse",
        Reply::FunctionResult => "FunctionCallResponse",
        Reply::CopyIn => "CopyInResponse",
        Reply::CopyOut => "CopyOutResponse",
        Reply::CopyBoth => "CopyBothResponse",
        Reply::CopyData => "CopyData",
        Reply::CopyDone => "CopyDone",
        Reply::Other => "other",
    }
}
