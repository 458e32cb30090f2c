//! Messages of a PostgreSQL connection become steps.
//!
//! A step is one Query, or one Execute with the Parse and Bind that lead to it; its reply runs to its
//! completion, and to ReadyForQuery where the unit ends behind it. After an error the server ignores
//! the rest of the unit: those steps were skipped. A COPY within the extended protocol and replication
//! end the tracking of their connection.

mod answers;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use foldhash::HashMap;

use crate::history::{IntentId, RunTime, Step, Wire};
use crate::wire::exchanges::ExchangeId;
use crate::wire::notes::Notes;
use crate::wire::rules::Carried;
use crate::wire::tokens::Among;
use crate::wire::{Part, tokens};

use super::meaning::{Meaning, meaning};
use super::poison::Poison;
use super::{Bind, Names, Request, Statement};

/// Portals whose parameters are remembered.
const MOST_PORTALS: usize = 1_024;
/// Units that may be awaited; with more, a connection isn't followed any more.
const MOST_AWAITED: usize = 65_536;

/// What an answer is owed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Execute(Option<ExchangeId>),
    /// A Query or a FunctionCall: it ends with ReadyForQuery.
    Query(Option<ExchangeId>),
    /// `is_bare`: no step came before it in its unit.
    Sync {
        is_bare: bool,
    },
}

#[derive(Debug, Default)]
pub(super) struct Tracker {
    names: Names,
    awaited: VecDeque<Awaited>,
    /// What the parameters of a portal name.
    bound: HashMap<Box<[u8]>, Bound>,
    /// When the first message of the next step was read, and where it begins.
    began: Option<(RunTime, u64)>,
    /// Where the reply begins that is being read.
    reply_began: bool,
    poison: Poison,
    /// The step whose last message is being read.
    current: Option<ExchangeId>,
    /// The transaction that the next step is in, as far as what was sent says.
    transaction: Option<u32>,
    transactions: u32,
    owner: Option<IntentId>,
    /// Those whose transaction it may be.
    owners: Among,
    /// Whether a step was asked for since the last Sync.
    has_step: bool,
    /// A step that has completed, and whose reply ends with the unit.
    completed: Option<ExchangeId>,
    is_over: bool,
}

/// What is bound to a portal.
#[derive(Clone, Debug, Default)]
struct Bound {
    named: tokens::Named,
    /// While rules are armed.
    values: Rc<[String]>,
}

impl Tracker {
    /// A message begins.
    pub(super) fn begins(&mut self, now: RunTime, at: u64) {
        self.began.get_or_insert((now, at));
        self.current = None;
    }

    /// It is known what it asks for; all of it lies at this place, or will.
    pub(super) fn known(&mut self, request: &Request<'_>, at: &Range<u64>, notes: &mut Notes) {
        if let Request::Startup { parameters, .. } = request {
            let name = parameters.clone().find(|(name, _)| *name == b"application_name");
            let name = name.and_then(|(_, value)| value.whole_text()).filter(|it| !it.is_empty());
            notes.driver = name.map(|name| name.chars().take(64).collect());
        }
        if self.is_over {
            return;
        }
        match request {
            Request::Bind(bind) => self.bind(bind, notes),
            Request::Execute { portal, .. } => {
                let statement = self.names.portal(portal).and_then(|it| it.statement.clone());
                let Bound { named, values } = self.bound.get(*portal).cloned().unwrap_or_default();
                let sql = statement.as_deref().map(Statement::text);
                self.current = self.step(sql, named, true, notes);
                self.awaited.push_back(Awaited::Execute(self.current));
                self.asked(sql, &values, at, notes);
            }
            Request::Query(sql) => {
                let named = notes.name([sql.bytes].into_iter());
                self.current = self.step(Some(*sql), named, false, notes);
                self.awaited.push_back(Awaited::Query(self.current));
                self.asked(Some(*sql), &[], at, notes);
            }
            Request::FunctionCall { .. } => {
                notes.unnamed();
                self.awaited.push_back(Awaited::Query(None));
            }
            Request::Sync => {
                let is_bare = !std::mem::take(&mut self.has_step);
                self.awaited.push_back(Awaited::Sync { is_bare });
                self.poison.unit_ends(at.end, notes);
            }
            _ => {}
        }
        self.names.sent(request);
        if self.awaited.len() > MOST_AWAITED {
            self.give_up(notes);
        }
        let keeps_on = matches!(
            request,
            Request::Parse { .. } | Request::Bind(_) | Request::Describe(_) | Request::Flush
        );
        if !keeps_on {
            self.began = None;
        }
        // A Flush asks for what has been answered so far, and its sender may wait for that.
        if !keeps_on || matches!(request, Request::Flush) {
            notes.orders.requests.undecided = None;
            self.began = self.began.map(|(when, _)| (when, at.end));
        }
    }

