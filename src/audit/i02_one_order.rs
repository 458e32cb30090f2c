//! I02: at most one valid order per user and key, or per declared business key (S10).
//!
//! Rows with an empty key or none are counted too, because a unique index lets them through: a user
//! of the run may have at most as many of them as it has keys without an order. Where the table has no
//! key column, each user must have one key only (S09), or nothing can be said.

use std::collections::BTreeMap;

use crate::codes::{I02, Severity};
use crate::history::OrderRow;
use crate::profile::BusinessColumn;

use super::bench::Bench;
use super::i02_reasons::{help, telling_attempts, therefore};
use super::rows::{Place, Rows};
use super::ruling::Ruling;
use super::subject::{self, Subject};
use super::words::{after_share, list, share, spelled, thousands, times};
use super::{Evidence, Finding, Witness};

const DEFAULT: [BusinessColumn; 2] = [BusinessColumn::User, BusinessColumn::Key];

/// One thing that has more valid orders than it may have.
pub(super) struct Excess<'a> {
    /// Key groups that it may stem from.
    pub groups: Vec<usize>,
    pub orders: Vec<&'a OrderRow>,
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let Some(rows) = &bench.rows else {
        return Ruling::not_judged(&I02, "no rows were read after the load");
    };
    let unique_by = bench.contract().unique_by();
    if !is_judgeable(bench, unique_by) {
        let (one, _) = subject::name(unique_by);
        return Ruling::not_judged(&I02, format!("no column tells orders apart by {one}"))
            .doubting(
                &I02,
                format!("`[audit] orders` has no column that tells orders apart by {one}"),
                "name the column, or give every intent a user of its own",
            );
    }
    // Told apart by the user alone or the key alone, orders of an unrecorded intent would be mixed up.
    if subject::columns(bench).is_none() && !bench.knows_every_attempt() {
        return Ruling::not_known(&I02);
    }
    let (excesses, of) = if unique_by == DEFAULT.as_slice() {
        (per_key(bench, rows), bench.index.placing().count() as u64)
    } else {
        per_business_key(bench, rows, unique_by)
    };
    let (one, many) = subject::name(unique_by);
    let count = excesses.len() as u64;
    let detail = format!(
        "{} {} two orders or more",
        share(count, of, &one, &many),
        after_share(count, of, "has", "have")
    );
    let findings = clearest(bench, &excesses).map(|excess| finding(bench, &excesses, excess));
    Ruling::of(&I02, detail, findings.into_iter().collect())
}

/// Whether the mapped columns suffice to tell orders apart.
fn is_judgeable(bench: &Bench<'_>, unique_by: &[BusinessColumn]) -> bool {
    let one_key_each = || bench.index.names.users().all(|names| names.len() == 1);
    let one_user_each = || bench.index.names.keys().all(|groups| groups.len() == 1);
    let columns = &bench.columns;
    subject::columns(bench).is_some()
        || unique_by == DEFAULT.as_slice()
            && (columns.user.is_some() && one_key_each()
                || columns.key.is_some() && one_user_each())
}

fn per_key<'a>(bench: &Bench<'a>, rows: &Rows<'a>) -> Vec<Excess<'a>> {
    let mut excesses: Vec<Excess<'_>> = bench
        .index
        .placing()
        .map(|(group, _)| Excess { groups: vec![group], orders: rows.valid_of(group).collect() })
        .filter(|excess| excess.orders.len() > 1)
        .collect();
    let mut keyless: BTreeMap<&str, Vec<&OrderRow>> = BTreeMap::new();
    for placed in rows.fresh.iter().filter(|placed| placed.valid) {
        if let Place::Keyless(user) = placed.place {
            keyless.entry(user).or_default().push(placed.row);
        }
    }
    for (user, mut orders) in keyless {
        let groups: Vec<usize> = bench.index.placed_by(user).collect();
        // Requests without a key are promised nothing, be they of the run or of a pool's other users.
        let has_bad = groups.iter().any(|&group| !bench.index.keys[group].is_keyed);
        if has_bad || bench.index.users_are_a_pool || !bench.knows_every_attempt() {
            continue;
        }
        let free = groups.iter().filter(|&&group| rows.valid_of(group).next().is_none()).count();
        if orders.len() > free {
            orders.extend(groups.iter().flat_map(|&group| rows.valid_of(group)));
            excesses.push(Excess { groups, orders });
        }
    }
    excesses
}

