//! The case on the workbench: history and rows arranged once, shared by all checks.

use std::cell::OnceCell;

use crate::history::{
    Attempt, AttemptId, Doubt, InstanceId, Intent, OrderRow, Outcome, RunTime, Snapshot,
};
use crate::profile::Contract;

use super::columns::Columns;
use super::faults::Faults;
use super::index::{Index, same_id};
use super::owner::{self, Borrowed};
use super::rows::Rows;
use super::trace::Trace;
use super::words::list;
use super::{Accounting, Case, accounting, g4_drained, overlap};

/// How far a row's time may lie outside of its run before the database's clock is taken for a
/// different one, and the row is shown without a place on the time line.
const CLOCK_SLACK_US: i64 = 1_000_000;

/// Ids shown in one cell of an evidence table.
const MOST_IN_A_CELL: usize = 12;

#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub case: Case<'a>,
    pub index: Index<'a>,
    pub columns: Columns<'a>,
    /// The last rows there are: at the end, or else before the repair.
    pub rows: Option<Rows<'a>>,
    /// Why the database wasn't at rest when `rows` were read, as gate G4 says it.
    pub trouble: Option<Doubt>,
    /// Whether it was: only then is what is missing missing.
    pub at_rest: bool,
    pub accounting: Accounting,
    /// What the wires saw.
    pub trace: Trace<'a>,
    pub faults: Faults<'a>,
    borrowed: OnceCell<Vec<Borrowed<'a>>>,
}

impl<'a> Bench<'a> {
    pub fn new(case: &Case<'a>, index: Index<'a>) -> Self {
        let snapshot = case.after.or(case.before_repair);
        let columns = Columns::new(case, &index, snapshot);
        let rows = snapshot.map(|snapshot| Rows::new(case, &index, &columns, snapshot));
        // Without its seal the journal may lack a later drain that failed.
        let trouble = g4_drained::trouble(case);
        let at_rest = trouble.is_none() && index.is_whole;
        let trace = Trace::new(case, index.is_whole);
        let mut bench = Self {
            case: *case,
            index,
            columns,
            rows,
            trouble,
            at_rest,
            accounting: Accounting::default(),
            trace,
            faults: Faults::new(case),
            borrowed: OnceCell::new(),
        };
        bench.accounting = accounting::count(&bench);
        bench.accounting.overlap = overlap::measure(&bench);
        bench
    }

    /// Whether no intent, attempt or exit can be missing from the journal. After a kill, a full disk,
    /// or a server's end in the middle of the load, the last ones are: then nothing may be claimed
    /// because there was none that would explain it.
    pub const fn knows_every_attempt(&self) -> bool {
        self.index.is_whole
    }

