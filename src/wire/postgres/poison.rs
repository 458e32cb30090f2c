//! An error in place of a statement, so that server, client and driver still agree.
//!
//! Where the statement would be executed, one message is put that can't be parsed. The server itself
//! then answers one ErrorResponse, skips to the end of the unit and is in the state that such an error
//! leaves; its ErrorResponse alone is replaced by ours. Behind a COMMIT, whose failure leaves no
//! transaction, a ROLLBACK follows in the same stream, and what is said of it is left out. FATAL errors
//! end the connection, and nothing is asked of the server at all.

use std::ops::Range;
use std::rc::Rc;

use crate::history::{FiringEnd, Role};
use crate::profile::Failure;
use crate::wire::codec::Edit;
use crate::wire::exchanges::ExchangeId;
use crate::wire::notes::Notes;
use crate::wire::orders::Order;
use crate::wire::rule::WireAct;
use crate::wire::rules::Decided;

use super::{Reply, Trouble};

/// What can't be parsed. It stands in the server's log.
const POISON: &str = "dupeproof injected";
/// Its own name, since a Parse that fails takes an unnamed statement with it.
const NAME: &str = "dupeproof_injected";
/// The server's word for what it can't parse.
const SYNTAX_ERROR: &[u8] = b"42601";

/// What is put in the place of statements on one connection.
#[derive(Debug, Default)]
pub(super) struct Poison {
    /// A ROLLBACK is to follow the unit that is being sent.
    owes_rollback: bool,
    is_hiding: bool,
}

impl Poison {
    /// A step is to fail. `at`: its Query or Execute.
    pub(super) fn request(
        &mut self,
        decided: Decided,
        id: ExchangeId,
        begin: u64,
        at: &Range<u64>,
        is_query: bool,
        notes: &mut Notes,
    ) {
        let WireAct::Fail(failure) = decided.rule.rule.act.clone() else { return };
        let Failure::Postgres { sqlstate, message } = &failure else { return };
        if sqlstate.starts_with("57P") {
            let farewell = error("FATAL", sqlstate, message);
            let order = Order { farewell, ..Order::new(decided, begin, id) };
            return notes.orders.requests.queue.push_back(order);
        }
        let role = notes.exchanges.look(id).and_then(|exchange| exchange.step.role);
        let ends = role == Some(Role::Commit);
        let mut instead = if is_query { query(POISON) } else { parse() };
        if is_query && ends {
            instead.extend(query("ROLLBACK"));
        }
        if notes.begin_to_fail(decided, id, failure.clone(), ends) {
            notes.orders.requests.edits.push(Edit::replace(at.clone(), instead));
            self.owes_rollback |= ends && !is_query;
        }
    }

    /// A Sync ends there.
    pub(super) fn unit_ends(&mut self, at: u64, notes: &mut Notes) {
        if std::mem::take(&mut self.owes_rollback) {
            notes.orders.requests.edits.push(Edit { at, skip: 0, insert: query("ROLLBACK") });
        }
    }

    pub(super) const fn is_hiding(&self) -> bool {
        self.is_hiding
    }

    /// The server has answered a step with an error; the SQLSTATE that the client is given instead.
    pub(super) fn reply(
        &mut self,
        id: ExchangeId,
        trouble: &Trouble<'_>,
        at: &Range<u64>,
        notes: &mut Notes,
    ) -> Option<Rc<[u8]>> {
        let exchange = notes.exchanges.get(id)?;
        let failing = exchange.failing.take()?;
        let Failure::Postgres { sqlstate, message } = &failing.failure else { return None };
        self.is_hiding = failing.ends_transaction;
        let is_ours = trouble.code == SYNTAX_ERROR
            && trouble.message.windows(9).any(|word| word == b"dupeproof");
        if !is_ours {
            // The step failed by itself before it could be failed.
            notes.has_not_failed(&failing, FiringEnd::AtOnce);
            return None;
        }
        let instead = error("ERROR", sqlstate, message);
        notes.orders.replies.edits.push(Edit::replace(at.clone(), instead));
        notes.has_failed(&failing, sqlstate);
        Some(sqlstate.as_bytes().into())
    }

    /// Whether a message speaks of a ROLLBACK that the client knows nothing of. It is left out.
    pub(super) fn hides(&mut self, reply: &Reply<'_>, at: &Range<u64>, notes: &mut Notes) -> bool {
        if !self.is_hiding {
            return false;
        }
        let is_about_it = match reply {
            Reply::ReadyForQuery(_) | Reply::CommandComplete(_) => true,
            Reply::Notice(notice) => notice.code == b"25P01",
            _ => false,
        };
        if is_about_it {
            notes.orders.replies.edits.push(Edit::replace(at.clone(), Vec::new()));
        }
        if matches!(reply, Reply::CommandComplete(_)) {
            self.is_hiding = false;
        }
        notes.orders.replies.undecided = None;
        is_about_it
    }
}

/// An ErrorResponse with the fields that every server sends.
fn error(severity: &str, sqlstate: &str, message: &str) -> Vec<u8> {
    let (sqlstate, message) = (sqlstate.replace('\0', ""), message.replace('\0', ""));
    let fields = format!("S{severity}\0V{severity}\0C{sqlstate}\0M{message}\0\0");
    tagged(b'E', fields.as_bytes())
}

fn query(sql: &str) -> Vec<u8> {
    tagged(b'Q', format!("{sql}\0").as_bytes())
}

fn parse() -> Vec<u8> {
    tagged(b'P', format!("{NAME}\0{POISON}\0\0\0").as_bytes())
}

fn tagged(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap_or_default();
    [&[tag][..], &length.to_be_bytes(), body].concat()
}
