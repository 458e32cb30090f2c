//! Where links and steps are written down.
//!
//! Steps become lines where they are over, and lines are handed to the journal a few hundred times a
//! second: a link must not wait for a disk. When the disk is so far behind that lines pile up, further
//! steps are counted and left out, and whoever judges the run is told.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use foldhash::{HashMap, HashMapExt};
use tokio::sync::Notify;

use crate::history::{Fact, Lines, LinkFacts, Recorder, StatementFacts, StatementId, Step};

use super::observer::Observer;
use super::part::Part;

/// How long lines are gathered before they are handed over.
const PAUSE: Duration = Duration::from_millis(5);

/// Bytes of lines that may wait.
const MOST_WAITING: usize = 16 * 1024 * 1024;

/// Texts of SQL that are written down; clients that put values into their texts have no end of them.
const MOST_STATEMENTS: usize = 20_000;

/// How much of a text is written down.
const LONGEST_STATEMENT: usize = 4_096;

pub(super) struct Ledger {
    recorder: Option<Recorder>,
    lines: RefCell<Option<Lines>>,
    statements: RefCell<HashMap<Box<[u8]>, StatementId>>,
    /// There is something to hand over.
    waits: Notify,
    /// There is so much of it that it shouldn't wait.
    is_due: Notify,
}

impl Ledger {
    pub(super) fn new(recorder: Option<Recorder>) -> Self {
        let lines = recorder.as_ref().map(Recorder::lines);
        Self {
            recorder,
            lines: RefCell::new(lines),
            statements: RefCell::new(HashMap::new()),
            waits: Notify::new(),
            is_due: Notify::new(),
        }
    }

    pub(super) fn link(&self, link: LinkFacts) {
        self.add(|lines| lines.add(Fact::Link(link)));
    }

    /// `lost` is told how many steps could not be kept.
    pub(super) fn step(&self, step: &Step<Rc<str>>, lost: impl FnOnce(u64)) {
        if self.lines.borrow().as_ref().is_some_and(|lines| lines.bytes() > MOST_WAITING) {
            return lost(1);
        }
        self.add(|lines| lines.add_step(step));
    }

    /// The number of a text of SQL; None where it isn't written down. A text that is cut ends in `…`,
    /// so that nobody takes its beginning for all of it.
    pub(super) fn statement(&self, sql: Part<'_>) -> Option<StatementId> {
        self.recorder.as_ref()?;
        let is_whole = sql.is_whole && sql.bytes.len() <= LONGEST_STATEMENT;
        let sql = &sql.bytes[..sql.bytes.len().min(LONGEST_STATEMENT)];
        let mut statements = self.statements.borrow_mut();
        if let Some(known) = statements.get(sql) {
            return Some(*known);
        }
        if statements.len() >= MOST_STATEMENTS {
            return None;
        }
        let id = StatementId(u32::try_from(statements.len()).ok()?);
        statements.insert(sql.into(), id);
        let mut sql = String::from_utf8_lossy(sql).into_owned();
        if !is_whole {
            sql.push('…');
        }
        self.add(|lines| lines.add(Fact::Statement(StatementFacts { id, sql })));
        Some(id)
    }

    fn add(&self, add: impl FnOnce(&mut Lines)) {
        if let Some(lines) = self.lines.borrow_mut().as_mut() {
            let (before, were_many) = (lines.bytes(), lines.are_many());
            add(lines);
            // Said once a parcel: to say it for each line would cost as much as the line.
            if before == 0 {
                self.waits.notify_one();
            }
            if !were_many && lines.are_many() {
                self.is_due.notify_one();
            }
        }
    }

    /// Hands everything over.
    pub(super) async fn write_all(&self) {
        let Some(recorder) = &self.recorder else { return };
        let mut lines = recorder.parcel();
        if let Some(waiting) = self.lines.borrow_mut().as_mut() {
            std::mem::swap(&mut lines, waiting);
        }
        recorder.record_all(&mut lines).await;
    }
}

/// Hands lines over as they come, for ever.
pub(super) async fn keep_writing(observer: Rc<Observer>) {
    loop {
        observer.ledger.waits.notified().await;
        // Lines that pile up would move again and again while their buffer grows.
        let _ = tokio::time::timeout(PAUSE, observer.ledger.is_due.notified()).await;
        observer.ledger.write_all().await;
    }
}