    /// The rules are asked about the step that was just opened.
    fn asked(
        &mut self,
        sql: Option<Part<'_>>,
        values: &[String],
        at: &Range<u64>,
        notes: &mut Notes,
    ) {
        let Some(id) = self.current.filter(|_| notes.is_watchful()) else { return };
        let values: Vec<&[u8]> = values.iter().map(String::as_bytes).collect();
        let carried =
            Carried { sql: sql.map(|sql| sql.bytes), values: &values, ..Carried::default() };
        // What leads to an execution does nothing by itself, and may have left.
        let began = self.began.map(|(_, begin)| begin);
        let begin = began.filter(|begin| notes.orders.requests.is_in_time(*begin));
        let begin = begin.unwrap_or(at.start);
        let Some(decided) = notes.step_is_asked(id, begin, &carried) else { return };
        let is_query = matches!(self.awaited.back(), Some(Awaited::Query(_)));
        self.poison.request(decided, id, begin, at, is_query, notes);
    }

    /// All of it has come.
    pub(super) fn ended(&mut self, at: u64, notes: &mut Notes) {
        if let Some(id) = self.current.take() {
            notes.exchanges.request_ends(id, at);
        }
    }

    fn bind(&mut self, bind: &Bind<'_>, notes: &Notes) {
        if notes.observer.tokens.borrow().is_empty() && !notes.is_watchful() {
            return;
        }
        let statement = self.names.statement(bind.statement);
        let types = statement.map_or(&[][..], |statement| &statement.types);
        let texts: Vec<_> = bind
            .parameters()
            .enumerate()
            .filter_map(|(at, parameter)| parameter.text(types.get(at).copied().unwrap_or(0)))
            .map(Cow::into_owned)
            .collect();
        let mut named = notes.name(texts.iter().map(String::as_bytes));
        // A text may have its values in it, whatever else is bound.
        if !named.is_of_the_run
            && let Some(statement) = statement
        {
            named = notes.name([&*statement.sql].into_iter());
        }
        let values = if notes.is_watchful() { texts.into() } else { Rc::default() };
        if self.bound.len() < MOST_PORTALS || self.bound.contains_key(bind.portal) {
            self.bound.insert(bind.portal.into(), Bound { named, values });
        }
    }

    fn step(
        &mut self,
        sql: Option<Part<'_>>,
        named: tokens::Named,
        is_extended: bool,
        notes: &mut Notes,
    ) -> Option<ExchangeId> {
        let observer = Rc::clone(&notes.observer);
        let Some(meaning) = sql.and_then(|sql| meaning(sql, &observer)) else {
            notes.unnamed();
            return None;
        };
        if meaning.is_noise {
            notes.noise();
            return None;
        }
        self.has_step = is_extended;
        if &*meaning.verb == "BEGIN" && self.transaction.is_none() {
            self.begin();
        }
        if self.transaction.is_some() && self.owner.is_none() {
            self.owner = named.intent;
        }
        if self.transaction.is_some() && self.owners.is_none() {
            self.owners.clone_from(&named.among);
        }
        let among = named.among.or_else(|| self.owners.clone());
        let Meaning { verb, object, role, statement, .. } = (*meaning).clone();
        let step = Step {
            object,
            statement,
            role,
            intent: named.intent.or(self.owner),
            product: named.product,
            transaction: self.transaction,
            ..Step::begun(
                Wire::Postgres,
                notes.link(),
                verb,
                self.began.map_or(notes.now, |(when, _)| when),
            )
        };
        if meaning.ends_transaction {
            (self.transaction, self.owner, self.owners) = (None, None, None);
        }
        let id = notes.exchanges.open(step, 0);
        match id {
            Some(id) => notes.exchanges.is_among(id, among),
            None => notes.count(|counts| counts.lost += 1),
        }
        id
    }

    fn begin(&mut self) {
        self.transactions += 1;
        (self.transaction, self.owner, self.owners) = (Some(self.transactions), None, None);
    }

    /// What comes isn't followed any more.
    fn give_up(&mut self, notes: &mut Notes) {
        self.is_over = true;
        self.awaited.clear();
        notes.stream();
    }
}
