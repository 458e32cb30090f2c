//! I05: every acknowledged order exists, with what was asked for (rule R8).
//!
//! A row must agree with one of the intents that the contract makes one thing: its own key, or under
//! a business key all keys of the same user. So an order that was handed to a changed request is I07,
//! not a lost order; and one that belongs to another key is I09's or I16's. A missing row is claimed
//! only on a database at rest. Requests that act on an order promise none.

use std::sync::Arc;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::codes::{I05, Severity};
use crate::history::{Attempt, OrderRow};

use super::bench::Bench;
use super::index::{Variant, same_id};
use super::owner;
use super::rows::Rows;
use super::ruling::Ruling;
use super::subject::Subject;
use super::words::{list, plural, share, thousands};
use super::{Evidence, Finding, Witness};

/// An acknowledged order that isn't as promised.
struct Broken<'a> {
    attempt: &'a Attempt,
    order: &'a str,
    row: Option<&'a OrderRow>,
    /// The columns that differ; empty where there is no row.
    differs: Vec<&'static str>,
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let Some(rows) = &bench.rows else {
        return Ruling::not_judged(&I05, "no rows were read after the load");
    };
    let columns = &bench.columns;
    let is_found = columns.user.is_some() || columns.key.is_some() || columns.product.is_some();
    if !columns.ids || !is_found {
        return Ruling::not_judged(&I05, "acknowledged ids can't be looked up in the table");
    }
    let (mut broken, of) = broken(bench, rows);
    let mut late = 0;
    if bench.unrest().is_some() {
        late = missing(&broken);
        broken.retain(|one| one.row.is_some());
    }
    let count = broken.len() as u64;
    let detail = format!("{} missing or changed", share(count, of, "order", "orders"),);
    let findings = if broken.is_empty() { Vec::new() } else { vec![finding(bench, &broken)] };
    let ruling = Ruling::of(&I05, detail, findings);
    let Some(why) = bench.unrest().filter(|_| late > 0) else { return ruling };
    ruling.doubting(
        &I05,
        format!(
            "{} not in the table, but {why}",
            plural(late, "acknowledged order is", "acknowledged orders are")
        ),
        "audit again when the database is at rest",
    )
}

fn missing(broken: &[Broken<'_>]) -> u64 {
    broken.iter().filter(|one| one.row.is_none()).count() as u64
}

/// What is broken, and how many orders were acknowledged; each order once for each key.
fn broken<'a>(bench: &Bench<'a>, rows: &Rows<'a>) -> (Vec<Broken<'a>>, u64) {
    let siblings = if bench.contract().one_order_per.is_empty() {
        HashMap::new() // Each key is its own family.
    } else {
        siblings(bench)
    };
    let mut compared: HashMap<(Cow<'_, str>, Subject<'_>), Vec<&'static str>> = HashMap::new();
    let mut broken = Vec::new();
    let mut of = 0;
    for (group, key) in bench.index.keys.iter().enumerate().filter(|(_, key)| key.places()) {
        let mut told: BTreeMap<_, &Attempt> = BTreeMap::new();
        for attempt in key.variants.iter().flat_map(Variant::acknowledged) {
            let order = attempt.order.as_deref().expect("an acknowledgement carries an order id");
            told.entry(same_id(order)).or_insert(attempt);
        }
        of += told.len() as u64;
        for (id, attempt) in told {
            let order = attempt.order.as_deref().expect("an acknowledgement carries an order id");
            let intent = bench.case.history.intent(attempt.intent);
            let subject = Subject::of_intent(intent, bench.contract().unique_by());
            let row = rows.first_of(group, order).or_else(|| rows.by_id(order));
            // Somebody whose attempt wasn't recorded may have asked for just this row.
            let comparable = row.filter(|_| bench.knows_every_attempt());
            let differs = comparable.map_or_else(Vec::new, |row| match siblings.get(&subject) {
                Some(family) => {
                    let compare = || differences(bench, family, group, row);
                    compared.entry((id, subject)).or_insert_with(compare).clone()
                }
                None => {
                    let sent = key.variants.iter().enumerate().filter(|(_, it)| it.was_sent());
                    let family: Vec<_> = sent.map(|(variant, _)| (group, variant)).collect();
                    differences(bench, &family, group, row)
                }
            });
            let is_broken = row.is_none() || !differs.is_empty();
            if is_broken && owner::other_owner(bench, order, group).is_none() {
                broken.push(Broken { attempt, order, row, differs });
            }
        }
    }
    (broken, of)
}

/// Key groups that share one order under the contract, each with its variants.
fn siblings<'a>(bench: &Bench<'a>) -> HashMap<Subject<'a>, Vec<(usize, usize)>> {
    let mut families: HashMap<Subject<'_>, Vec<(usize, usize)>> = HashMap::new();
    for (group, key) in bench.index.keys.iter().enumerate().filter(|(_, key)| key.places()) {
        for (variant, one) in key.variants.iter().enumerate().filter(|(_, one)| one.was_sent()) {
            let subject = Subject::of_intent(one.intent, bench.contract().unique_by());
            families.entry(subject).or_default().push((group, variant));
        }
    }
    families
}