fn per_business_key<'a>(
    bench: &Bench<'a>,
    rows: &Rows<'a>,
    unique_by: &[BusinessColumn],
) -> (Vec<Excess<'a>>, u64) {
    let mut things: BTreeMap<Subject<'_>, Excess<'_>> = BTreeMap::new();
    for (group, key) in bench.index.keys.iter().enumerate().filter(|(_, key)| key.places()) {
        for variant in &key.variants {
            let thing = things
                .entry(Subject::of_intent(variant.intent, unique_by))
                .or_insert_with(|| Excess { groups: Vec::new(), orders: Vec::new() });
            if thing.groups.last() != Some(&group) {
                thing.groups.push(group);
            }
        }
    }
    for placed in rows.fresh.iter().filter(|at| at.valid && at.place != Place::Foreign) {
        if let Some(thing) = things.get_mut(&Subject::of_row(placed.row, unique_by)) {
            thing.orders.push(placed.row);
        }
    }
    let of = things.len() as u64;
    (things.into_values().filter(|thing| thing.orders.len() > 1).collect(), of)
}

/// The easiest one to understand: few orders, most of them acknowledged.
fn clearest<'b, 'a>(bench: &Bench<'_>, excesses: &'b [Excess<'a>]) -> Option<&'b Excess<'a>> {
    let told = |excess: &Excess<'_>| {
        let is_known = |row: &&&OrderRow| bench.index.told(&row.id).is_some();
        excess.orders.iter().filter(is_known).count()
    };
    excesses.iter().min_by_key(|excess| (excess.orders.len(), std::cmp::Reverse(told(excess))))
}

fn finding(bench: &Bench<'_>, excesses: &[Excess<'_>], witness: &Excess<'_>) -> Finding {
    let unique_by = bench.contract().unique_by();
    let count = excesses.len() as u64;
    let most = excesses.iter().map(|excess| excess.orders.len()).max().unwrap_or(0) as u64;
    let fewest = witness.orders.len() as u64;
    let orders = match most == fewest {
        true => spelled(most),
        false => format!("up to {}", spelled(most)),
    };
    let title = if unique_by == DEFAULT.as_slice() {
        format!("one intent became {orders} orders{}", times(count))
    } else {
        format!("one {} got {orders} orders{}", subject::name(unique_by).0, times(count))
    };
    let mut evidence = Evidence::of(&["user", "key", "orders", "order ids", "created at"]);
    evidence.rows = excesses.iter().map(|excess| row(bench, excess)).collect();
    let attempts = telling_attempts(bench, witness);
    let columns = subject::columns(bench).unwrap_or_default().join(", ");
    Finding {
        code: &I02,
        severity: Severity::Critical,
        title,
        count,
        evidence,
        witness: Witness {
            heading: format!("how {} got {} orders", name(bench, witness), spelled(fewest)),
            attempts: attempts.iter().map(|attempt| attempt.id).collect(),
            orders: witness.orders.iter().take(3).map(|row| row.id.to_string()).collect(),
            product: bench.index.keys[witness.groups[0]].variants.first().map(|v| v.intent.product),
            ..Witness::default()
        },
        therefore: therefore(bench, witness, &attempts),
        help: help(&attempts, &columns),
    }
}

fn name<'a>(bench: &Bench<'a>, excess: &Excess<'_>) -> &'a str {
    let group = &bench.index.keys[excess.groups[0]];
    let by_user = !bench.contract().unique_by().contains(&BusinessColumn::Key);
    if by_user || excess.groups.len() > 1 { group.user } else { group.key }
}

fn row(bench: &Bench<'_>, excess: &Excess<'_>) -> Vec<String> {
    let keys: Vec<&str> = excess.groups.iter().map(|&group| bench.index.keys[group].key).collect();
    vec![
        bench.index.keys[excess.groups[0]].user.to_owned(),
        list(&keys, 3),
        thousands(excess.orders.len() as u64),
        Bench::ids(&excess.orders),
        bench.created(&excess.orders),
    ]
}
