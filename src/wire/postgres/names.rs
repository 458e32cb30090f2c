//! What the names of prepared statements and portals stand for on one connection.
//!
//! Clients send a Bind before the answer to its Parse, so a name means at once what was sent. But
//! the server skips everything behind an error up to the next Sync. So what was sent is kept in a
//! queue until it is answered, each with what the name meant before, and is undone when the server
//! skips it.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::HashMap;

use super::reply::{Reply, Transaction};
use super::request::{Request, Target};
use super::statement::{Statement, deallocated};

/// Names of one kind that are remembered; a further one is not known.
const MOST_NAMES: usize = 4096;
/// Messages that may wait for an answer. With more of them this connection's names are given up.
const MOST_PENDING: usize = 65_536;

type Name = Box<[u8]>;

/// A bound portal.
#[derive(Clone, Debug)]
pub struct Portal {
    /// None where its statement's name wasn't known.
    pub statement: Option<Arc<Statement>>,
    /// How many Syncs and Queries were sent before it.
    unit: u64,
}

/// A message that waits for its answer, with what its name meant before.
#[derive(Debug)]
enum Sent {
    Parse(Name, Option<Arc<Statement>>),
    CloseStatement(Name, Option<Arc<Statement>>),
    Bind(Name, Option<Portal>),
    ClosePortal(Name, Option<Portal>),
    /// Of a statement, or of a portal.
    Describe(Option<Name>),
    /// With the names that its SQL gives back.
    Execute(VecDeque<Vec<u8>>),
    Query(VecDeque<Vec<u8>>),
    Call,
    Sync,
    CopyEnd,
}

/// The names of one connection.
#[derive(Debug, Default)]
pub struct Names {
    statements: HashMap<Name, Arc<Statement>>,
    portals: HashMap<Name, Portal>,
    pending: VecDeque<Sent>,
    /// Whether the server has said that it takes commands.
    is_ready: bool,
    /// Whether the client is to send the data of a COPY, among which the server ignores Syncs.
    is_copying: bool,
    /// Whether the server has failed and ignores what comes until a Sync.
    is_skipping: bool,
    is_lost: bool,
    sent_units: u64,
    done_units: u64,
}

impl Names {
    /// What a statement's name means to the message that the client sends next.
    pub fn statement(&self, name: &[u8]) -> Option<&Arc<Statement>> {
        self.statements.get(name)
    }

    /// What a portal's name means to the message that the client sends next.
    pub fn portal(&self, name: &[u8]) -> Option<&Portal> {
        self.portals.get(name)
    }

    /// The client has sent this; each message once, in order.
    pub fn sent(&mut self, request: &Request<'_>) {
        if self.is_skipping && !matches!(request, Request::Sync) {
            return;
        }
        self.is_skipping = false;
        let unit = self.sent_units;
        let sent = match request {
            Request::Parse { statement, sql, types } => {
                let parsed = Arc::new(Statement::of(*sql, *types));
                let before = put(&mut self.statements, statement, parsed);
                Sent::Parse((*statement).into(), before)
            }
            Request::Bind(bind) => {
                let statement = self.statements.get(bind.statement).cloned();
                let before = put(&mut self.portals, bind.portal, Portal { statement, unit });
                Sent::Bind(bind.portal.into(), before)
            }
            Request::Close(Target::Statement(name)) => {
                Sent::CloseStatement((*name).into(), self.statements.remove(*name))
            }
            Request::Close(Target::Portal(name)) => {
                Sent::ClosePortal((*name).into(), self.portals.remove(*name))
            }
            Request::Describe(Target::Statement(name)) => Sent::Describe(Some((*name).into())),
            Request::Describe(Target::Portal(_)) => Sent::Describe(None),
            Request::Execute { portal, .. } => {
                let portal = self.portals.get(*portal);
                let statement = portal.and_then(|portal| portal.statement.as_ref());
                let ends = statement.map(|statement| statement.ends.clone());
                Sent::Execute(ends.unwrap_or_default().into())
            }
            Request::Query(sql) => Sent::Query(deallocated(sql.bytes).into()),
            Request::FunctionCall { .. } => Sent::Call,
            Request::Sync if self.is_copying => return,
            Request::Sync => Sent::Sync,
            Request::CopyDone | Request::CopyFail if self.is_copying => {
                self.is_copying = false;
                return;
            }
            Request::CopyDone | Request::CopyFail => Sent::CopyEnd,
            _ => return,
        };
        self.sent_units += u64::from(ends_unit(&sent));
        self.pending.push_back(sent);
        self.is_lost |= self.pending.len() > MOST_PENDING;
        self.forget_if_lost();
    }

