//! PostgreSQL's messages in words, once as we read them and once as pgwire does.
//!
//! pgwire 0.42 decodes owned messages from a buffer that begins with one, and refuses tags that it
//! doesn't know, FunctionCall among them.

use bytes::{Buf, BytesMut};
use dupeproof::wire::postgres::{Frame, Reply, Request, Target, Transaction, Trouble};
use pgwire::messages::response::TransactionStatus;
use pgwire::messages::{
    DecodeContext, PgWireBackendMessage, PgWireFrontendMessage, ProtocolVersion,
};

fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

pub fn request(frame: &Frame<'_>) -> String {
    match Request::of(frame) {
        Request::Query(sql) => format!("query {}", utf8(sql.bytes)),
        Request::Parse { statement, sql, types } => {
            let types: Vec<_> = types.collect();
            format!("parse {} {} {types:?}", utf8(statement), utf8(sql.bytes))
        }
        Request::Bind(bind) => {
            let values: Vec<_> =
                bind.parameters().map(|it| it.value.map(|part| part.bytes)).collect();
            let count = bind.count();
            format!("bind {} {} {count} {values:?}", utf8(bind.portal), utf8(bind.statement))
        }
        Request::Describe(Target::Statement(name)) => format!("describe S {}", utf8(name)),
        Request::Describe(Target::Portal(name)) => format!("describe P {}", utf8(name)),
        Request::Close(Target::Statement(name)) => format!("close S {}", utf8(name)),
        Request::Close(Target::Portal(name)) => format!("close P {}", utf8(name)),
        Request::Execute { portal, most_rows } => format!("execute {} {most_rows}", utf8(portal)),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn their_request(message: PgWireFrontendMessage) -> String {
    use PgWireFrontendMessage as M;
    let name = |name: Option<String>| name.unwrap_or_default();
    match message {
        M::Query(query) => format!("query {}", query.query),
        M::Parse(parse) => {
            format!("parse {} {} {:?}", name(parse.name), parse.query, parse.type_oids)
        }
        M::Bind(bind) => {
            let values: Vec<_> = bind.parameters.iter().map(Option::as_deref).collect();
            let count = values.len();
            let (portal, statement) = (name(bind.portal_name), name(bind.statement_name));
            format!("bind {portal} {statement} {count} {values:?}")
        }
        M::Describe(it) => format!("describe {} {}", char::from(it.target_type), name(it.name)),
        M::Close(it) => format!("close {} {}", char::from(it.target_type), name(it.name)),
        M::Execute(it) => format!("execute {} {}", name(it.name), it.max_rows),
        M::PasswordMessageFamily(_) => "password".to_owned(),
        M::Sync(_) => "sync".to_owned(),
        M::Flush(_) => "flush".to_owned(),
        M::CopyData(_) => "copydata".to_owned(),
        M::CopyDone(_) => "copydone".to_owned(),
        M::CopyFail(_) => "copyfail".to_owned(),
        M::Terminate(_) => "terminate".to_owned(),
        other => panic!("{other:?}"),
    }
}

pub fn reply(frame: &Frame<'_>) -> String {
    let trouble = |it: Trouble<'_>| format!("{} {}", utf8(it.code), utf8(it.message));
    match Reply::of(frame) {
        Reply::Authentication(_) => "authentication".to_owned(),
        Reply::BackendKey { pid } => format!("key {pid}"),
        Reply::ParameterStatus { name, value } => {
            format!("set {} {}", utf8(name), utf8(value.bytes))
        }
        Reply::ParameterDescription(types) => format!("types {:?}", types.collect::<Vec<_>>()),
        Reply::CommandComplete(tag) => format!("complete {}", utf8(tag.bytes)),
        Reply::ReadyForQuery(transaction) => format!("ready {transaction:?}"),
        Reply::Error(it) => format!("error {}", trouble(it)),
        Reply::Notice(it) => format!("notice {}", trouble(it)),
        Reply::Notification { pid, channel } => format!("notification {pid} {}", utf8(channel)),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn their_reply(message: PgWireBackendMessage) -> String {
    use PgWireBackendMessage as M;
    let field = |fields: &[(u8, String)], kind| {
        fields.iter().find(|field| field.0 == kind).map(|field| field.1.clone()).unwrap_or_default()
    };
    let trouble =
        |fields: &[(u8, String)]| format!("{} {}", field(fields, b'C'), field(fields, b'M'));
    match message {
        M::Authentication(_) => "authentication".to_owned(),
        M::BackendKeyData(it) => format!("key {}", it.pid),
        M::ParameterStatus(it) => format!("set {} {}", it.name, it.value),
        M::ParameterDescription(it) => format!("types {:?}", it.types),
        M::CommandComplete(it) => format!("complete {}", it.tag),
        M::ReadyForQuery(it) => format!(
            "ready {:?}",
            match it.status {
                TransactionStatus::Idle => Transaction::Idle,
                TransactionStatus::Transaction => Transaction::Open,
                TransactionStatus::Error => Transaction::Failed,
            }
        ),
        M::ErrorResponse(it) => format!("error {}", trouble(&it.fields)),
        M::NoticeResponse(it) => format!("notice {}", trouble(&it.fields)),
        M::NotificationResponse(it) => format!("notification {} {}", it.pid, it.channel),
        M::ParseComplete(_) => "parsecomplete".to_owned(),
        M::BindComplete(_) => "bindcomplete".to_owned(),
        M::CloseComplete(_) => "closecomplete".to_owned(),
        M::PortalSuspended(_) => "portalsuspended".to_owned(),
        M::EmptyQueryResponse(_) => "emptyquery".to_owned(),
        M::RowDescription(_) => "rowdescription".to_owned(),
        M::DataRow(_) => "datarow".to_owned(),
        M::NoData(_) => "nodata".to_owned(),
        M::CopyData(_) => "copydata".to_owned(),
        M::CopyDone(_) => "copydone".to_owned(),
        M::CopyInResponse(_) => "copyin".to_owned(),
        M::CopyOutResponse(_) => "copyout".to_owned(),
        M::CopyBothResponse(_) => "copyboth".to_owned(),
        other => panic!("{other:?}"),
    }
}

fn context() -> DecodeContext {
    let mut context = DecodeContext::new(ProtocolVersion::PROTOCOL3_0);
    context.awaiting_frontend_ssl = false;
    context.awaiting_frontend_startup = false;
    context
}

/// What pgwire cuts of messages with tags, and where each ends, counted from `at`.
fn decode<M>(
    bytes: &[u8],
    at: usize,
    next: impl Fn(&mut BytesMut) -> Option<M>,
    words: impl Fn(M) -> String,
) -> Vec<(u64, String)> {
    let mut buffer = BytesMut::from(&bytes[at..]);
    let mut found = Vec::new();
    while let Some(message) = next(&mut buffer) {
        found.push(((bytes.len() - buffer.remaining()) as u64, words(message)));
    }
    assert!(buffer.is_empty());
    found
}

/// What the client sent behind its start-up message, which ends at `at`.
pub fn their_requests(bytes: &[u8], at: usize) -> Vec<(u64, String)> {
    let next = |buffer: &mut BytesMut| PgWireFrontendMessage::decode(buffer, &context()).unwrap();
    decode(bytes, at, next, their_request)
}

pub fn their_replies(bytes: &[u8]) -> Vec<(u64, String)> {
    their_replies_from(bytes, 0)
}

/// What the server sent behind its answers of one byte.
pub fn their_replies_from(bytes: &[u8], at: usize) -> Vec<(u64, String)> {
    let next = |buffer: &mut BytesMut| PgWireBackendMessage::decode(buffer, &context()).unwrap();
    decode(bytes, at, next, their_reply)
}
