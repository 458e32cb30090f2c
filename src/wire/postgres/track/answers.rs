//! What the server says, and which step it is an answer to.

use std::ops::Range;
use std::rc::Rc;

use crate::history::{Role, Standing, StepEnd};
use crate::wire::exchanges::ExchangeId;
use crate::wire::notes::Notes;
use crate::wire::postgres::{Reply, Transaction, Trouble};

use super::{Awaited, Tracker};

impl Tracker {
    /// A message of the server begins.
    pub(in crate::wire::postgres) fn reply_begins(&mut self, at: u64, notes: &mut Notes) {
        if self.poison.is_hiding() {
            notes.orders.replies.begins(at);
        }
        if self.reply_began {
            return;
        }
        let awaited = match (self.completed, self.awaited.front()) {
            (Some(id), _) => Some(id),
            (None, Some(Awaited::Execute(id) | Awaited::Query(id))) => *id,
            (None, _) => None,
        };
        if let Some(id) = awaited {
            self.reply_began = true;
            notes.reply_begins(id, at);
        }
    }

    /// A message of the server has come as a whole, and lies at this place.
    pub(in crate::wire::postgres) fn answered(
        &mut self,
        reply: &Reply<'_>,
        place: Range<u64>,
        notes: &mut Notes,
    ) {
        let at = place.end;
        if self.poison.hides(reply, &place, notes) {
            return;
        }
        if let Reply::BackendKey { pid } = reply {
            notes.backend = Some(*pid);
        }
        if self.is_over {
            return;
        }
        self.names.answered(reply);
        match reply {
            Reply::CommandComplete(tag) => {
                let tag = tag.text().unwrap_or("done");
                self.completes(StepEnd::Done, tag, at, notes);
            }
            Reply::EmptyQuery => self.completes(StepEnd::Done, "empty", at, notes),
            Reply::PortalSuspended => self.completes(StepEnd::Done, "suspended", at, notes),
            // A driver that doesn't know where its transaction stands rolls back nothing.
            Reply::Notice(notice) if notice.code == b"25P01" => self.is_nothing(notes),
            Reply::Error(trouble) => {
                let front = match self.awaited.front() {
                    Some(Awaited::Execute(id) | Awaited::Query(id)) => *id,
                    _ => None,
                };
                let given = front.and_then(|id| self.poison.reply(id, trouble, &place, notes));
                let code = given.as_deref().unwrap_or(trouble.code);
                self.fails(&Trouble { code, ..*trouble }, at, notes);
            }
            Reply::ReadyForQuery(transaction) => self.ready(*transaction, at, notes),
            Reply::CopyIn if matches!(self.awaited.front(), Some(Awaited::Execute(_))) => {
                self.give_up(notes);
            }
            Reply::CopyBoth => self.give_up(notes),
            _ => {}
        }
    }

    fn completes(&mut self, end: StepEnd, answer: &str, at: u64, notes: &mut Notes) {
        match self.awaited.front() {
            Some(Awaited::Execute(id)) => {
                let id = *id;
                self.awaited.pop_front();
                let Some(id) = id else {
                    self.reply_began = false;
                    return;
                };
                told(id, end, answer, notes);
                notes.reply_is_known(id);
                if matches!(self.awaited.front(), Some(Awaited::Sync { .. })) {
                    self.completed = Some(id);
                } else {
                    self.reply_began = false;
                    notes.exchanges.reply_ends(id, at);
                }
            }
            // Of several statements the first one that is told names the step.
            Some(Awaited::Query(Some(id))) => told(*id, end, answer, notes),
            _ => {}
        }
    }

    fn is_nothing(&self, notes: &mut Notes) {
        if let Some(Awaited::Query(Some(id)) | Awaited::Execute(Some(id))) = self.awaited.front() {
            notes.exchanges.is_noise(*id);
            notes.noise();
        }
    }

    /// The server ignores what follows, up to the end of the unit.
    fn fails(&mut self, trouble: &Trouble<'_>, at: u64, notes: &mut Notes) {
        let code = String::from_utf8_lossy(trouble.code);
        match self.awaited.front() {
            Some(Awaited::Query(Some(id))) => told(*id, StepEnd::Failed, &code, notes),
            Some(Awaited::Query(None) | Awaited::Sync { .. }) | None => {}
            Some(Awaited::Execute(_)) => {
                let mut end = StepEnd::Failed;
                while let Some(Awaited::Execute(id)) = self.awaited.front() {
                    if let Some(id) = id {
                        told(*id, end, if end == StepEnd::Failed { &code } else { "" }, notes);
                        notes.reply_is_known(*id);
                        notes.exchanges.reply_ends(*id, at);
                    }
                    end = StepEnd::Skipped;
                    self.awaited.pop_front();
                }
            }
        }
    }

    fn ready(&mut self, transaction: Transaction, at: u64, notes: &mut Notes) {
        let standing = match transaction {
            Transaction::Idle => Standing::Idle,
            Transaction::Open => Standing::Open,
            Transaction::Failed => Standing::Aborted,
        };
        // What stands before the unit's end was never answered: the server said nothing of it.
        while let Some(Awaited::Execute(id)) = self.awaited.front() {
            if let Some(id) = id {
                told(*id, StepEnd::Skipped, "", notes);
                notes.reply_is_known(*id);
                notes.exchanges.reply_ends(*id, at);
            }
            self.awaited.pop_front();
        }
        self.reply_began = false;
        let last = match self.awaited.pop_front() {
            Some(Awaited::Query(id)) => {
                id.into_iter().for_each(|id| notes.reply_is_known(id));
                id
            }
            Some(Awaited::Sync { is_bare: true }) => {
                notes.noise();
                None
            }
            Some(Awaited::Sync { is_bare: false }) => self.completed.take(),
            _ => None,
        };
        if let Some(id) = last {
            notes.exchanges.reply_ends(id, at);
            if let Some(exchange) = notes.exchanges.get(id) {
                exchange.step.standing = Some(standing);
            }
        }
        if self.awaited.is_empty() {
            match (standing, self.transaction) {
                (Standing::Idle, _) => {
                    (self.transaction, self.owner, self.owners) = (None, None, None);
                }
                (_, None) => self.begin(),
                (_, Some(_)) => {}
            }
        }
    }
}

/// A step has been answered.
fn told(id: ExchangeId, end: StepEnd, answer: &str, notes: &mut Notes) {
    let answer = (!answer.is_empty()).then(|| notes.observer.word(answer));
    let (now, observer) = (notes.now, Rc::clone(&notes.observer));
    let Some(exchange) = notes.exchanges.get(id) else { return };
    let step = &mut exchange.step;
    if step.end == StepEnd::Done && end == StepEnd::Done {
        // A further statement of the same text.
        return;
    }
    (step.end, step.answer) = (end, answer);
    step.answered = (end != StepEnd::Skipped).then_some(now);
    let is_commit = step.role == Some(Role::Commit) && step.answer.as_deref() == Some("COMMIT");
    let is_at_once = step.role == Some(Role::OrderInsert) && step.transaction.is_none();
    if end == StepEnd::Done
        && (is_commit || is_at_once)
        && let Some(intent) = step.intent
    {
        observer.committed.borrow_mut().insert(intent);
    }
}
