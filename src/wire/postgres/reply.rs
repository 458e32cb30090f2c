//! What PostgreSQL answered, read from the beginning of a frame.

use crate::wire::Part;

use super::fields::Fields;
use super::frame::{Frame, Lead};
use super::request::Types;

/// Where a connection stands, by ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// Outside of a transaction.
    Idle,
    Open,
    /// Open and failed: everything but its end is refused.
    Failed,
}

/// An error or a notice, by its fields. What isn't there, or was cut off, is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trouble<'a> {
    /// `ERROR`, `FATAL`, `NOTICE` and so on, not translated.
    pub severity: &'a [u8],
    /// SQLSTATE, five characters.
    pub code: &'a [u8],
    pub message: &'a [u8],
}

/// A message of the server.
#[derive(Clone, Copy, Debug)]
pub enum Reply<'a> {
    /// The byte that answers a request for encryption.
    Encryption(u8),
    /// 0 is done, 10 offers SCRAM, 11 and 12 are its steps.
    Authentication(u32),
    /// The newest minor version that the server knows.
    NegotiateVersion(u32),
    /// The process that serves this connection. The secret for cancelling is left alone.
    BackendKey {
        pid: u32,
    },
    ParameterStatus {
        name: &'a [u8],
        value: Part<'a>,
    },
    ParseComplete,
    BindComplete,
    CloseComplete,
    ParameterDescription(Types<'a>),
    RowDescription,
    NoData,
    DataRow,
    PortalSuspended,
    /// A statement is done; its tag says what it was, such as `INSERT 0 1`.
    CommandComplete(Part<'a>),
    EmptyQuery,
    ReadyForQuery(Transaction),
    Error(Trouble<'a>),
    Notice(Trouble<'a>),
    Notification {
        pid: u32,
        channel: &'a [u8],
    },
    FunctionResult,
    CopyIn,
    CopyOut,
    CopyBoth,
    CopyData,
    CopyDone,
    /// A tag that isn't known, or a body that can't be read.
    Other,
}

impl<'a> Reply<'a> {
    pub fn of(frame: &Frame<'a>) -> Self {
        read(frame).unwrap_or(Self::Other)
    }
}

fn read<'a>(frame: &Frame<'a>) -> Option<Reply<'a>> {
    let tag = match frame.lead {
        Lead::Tag(tag) => tag,
        Lead::Answer(answer) => return Some(Reply::Encryption(answer)),
        Lead::Start(_) => return None,
    };
    let mut fields = Fields(frame.body());
    Some(match tag {
        b'R' => Reply::Authentication(fields.word()?),
        b'v' => Reply::NegotiateVersion(fields.word()? & 0xffff),
        b'K' => Reply::BackendKey { pid: fields.word()? },
        b'S' => Reply::ParameterStatus { name: fields.name()?, value: fields.string()? },
        b'1' => Reply::ParseComplete,
        b'2' => Reply::BindComplete,
        b'3' => Reply::CloseComplete,
        b't' => Reply::ParameterDescription(Types::of(fields)),
        b'T' => Reply::RowDescription,
        b'n' => Reply::NoData,
        b'D' => Reply::DataRow,
        b's' => Reply::PortalSuspended,
        b'C' => Reply::CommandComplete(fields.string()?),
        b'I' => Reply::EmptyQuery,
        b'Z' => Reply::ReadyForQuery(match fields.byte()? {
            b'I' => Transaction::Idle,
            b'T' => Transaction::Open,
            b'E' => Transaction::Failed,
            _ => return None,
        }),
        b'E' => Reply::Error(trouble(fields)),
        b'N' => Reply::Notice(trouble(fields)),
        b'A' => Reply::Notification { pid: fields.word()?, channel: fields.name()? },
        b'V' => Reply::FunctionResult,
        b'G' => Reply::CopyIn,
        b'H' => Reply::CopyOut,
        b'W' => Reply::CopyBoth,
        b'd' => Reply::CopyData,
        b'c' => Reply::CopyDone,
        _ => return None,
    })
}

fn trouble<'a>(mut fields: Fields<'a>) -> Trouble<'a> {
    let mut trouble = Trouble::default();
    while let Some(kind) = fields.byte().filter(|kind| *kind != 0) {
        let Some(value) = fields.string() else { break };
        match kind {
            // `S` may be translated, `V` never is, and servers before 9.6 have only `S`.
            b'S' if trouble.severity.is_empty() => trouble.severity = value.bytes,
            b'V' => trouble.severity = value.bytes,
            b'C' => trouble.code = value.bytes,
            b'M' => trouble.message = value.bytes,
            _ => {}
        }
    }
    trouble
}
