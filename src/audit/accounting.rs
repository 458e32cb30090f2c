//! Where every attempt and every intent went.
//!
//! Each attempt is in exactly one class, each intent too. An order counts for the intent of its key
//! that asked for this product and quantity; where none did, for the first intent of the key.

use crate::history::{Cause, OrderRow, Outcome, Sent};

use super::Accounting;
use super::bench::Bench;
use super::index::{KeyGroup, same_id};
use super::rows::{Place, Rows};

pub(super) fn count(bench: &Bench<'_>) -> Accounting {
    let mut sum = Accounting::default();
    count_attempts(bench, &mut sum);
    count_intents(bench, &mut sum);
    sum
}

fn count_attempts(bench: &Bench<'_>, sum: &mut Accounting) {
    for attempt in &bench.case.history.attempts {
        sum.attempts += 1;
        sum.sent_whole += u64::from(attempt.sent == Sent::Whole);
        *match attempt.cause {
            Cause::Burst => &mut sum.burst_attempts,
            Cause::Retry => &mut sum.retries,
            Cause::Resolve => &mut sum.resolver_attempts,
            Cause::Prepare => &mut sum.preparing_attempts,
            Cause::Replay => &mut sum.replays,
            Cause::Steady => &mut sum.steady_attempts,
            Cause::Probe => &mut sum.probes,
        } += 1;
        *match attempt.outcome {
            Outcome::NotSent => &mut sum.not_sent,
            Outcome::Acknowledged => &mut sum.acknowledged,
            Outcome::Pending => &mut sum.pending,
            Outcome::Parked => &mut sum.parked,
            Outcome::Refused => &mut sum.refused,
            Outcome::Unknown => &mut sum.unknown,
        } += 1;
    }
}

fn count_intents(bench: &Bench<'_>, sum: &mut Accounting) {
    let index = &bench.index;
    let bases = index.bases();
    let mut orders: Vec<u32> = vec![0; bases.last().map_or(0, |&last| last as usize)];
    if let Some(rows) = &bench.rows {
        sum.orders = rows.fresh.iter().filter(|at| at.place != Place::Foreign).count() as u64;
        spread_orders(bench, rows, &bases, &mut orders);
    }
    for &(group, variant) in &index.seats {
        sum.intents += 1;
        let orders = orders[(bases[group as usize] + variant) as usize];
        let (group, variant) = (group as usize, variant as usize);
        sum.intents_undecided += u64::from(index.keys[group].variants[variant].is_undecided());
        *match orders {
            0 => &mut sum.intents_with_none,
            1 => &mut sum.intents_with_one_order,
            _ => &mut sum.intents_with_more,
        } += 1;
    }
}

fn spread_orders(bench: &Bench<'_>, rows: &Rows<'_>, bases: &[u32], orders: &mut [u32]) {
    for placed in rows.fresh.iter().filter(|placed| placed.valid) {
        let group = match placed.place {
            Place::Key(group) => group,
            Place::Keyless(user) => match bench.index.names.of_user(user) {
                Some((_, [name])) => name.group as usize,
                _ => continue,
            },
            Place::Stray(_) | Place::Foreign => continue,
        };
        let variant = variant_of(bench, &bench.index.keys[group], placed.row);
        orders[bases[group] as usize + variant] += 1;
    }
}

/// The variant that an order row answers best: by what was asked for, else by who was told its id.
fn variant_of(bench: &Bench<'_>, group: &KeyGroup<'_>, row: &OrderRow) -> usize {
    if group.variants.len() == 1 {
        return 0;
    }
    let asked = group.variants.iter().position(|variant| bench.asked_for(variant.intent, row));
    let id = same_id(&row.id);
    let told = || {
        group.variants.iter().position(|variant| {
            variant
                .acknowledged()
                .any(|attempt| attempt.order.as_deref().is_some_and(|order| same_id(order) == id))
        })
    };
    asked.or_else(told).unwrap_or(0)
}