    /// The server has answered this; each message once, in order.
    pub fn answered(&mut self, reply: &Reply<'_>) {
        match (reply, self.pending.front_mut()) {
            (Reply::ParseComplete, Some(Sent::Parse(..)))
            | (Reply::BindComplete, Some(Sent::Bind(..)))
            | (Reply::CloseComplete, Some(Sent::CloseStatement(..) | Sent::ClosePortal(..)))
            | (Reply::RowDescription | Reply::NoData, Some(Sent::Describe(_)))
            | (Reply::EmptyQuery | Reply::PortalSuspended, Some(Sent::Execute(_))) => {
                self.pending.pop_front();
            }
            (Reply::ParameterDescription(types), Some(Sent::Describe(Some(name)))) => {
                let name = name.clone();
                if let Some(statement) = self.statement_at_server(&name) {
                    Arc::make_mut(statement).types = types.collect();
                }
            }
            (Reply::CommandComplete(tag), Some(Sent::Execute(names) | Sent::Query(names))) => {
                let name = if tag.bytes == b"DEALLOCATE" { names.pop_front() } else { None };
                if matches!(self.pending.front(), Some(Sent::Execute(_))) {
                    self.pending.pop_front();
                }
                if matches!(tag.bytes, b"DEALLOCATE ALL" | b"DISCARD ALL") {
                    self.end_all_statements();
                } else if let Some(name) = name {
                    self.set_statement(name.into(), None);
                }
            }
            (Reply::CopyIn | Reply::CopyBoth, _) => self.copy_begins(),
            // A Query is over with its ReadyForQuery, whatever came before.
            (Reply::Error(_), Some(Sent::Query(_) | Sent::Call)) => self.is_copying = false,
            (Reply::Error(_), _) => self.skip_to_sync(),
            (Reply::ReadyForQuery(transaction), _) => self.unit_ends(*transaction),
            _ => {}
        }
    }

    fn skip_to_sync(&mut self) {
        self.is_copying = false;
        while !matches!(self.pending.front(), Some(Sent::Sync) | None) {
            match self.pending.pop_front() {
                Some(Sent::Parse(name, before) | Sent::CloseStatement(name, before)) => {
                    self.set_statement(name, before);
                }
                Some(Sent::Bind(name, before) | Sent::ClosePortal(name, before)) => {
                    self.set_portal(name, before);
                }
                // No ReadyForQuery comes for these.
                Some(Sent::Query(_) | Sent::Call) => self.done_units += 1,
                _ => {}
            }
        }
        // The Sync is still to be sent, and what comes before it is ignored.
        self.is_skipping = self.is_ready && self.pending.is_empty();
    }

    fn unit_ends(&mut self, transaction: Transaction) {
        if !std::mem::replace(&mut self.is_ready, true) {
            return;
        }
        self.is_copying = false;
        self.is_skipping = false;
        self.done_units += 1;
        while self.pending.pop_front().is_some_and(|sent| !ends_unit(&sent)) {}
        if transaction == Transaction::Idle {
            let done = self.done_units;
            self.portals.retain(|_, portal| portal.unit >= done);
        }
    }

    fn copy_begins(&mut self) {
        let end = self.pending.iter().position(|sent| matches!(sent, Sent::CopyEnd));
        self.is_copying = end.is_none();
        let before = self.pending.len();
        let mut place = 0;
        let end = end.unwrap_or(before);
        self.pending.retain(|sent| {
            place += 1;
            place > end + 1 || !matches!(sent, Sent::Sync | Sent::CopyEnd)
        });
        let ignored = before - self.pending.len() - usize::from(end < before);
        self.done_units += ignored as u64;
    }

    /// What a name means where the server is, behind what it has answered so far.
    fn statement_at_server(&mut self, name: &[u8]) -> Option<&mut Arc<Statement>> {
        let waiting = self.pending.iter_mut().find_map(|sent| match sent {
            Sent::Parse(other, before) | Sent::CloseStatement(other, before)
                if **other == *name =>
            {
                Some(before)
            }
            _ => None,
        });
        match waiting {
            Some(before) => before.as_mut(),
            None => self.statements.get_mut(name),
        }
    }

    fn set_statement(&mut self, name: Name, to: Option<Arc<Statement>>) {
        for sent in &mut self.pending {
            if let Sent::Parse(other, before) | Sent::CloseStatement(other, before) = sent
                && *other == name
            {
                *before = to;
                return;
            }
        }
        set(&mut self.statements, name, to);
    }

    fn set_portal(&mut self, name: Name, to: Option<Portal>) {
        for sent in &mut self.pending {
            if let Sent::Bind(other, before) | Sent::ClosePortal(other, before) = sent
                && *other == name
            {
                *before = to;
                return;
            }
        }
        set(&mut self.portals, name, to);
    }

    fn end_all_statements(&mut self) {
        let mut names: Vec<Name> = self.statements.keys().cloned().collect();
        names.extend(self.pending.iter().filter_map(|sent| match sent {
            Sent::CloseStatement(name, _) => Some(name.clone()),
            _ => None,
        }));
        for name in names {
            self.set_statement(name, None);
        }
    }

    fn forget_if_lost(&mut self) {
        if self.is_lost {
            self.statements.clear();
            self.portals.clear();
            self.pending.clear();
        }
    }
}

const fn ends_unit(sent: &Sent) -> bool {
    matches!(sent, Sent::Sync | Sent::Query(_) | Sent::Call)
}

/// Gives a name a meaning where there is room for it; what it meant before.
fn put<T>(names: &mut HashMap<Name, T>, name: &[u8], to: T) -> Option<T> {
    if names.len() < MOST_NAMES || names.contains_key(name) {
        names.insert(name.into(), to)
    } else {
        None
    }
}

fn set<T>(names: &mut HashMap<Name, T>, name: Name, to: Option<T>) {
    match to {
        Some(to) => names.insert(name, to),
        None => names.remove(&name),
    };
}