    /// Why what is missing in the rows may only be late.
    pub const fn unrest(&self) -> Option<&'static str> {
        match (self.at_rest, self.index.is_whole) {
            (true, _) => None,
            (false, true) => Some("the database was not at rest"),
            (false, false) => {
                Some("the journal doesn't reach far enough to show that the database was at rest")
            }
        }
    }

    pub fn contract(&self) -> &'a Contract {
        &self.case.profile.contract
    }

    /// Whether an attempt may have been told to wait, or to come back, because an instance ended or a
    /// fault was at work (rule S05).
    pub fn may_be_put_off(&self, attempt: &Attempt) -> bool {
        self.index.is_disturbed(attempt) || self.faults.excuses.puts_off(attempt)
    }

    /// The same of an error, or of a long wait.
    pub fn may_be_delayed(&self, attempt: &Attempt) -> bool {
        self.index.is_disturbed(attempt) || self.faults.excuses.delays(attempt)
    }

    /// Acknowledgements that name an order of another key.
    pub fn borrowed(&self) -> &[Borrowed<'a>] {
        self.borrowed.get_or_init(|| owner::borrowed(self))
    }

    /// Both audits, the earlier one first.
    pub fn snapshots(&self) -> impl Iterator<Item = (&'static str, &'a Snapshot)> {
        let named = |name| move |snapshot| (name, snapshot);
        let before = self.case.before_repair.map(named("before repair"));
        before.into_iter().chain(self.case.after.map(named("at the end")))
    }

    /// Whether an answer came from in front of the idempotency layer: it says nothing about a key.
    pub fn is_shed(&self, attempt: &Attempt) -> bool {
        let by_status =
            || attempt.status.is_some_and(|status| self.contract().shed.statuses.contains(&status));
        attempt.outcome == Outcome::Refused
            && attempt.refusal.as_deref().map_or_else(by_status, |why| why == "shed")
    }

    /// Whether a row holds the product and quantity that an intent asked for, as far as the columns
    /// are mapped.
    pub fn asked_for(&self, intent: &Intent, row: &OrderRow) -> bool {
        let product =
            || row.product.as_ref().and_then(|id| id.parse().ok()) == Some(intent.product);
        let quantity = || row.quantity == Some(i64::from(intent.quantity));
        (self.columns.product.is_none() || product())
            && (self.columns.quantity.is_none() || quantity())
    }

    /// When the rows say that they were created, for an evidence table: run time where the clocks
    /// can be compared.
    pub fn created(&self, rows: &[&OrderRow]) -> String {
        let time = |row: &&OrderRow| match (created(&self.case, row), row.created_us) {
            (Some(at), _) => at.to_string(),
            (None, Some(_)) => "outside of the run".to_owned(),
            (None, None) => "-".to_owned(),
        };
        list(&rows.iter().map(time).collect::<Vec<_>>(), MOST_IN_A_CELL)
    }

    /// The rows' ids, for an evidence table.
    pub fn ids(rows: &[&OrderRow]) -> String {
        list(&rows.iter().map(|row| &*row.id).collect::<Vec<_>>(), MOST_IN_A_CELL)
    }

    /// Ids of the last valid orders of a product, at most so many.
    pub fn orders_of_product(&self, product: &str, most: usize) -> Vec<String> {
        let rows = self.rows.as_ref().map_or(&[][..], |rows| &rows.fresh);
        let of = rows.iter().filter(|at| at.valid && at.row.product.as_deref() == Some(product));
        let ids: Vec<String> = of.map(|at| at.row.id.to_string()).collect();
        ids[ids.len().saturating_sub(most)..].to_vec()
    }

    /// For each order id, the attempt that was first told of it.
    pub fn told_of(&self, orders: &[String]) -> Vec<AttemptId> {
        let mut told = Vec::new();
        for order in orders {
            let group = self.index.told(order);
            let attempts = group.map_or(&[][..], |group| self.index.keys[group].attempts());
            let of = attempts.iter().filter(|attempt| {
                attempt.outcome == Outcome::Acknowledged
                    && attempt.order.as_deref().map(same_id) == Some(same_id(order))
            });
            told.extend(of.min_by_key(|at| (at.completed, at.id)).map(|attempt| attempt.id));
        }
        told
    }

    /// The table's name as the profile gives it.
    pub fn orders_table(&self) -> &'a str {
        &self.case.profile.audit.orders.table
    }

    /// The name of an instance.
    pub fn instance(&self, id: InstanceId) -> &'a str {
        let mut instances = self.case.history.instances.iter();
        instances.find(|instance| instance.id == id).map_or("an instance", |found| &found.name)
    }
}

/// The run time of a row's creation, or nothing where the database's clock isn't ours.
pub fn created(case: &Case<'_>, row: &OrderRow) -> Option<RunTime> {
    let at = row.created_us? - case.history.run.started.as_microsecond();
    let last = case.after.or(case.before_repair)?.taken.0 as i64;
    let is_within = (-CLOCK_SLACK_US..=last + CLOCK_SLACK_US).contains(&at);
    is_within.then_some(RunTime(at.max(0) as u64))
}
