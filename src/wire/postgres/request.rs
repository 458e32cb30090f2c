//! What a client asks PostgreSQL, read from the beginning of a frame.

use crate::wire::Part;

use super::bind::Bind;
use super::fields::Fields;
use super::frame::{Frame, Lead};
use super::frontend::{CANCEL_REQUEST, GSS_REQUEST, SSL_REQUEST};

/// What Describe and Close are about. The empty name is that of the unnamed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    Statement(&'a [u8]),
    Portal(&'a [u8]),
}

/// A message of the client. Texts are bytes in the client's encoding.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    SslRequest,
    GssEncRequest,
    /// Names the back-end whose work is to end.
    Cancel {
        pid: u32,
    },
    Startup {
        major: u32,
        minor: u32,
        parameters: Parameters<'a>,
    },
    /// Password, GSS or SCRAM; never looked into.
    Password,
    Query(Part<'a>),
    Parse {
        statement: &'a [u8],
        sql: Part<'a>,
        /// As far as they are kept; 0 where the server is to find out.
        types: Types<'a>,
    },
    Bind(Bind<'a>),
    Describe(Target<'a>),
    Execute {
        portal: &'a [u8],
        /// 0 is without a limit.
        most_rows: u32,
    },
    Close(Target<'a>),
    Sync,
    Flush,
    FunctionCall {
        function: u32,
    },
    CopyData,
    CopyDone,
    CopyFail,
    Terminate,
    /// A tag that isn't known, or a body that can't be read.
    Other,
}

impl<'a> Request<'a> {
    pub fn of(frame: &Frame<'a>) -> Self {
        read(frame).unwrap_or(Self::Other)
    }
}

fn read<'a>(frame: &Frame<'a>) -> Option<Request<'a>> {
    let mut fields = Fields(frame.body());
    Some(match frame.lead {
        Lead::Start(SSL_REQUEST) => Request::SslRequest,
        Lead::Start(GSS_REQUEST) => Request::GssEncRequest,
        Lead::Start(CANCEL_REQUEST) => Request::Cancel { pid: fields.word()? },
        Lead::Start(version) => Request::Startup {
            major: version >> 16,
            minor: version & 0xffff,
            parameters: Parameters(fields),
        },
        Lead::Tag(tag) => match tag {
            b'p' => Request::Password,
            b'Q' => Request::Query(fields.string()?),
            b'P' => {
                let (statement, sql) = (fields.name()?, fields.string()?);
                Request::Parse { statement, sql, types: Types::of(fields) }
            }
            b'B' => Request::Bind(Bind::of(fields)?),
            b'D' => Request::Describe(target(&mut fields)?),
            b'E' => Request::Execute { portal: fields.name()?, most_rows: fields.word()? },
            b'C' => Request::Close(target(&mut fields)?),
            b'S' => Request::Sync,
            b'H' => Request::Flush,
            b'F' => Request::FunctionCall { function: fields.word()? },
            b'd' => Request::CopyData,
            b'c' => Request::CopyDone,
            b'f' => Request::CopyFail,
            b'X' => Request::Terminate,
            _ => return None,
        },
        Lead::Answer(_) => return None,
    })
}

fn target<'a>(fields: &mut Fields<'a>) -> Option<Target<'a>> {
    match fields.byte()? {
        b'S' => fields.name().map(Target::Statement),
        b'P' => fields.name().map(Target::Portal),
        _ => None,
    }
}

/// Names and values of a start-up message, such as `user`.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'a>(Fields<'a>);

impl<'a> Iterator for Parameters<'a> {
    type Item = (&'a [u8], Part<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.0.name().filter(|name| !name.is_empty())?;
        Some((name, self.0.string()?))
    }
}

/// Types by their OIDs.
#[derive(Clone, Copy, Debug)]
pub struct Types<'a>(Fields<'a>);

impl<'a> Types<'a> {
    /// Behind their count.
    pub(super) fn of(mut fields: Fields<'a>) -> Self {
        let count = fields.short().map_or(0, usize::from);
        let bytes = fields.0.bytes;
        Self(Fields(Part::whole(&bytes[..bytes.len().min(count * 4)])))
    }
}

impl Iterator for Types<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.0.word()
    }
}