/// The columns in which a row differs from all that was asked for; against its own key if from all.
fn differences(
    bench: &Bench<'_>,
    family: &[(usize, usize)],
    group: usize,
    row: &OrderRow,
) -> Vec<&'static str> {
    let mut own = Vec::new();
    for &(other, variant) in family {
        let key = &bench.index.keys[other];
        let mut differs = Vec::new();
        let user = row.user.as_deref();
        if bench.columns.user.is_some() && !user.is_some_and(|it| bench.index.is_user_of(other, it))
        {
            differs.push("user");
        }
        // In which form a malformed key is kept, if at all, nobody promises.
        let is_kept = key.is_keyed && bench.columns.key.is_some();
        if is_kept && row.key.as_deref().unwrap_or("") != key.key {
            differs.push("key");
        }
        let intent = key.variants[variant].intent;
        let product = row.product.as_ref().and_then(|id| id.parse().ok());
        if bench.columns.product.is_some() && product != Some(intent.product) {
            differs.push("product");
        }
        if bench.columns.quantity.is_some() && row.quantity != Some(i64::from(intent.quantity)) {
            differs.push("quantity");
        }
        if differs.is_empty() {
            return differs;
        }
        if other == group && (own.is_empty() || differs.len() < own.len()) {
            own = differs;
        }
    }
    own
}

fn finding(bench: &Bench<'_>, broken: &[Broken<'_>]) -> Finding {
    let mut evidence = Evidence::of(&["user", "key", "order", "acknowledged at", "in the table"]);
    for one in broken {
        let intent = bench.case.history.intent(one.attempt.intent);
        evidence.rows.push(vec![
            intent.user.clone(),
            intent.key.clone(),
            one.order.to_owned(),
            one.attempt.completed.unwrap_or_default().to_string(),
            match one.row {
                None => "missing".to_owned(),
                Some(row) => format!("{}: {}", one.differs.join(", "), found(row, &one.differs)),
            },
        ]);
    }
    let witness = broken.iter().min_by_key(|one| one.row.is_some());
    let witness = witness.expect("a finding has at least one order");
    let key = &bench.case.history.intent(witness.attempt.intent).key;
    Finding {
        code: &I05,
        severity: Severity::Critical,
        title: title(broken),
        count: broken.len() as u64,
        evidence,
        witness: Witness {
            heading: format!("what became of order {} of {key}", witness.order),
            attempts: vec![witness.attempt.id],
            orders: witness.row.map(|row| row.id.to_string()).into_iter().collect(),
            product: Some(bench.case.history.intent(witness.attempt.intent).product),
            ..Witness::default()
        },
        therefore: vec![therefore(bench, witness)],
        help: match witness.row {
            None => "answer, and store the success, only after COMMIT has returned.".to_owned(),
            Some(_) => "insert with ON CONFLICT DO NOTHING and read the winner, instead of \
                        overwriting an order."
                .to_owned(),
        },
    }
}

fn title(broken: &[Broken<'_>]) -> String {
    let missing = missing(broken);
    let changed = broken.len() as u64 - missing;
    let are = |count, what: &str| {
        plural(
            count,
            &format!("acknowledged order is {what}"),
            &format!("acknowledged orders are {what}"),
        )
    };
    match (missing, changed) {
        (missing, 0) => are(missing, "missing"),
        (0, changed) => are(changed, "not what was asked for"),
        _ => format!("{}, {} not what was asked for", are(missing, "missing"), thousands(changed)),
    }
}

fn found(row: &OrderRow, differs: &[&str]) -> String {
    let text = |value: &Option<Arc<str>>| value.as_deref().unwrap_or("NULL").to_owned();
    let values: Vec<String> = differs
        .iter()
        .map(|&column| match column {
            "user" => text(&row.user),
            "key" => text(&row.key),
            "product" => text(&row.product),
            _ => row.quantity.map_or_else(|| "NULL".to_owned(), thousands),
        })
        .collect();
    list(&values, 4)
}

fn therefore(bench: &Bench<'_>, one: &Broken<'_>) -> String {
    let name = bench.index.name_of(one.attempt);
    let told = one.attempt.completed.unwrap_or_default();
    let taken = bench.rows.as_ref().map_or(told, |rows| rows.snapshot.taken);
    match one.row {
        None => format!(
            "the customer holds an order that doesn't exist, because {name} was told of it at {told} \
             and the table, read at rest at {taken}, has no order {}",
            one.order
        ),
        Some(row) => format!(
            "order {} isn't the one that was promised, because its {} in the table is {}, and nobody \
             asked for that under this key",
            one.order,
            one.differs.join(" and "),
            found(row, &one.differs)
        ),
    }
}
