//! I02's *therefore*: who was told of which order, whether it was a race, and why the database let
//! it happen. Each reason names what was observed; what may have placed an order that nobody was told
//! of stays a "may".

use crate::history::{Attempt, OrderRow, Outcome, RunTime};

use super::bench::Bench;
use super::i02_one_order::Excess;
use super::index::same_id;
use super::schema::{Cover, cover};
use super::subject;
use super::words::plural;

/// For each of the first orders, the attempt that was first told of it; else those that may have
/// placed it (rule R7). At most three.
pub(super) fn telling_attempts<'a>(bench: &Bench<'a>, excess: &Excess<'_>) -> Vec<&'a Attempt> {
    let mut attempts: Vec<&Attempt> = Vec::new();
    let groups = excess.groups.iter().map(|&group| &bench.index.keys[group]);
    let all: Vec<&'a Attempt> = groups.flat_map(|group| group.attempts().iter().copied()).collect();
    for order in excess.orders.iter().take(3) {
        let told = all.iter().copied().filter(|attempt| {
            let id = attempt.order.as_deref().map(same_id);
            attempt.outcome == Outcome::Acknowledged && id == Some(same_id(&order.id))
        });
        attempts.extend(told.min_by_key(|attempt| (attempt.completed, attempt.id)));
    }
    let unknown = all.iter().copied().filter(|attempt| attempt.outcome == Outcome::Unknown);
    attempts.extend(unknown.take(2_usize.saturating_sub(attempts.len())));
    attempts.sort_by_key(|attempt| (attempt.first_byte, attempt.id));
    attempts.dedup_by_key(|attempt| attempt.id);
    attempts
}

/// Two acknowledged attempts in the order of time, with the end of the one and the begin of the other.
struct Told<'a> {
    one: &'a Attempt,
    answered: RunTime,
    other: &'a Attempt,
    sent: RunTime,
}

impl<'a> Told<'a> {
    fn of(attempts: &[&'a Attempt]) -> Option<Self> {
        let mut told = attempts.iter().filter(|it| it.outcome == Outcome::Acknowledged);
        let (one, other) = (told.next()?, told.next()?);
        Some(Self { one, answered: one.completed?, other, sent: other.first_byte? })
    }

    fn overlap(&self) -> bool {
        self.sent <= self.answered
    }
}

pub(super) fn therefore(
    bench: &Bench<'_>,
    excess: &Excess<'_>,
    attempts: &[&Attempt],
) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(told) = Told::of(attempts) {
        let (first, second) = (bench.index.name_of(told.one), bench.index.name_of(told.other));
        let (answered, sent) = (told.answered, told.sent);
        reasons.push(if told.overlap() {
            format!(
                "{first} and {second} were in flight together, because {second} left at {sent} and \
                 {first} was answered at {answered}"
            )
        } else {
            format!(
                "this is no race, because {second} left at {sent}, after {first} had been answered \
                 with its order at {answered}"
            )
        });
    }
    let is_untold = |row: &&&OrderRow| bench.index.told(&row.id).is_none();
    if let Some(row) = excess.orders.iter().find(is_untold) {
        reasons.push(of_the_untold(bench, excess, row));
    }
    reasons.extend(of_the_schema(bench, excess));
    reasons
}

/// About an order that no reply names: who may have placed it (rule R7).
fn of_the_untold(bench: &Bench<'_>, excess: &Excess<'_>, row: &OrderRow) -> String {
    let attempts = excess.groups.iter().flat_map(|&group| bench.index.keys[group].attempts());
    let open = attempts.filter(|it| matches!(it.outcome, Outcome::Unknown | Outcome::Pending));
    let licence = match open.count() as u64 {
        0 => String::new(),
        open => format!(
            "; {} without a definite answer, any of which may have placed it",
            plural(open, "attempt stayed", "attempts stayed")
        ),
    };
    let reply = if bench.knows_every_attempt() { "no reply" } else { "no reply in the journal" };
    format!("nobody was told of order {}, because {reply} names it{licence}", row.id)
}

/// A cure that fits: a race needs another one than a duplicate that came later.
pub(super) fn help(attempts: &[&Attempt], columns: &str) -> String {
    let first = match Told::of(attempts) {
        Some(told) if !told.overlap() => "look for the key's order before placing one",
        _ => "take the lock before the look and release it after COMMIT",
    };
    match columns {
        "" => format!("{first}, and let a unique index refuse the second order."),
        _ => format!("{first}, and keep a whole unique index on ({columns})."),
    }
}

/// Why the database didn't refuse it.
fn of_the_schema(bench: &Bench<'_>, excess: &Excess<'_>) -> Option<String> {
    let columns = subject::columns(bench)?;
    let snapshot = bench.rows.as_ref()?.snapshot;
    let names = columns.join(", ");
    let has_window = bench.contract().window.is_some();
    match cover(snapshot, bench.orders_table(), &columns, has_window) {
        Cover::None => Some(format!(
            "the database refused none of them, because no unique index covers ({names})"
        )),
        Cover::Partial(index) => Some(format!(
            "the database refused none of them, because its unique index {} has a WHERE clause, which \
             rows escape",
            index.name
        )),
        Cover::Whole(index) if index.columns.len() > columns.len() => Some(format!(
            "the database refused none of them, because its unique index {} holds within one window \
             of {}, and they lie on both sides of an edge",
            index.name,
            index.columns.iter().find(|it| !columns.contains(&it.as_str()))?
        )),
        Cover::Whole(index) => excess.orders.iter().any(|row| row.key.is_none()).then(|| {
            format!(
                "the database refused none of them, because its unique index {} lets NULL keys through",
                index.name
            )
        }),
    }
}
