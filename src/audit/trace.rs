//! What the wires of a run saw, arranged for the checks: requests that were alone, locks, statements.

use crate::history::{Attempt, Role, Step, Wire, WireFacts};

use super::Case;
use super::locks::Locks;
use super::statements::Statements;
use super::steps::{Placed, Steps};

#[derive(Debug)]
pub(super) struct Trace<'a> {
    pub steps: Steps<'a>,
    pub locks: Locks<'a>,
    pub statements: Statements<'a>,
    /// Empty where steps are missing: what a request did before would be told wrongly.
    pub requests: Vec<Request<'a>>,
    wires: &'a [WireFacts],
    /// Whether the journal ends where the run did.
    is_whole: bool,
}

/// One attempt that nothing else of its intent can be taken for, and all of its steps.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub attempt: &'a Attempt,
    /// In the order in which they were asked.
    pub steps: Vec<Placed<'a>>,
}

impl<'a> Trace<'a> {
    pub fn new(case: &Case<'a>, is_whole: bool) -> Self {
        let history = case.history;
        let steps = Steps::new(case);
        let mut trace = Self {
            locks: Locks::new(&steps),
            steps,
            statements: Statements::new(&history.statements),
            requests: Vec::new(),
            wires: &history.wires,
            is_whole,
        };
        if trace.has_every_step() {
            let single = trace.steps.of_single_requests();
            trace.requests = single.map(|(attempt, steps)| Request { attempt, steps }).collect();
        }
        trace
    }

    /// Whether there were proxies at all.
    pub fn is_watched(&self) -> bool {
        !self.wires.is_empty() || self.steps.all().next().is_some()
    }

    /// Steps that were not written down.
    pub fn lost(&self) -> u64 {
        self.wires.iter().fold(0, |sum, wire| sum.saturating_add(wire.lost))
    }

    /// Whether what isn't among the steps didn't happen, as far as links could be read.
    pub fn has_every_step(&self) -> bool {
        self.is_whole && self.lost() == 0
    }

    /// The same, on every link of a wire.
    pub fn has_every_step_of(&self, wire: Wire) -> bool {
        self.has_every_step() && self.wires.iter().all(|it| it.wire != wire || it.unread == 0)
    }

    /// Whether the proxies of the servers saw what the run did.
    pub fn sees_intents(&self) -> bool {
        let of_servers = self.wires.iter().filter(|wire| wire.wire != Wire::Http);
        self.has_every_step()
            && of_servers.fold(0_u64, |sum, it| sum.saturating_add(it.of_the_run)) > 0
    }
}

impl<'a> Request<'a> {
    /// The steps of the transaction in which a step stands, itself included.
    pub fn transaction(&self, of: &Step) -> impl Iterator<Item = &Placed<'a>> {
        let (link, number) = (of.link, of.transaction);
        let is_in = move |step: &Step| {
            step.wire == Wire::Postgres && step.link == link && step.transaction == number
        };
        self.steps.iter().filter(move |at| number.is_some() && is_in(at.step))
    }

    /// Those of them that stand before it.
    pub fn before(&self, of: &'a Step) -> impl Iterator<Item = &Placed<'a>> {
        self.transaction(of).take_while(move |at| !std::ptr::eq(at.step, of))
    }

    /// The commits of transactions that changed something.
    pub fn commits(&self) -> impl Iterator<Item = &Placed<'a>> {
        let has_written = |at: &&Placed<'a>| self.before(at.step).any(|at| has_written(at.step));
        self.steps.iter().filter(|at| is_commit(at.step)).filter(has_written)
    }
}

/// Whether a statement changed a row.
pub(super) fn has_written(step: &Step) -> bool {
    let writes = matches!(step.role, Some(Role::StockWrite | Role::OrderInsert))
        || matches!(&*step.verb, "INSERT" | "UPDATE" | "DELETE" | "MERGE");
    let answer = step.answer.as_deref().unwrap_or_default();
    step.wire == Wire::Postgres && step.is_done() && writes && !answer.ends_with(" 0")
}

/// Whether a step committed. PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK.
pub(super) fn is_commit(step: &Step) -> bool {
    step.wire == Wire::Postgres
        && step.is_done()
        && (step.role == Some(Role::Commit) || matches!(&*step.verb, "COMMIT" | "END"))
        && step.answer.as_deref() != Some("ROLLBACK")
}
