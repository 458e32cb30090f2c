//! I02's *therefore*: who was told of which order, whether it was a race, and why the database let
//! it happen. Each reason names what was observed; what may have placed an order that nobody was told
//! of stays a "may".

use crate::history::{Attempt, AttemptId, Outcome};

use super::bench::Bench;
use super::i02_one_order::Excess;
use super::index::same_id;
use super::schema::{Cover, cover};
use super::subject;

/// For each of the first orders, the attempt that was first told of it; else those that may have
/// placed it (rule R7). At most three.
pub(super) fn telling_attempts<'a>(bench: &Bench<'a>, excess: &Excess<'_>) -> Vec<&'a Attempt> {
    let mut attempts: Vec<&Attempt> = Vec::new();
    let groups = excess.groups.iter().map(|&group| &bench.index.keys[group]);
    let all: Vec<&'a Attempt> = groups.flat_map(|group| group.attempts.iter().copied()).collect();
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

pub(super) fn therefore(
    bench: &Bench<'_>,
    excess: &Excess<'_>,
    attempts: &[&Attempt],
) -> Vec<String> {
    let told: Vec<AttemptId> = attempts
        .iter()
        .filter(|attempt| attempt.outcome == Outcome::Acknowledged)
        .map(|attempt| attempt.id)
        .collect();
    let mut reasons = Vec::new();
    if let [one, other, ..] = attempts
        && told.contains(&one.id)
        && told.contains(&other.id)
        && let (Some(answered), Some(sent)) = (one.completed, other.first_byte)
    {
        let (first, second) = (bench.index.name(one), bench.index.name(other));
        reasons.push(if sent <= answered {
            format!(
                "{first} and {second} were in flight together, because {second} left at {sent} and \
                 {first} was answered at {answered}"
            )
        } else {
            format!(
                "this is no race: {second} left at {sent}, after {first} had been answered with its \
                 order at {answered}"
            )
        });
    }
    let untold = excess
        .orders
        .iter()
        .filter(|row| !bench.index.acknowledged.contains_key(&same_id(&row.id)))
        .collect::<Vec<_>>();
    if let Some(row) = untold.first() {
        reasons.push(format!(
            "nobody was told of order {}, because no reply names it; an attempt without a definite \
             answer may have placed it",
            row.id
        ));
    }
    reasons.extend(of_the_schema(bench, excess));
    reasons
}

/// Why the database didn't refuse it.
fn of_the_schema(bench: &Bench<'_>, excess: &Excess<'_>) -> Option<String> {
    let columns = subject::columns(bench)?;
    let snapshot = bench.rows.as_ref()?.snapshot;
    let names = columns.join(", ");
    match cover(snapshot, bench.orders_table(), &columns) {
        Cover::None => Some(format!(
            "the database refused none of them, because no unique index covers ({names})"
        )),
        Cover::Partial(index) => Some(format!(
            "the database refused none of them, because its unique index {} has a WHERE clause, which \
             rows escape",
            index.name
        )),
        Cover::Whole(index) => excess.orders.iter().any(|row| row.key.is_none()).then(|| {
            format!(
                "the database refused none of them, because its unique index {} lets NULL keys through",
                index.name
            )
        }),
    }
}
