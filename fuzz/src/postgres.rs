//! What a PostgreSQL connection says, through everything that its messages can be asked.

use std::collections::BTreeSet;

use dupeproof::wire::postgres::{
    Backend, Bind, Frame, Frontend, Names, Portal, Reply, Request, Statement, Target,
};
use dupeproof::wire::{Mark, Part};

use super::link::Talk;
use super::told::Told;

/// As much as is kept of a message.
const MOST: usize = 4096;
/// bool, int8, int2, int4, text, uuid, unknown, and one that isn't.
const OIDS: [u32; 8] = [16, 20, 21, 23, 25, 2950, 0, u32::MAX];

#[derive(Default)]
pub struct Postgres {
    names: Names,
    used: BTreeSet<Vec<u8>>,
}

impl Talk for Postgres {
    type Requests = Frontend;
    type Replies = Backend;

    fn asked(&mut self, mark: &Mark<Frame<'_>>, replies: &mut Backend) -> Told {
        match mark {
            Mark::Known(frame) => {
                let request = Request::of(frame);
                if matches!(request, Request::SslRequest | Request::GssEncRequest) {
                    replies.owe_answer();
                }
                self.request(frame, &request)
            }
            Mark::Ended { frame, .. } => {
                let request = Request::of(frame);
                let told = self.request(frame, &request);
                self.names.sent(&request);
                told
            }
            Mark::Begun { .. } | Mark::Opaque { .. } => Told::default(),
        }
    }

    fn answered(&mut self, mark: &Mark<Frame<'_>>, requests: &mut Frontend) -> Told {
        match mark {
            Mark::Known(frame) => {
                let reply = Reply::of(frame);
                // The room refuses such a link; whoever lets it go on reads no more of it.
                if matches!(reply, Reply::Encryption(answer) if answer != b'N') {
                    requests.give_up();
                }
                answer(frame, &reply)
            }
            Mark::Ended { frame, .. } => {
                let reply = Reply::of(frame);
                self.names.answered(&reply);
                answer(frame, &reply)
            }
            Mark::Begun { .. } | Mark::Opaque { .. } => Told::default(),
        }
    }

    fn end(self) -> Told {
        let mut told = Told::default();
        for name in &self.used {
            told.bytes("name", name);
            meaning(&mut told, self.names.statement(name).map(|statement| &**statement));
            bound(&mut told, self.names.portal(name));
        }
        told
    }
}

impl Postgres {
    fn request(&mut self, frame: &Frame<'_>, request: &Request<'_>) -> Told {
        let mut told = told(frame);
        let mut named: &[u8] = b"";
        match request {
            Request::Startup { major, minor, parameters } => {
                told.add("startup", (major, minor));
                for (name, value) in *parameters {
                    told.bytes("parameter", name);
                    told.part("value", value, MOST);
                }
            }
            Request::Query(sql) => told.part("query", *sql, MOST),
            Request::Parse { statement, sql, types } => {
                named = statement;
                told.bytes("parse", statement);
                told.part("sql", *sql, MOST);
                (*types).for_each(|oid| told.add("type", oid));
            }
            Request::Bind(bind) => {
                named = bind.portal;
                self.bind(&mut told, bind);
            }
            Request::Describe(Target::Statement(name))
            | Request::Close(Target::Statement(name)) => {
                meaning(&mut told, self.names.statement(name).map(|statement| &**statement));
            }
            Request::Execute { portal, most_rows } => {
                told.add("most_rows", most_rows);
                bound(&mut told, self.names.portal(portal));
            }
            other => told.add("request", other),
        }
        self.used.insert(named.to_vec());
        told
    }

    fn bind(&self, told: &mut Told, bind: &Bind<'_>) {
        told.bytes("portal", bind.portal);
        let statement = self.names.statement(bind.statement);
        meaning(told, statement.map(|statement| &**statement));
        told.add("count", bind.count());
        let mut seen = 0;
        for parameter in bind.parameters() {
            seen += 1;
            told.add("is_binary", parameter.is_binary);
            match parameter.value {
                Some(value) => told.part("value", value, MOST),
                None => told.add("value", "null"),
            }
            for oid in OIDS {
                let text = parameter.text(oid);
                assert!(text.is_none() || parameter.value.is_some_and(|value| value.is_whole));
                told.add("text", text);
            }
        }
        assert!(seen <= bind.count());
    }
}

fn meaning(told: &mut Told, statement: Option<&Statement>) {
    if let Some(statement) = statement {
        let sql = Part { bytes: &statement.sql, is_whole: statement.is_whole };
        told.part("means", sql, MOST);
        told.add("types", &statement.types);
    }
}

fn bound(told: &mut Told, portal: Option<&Portal>) {
    told.add("is_portal", portal.is_some());
    meaning(told, portal.and_then(|portal| portal.statement.as_deref()));
}

fn answer(frame: &Frame<'_>, reply: &Reply<'_>) -> Told {
    let mut told = told(frame);
    match reply {
        Reply::ParameterDescription(types) => (*types).for_each(|oid| told.add("type", oid)),
        Reply::Error(trouble) | Reply::Notice(trouble) => {
            told.bytes("severity", trouble.severity);
            told.bytes("code", trouble.code);
            told.bytes("message", trouble.message);
        }
        Reply::ParameterStatus { name, value } => {
            told.bytes("parameter", name);
            told.part("value", *value, MOST);
        }
        Reply::CommandComplete(tag) => told.part("tag", *tag, MOST),
        Reply::Notification { channel, .. } => told.bytes("channel", channel),
        other => told.add("reply", other),
    }
    told
}

fn told(frame: &Frame<'_>) -> Told {
    let mut told = Told::of(frame.start);
    told.add("lead", frame.lead);
    told.add("length", frame.length);
    told.part("body", frame.body(), MOST);
    told
}
