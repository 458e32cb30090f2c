//! I10: an order is never paid and closed.
//!
//! The columns say it outright. Without them, two requests are taken to exclude each other if this
//! run shows both: an order on which the first was acknowledged and the second only rejected, and one
//! with the roles changed. Then an order on which both were acknowledged contradicts the target's own
//! rules. (One direction alone may be a legal transition, such as closing what has been paid.)

use std::collections::{BTreeMap, BTreeSet};

use crate::codes::{I10, Severity};
use crate::history::{Attempt, OrderRow, Outcome};

use super::bench::Bench;
use super::rows::Place;
use super::ruling::Ruling;
use super::words::{plural, thousands, times};
use super::{Evidence, Finding, Witness, answer, same_id};

/// What became of one request on one order.
#[derive(Clone, Copy, Debug, Default)]
struct Fate<'a> {
    told: Option<&'a Attempt>,
    /// Whether every attempt that was sent was rejected by the business.
    only_rejected: bool,
}

/// The fates of an order, by request.
type Fates<'a> = BTreeMap<&'a str, Fate<'a>>;

struct Both<'a> {
    entity: &'a str,
    one: &'a Attempt,
    other: &'a Attempt,
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let columns = &bench.case.profile.audit.orders;
    let by_columns = columns.paid_at.is_some() && columns.closed_at.is_some();
    let fates = fates(bench);
    if !by_columns && fates.is_empty() {
        return Ruling::not_judged(&I10, "nobody acted on orders");
    }
    let rows: Vec<&OrderRow> = match &bench.rows {
        Some(rows) if by_columns => rows
            .fresh
            .iter()
            .filter(|placed| placed.place != Place::Foreign)
            .map(|placed| placed.row)
            .filter(|row| row.paid_us.is_some() && row.closed_us.is_some())
            .collect(),
        _ => Vec::new(),
    };
    let known: BTreeSet<_> = rows.iter().map(|row| same_id(&row.id)).collect();
    // That a request was only ever rejected is known if all of its attempts are.
    let mut both = if bench.knows_every_attempt() { both(&fates) } else { Vec::new() };
    both.retain(|it| !known.contains(&same_id(it.entity)));
    let detail = format!(
        "{} paid and closed, {} told both, of {} acted on",
        thousands(rows.len() as u64),
        thousands(both.len() as u64),
        plural(fates.len() as u64, "order", "orders")
    );
    let findings = in_rows(bench, &rows, &fates).into_iter().chain(in_replies(bench, &both));
    Ruling::of(&I10, detail, findings.collect()).unless_none(fates.len(), "nobody acted on orders")
}

fn fates<'a>(bench: &Bench<'a>) -> BTreeMap<&'a str, Fates<'a>> {
    let mut fates: BTreeMap<&str, Fates<'_>> = BTreeMap::new();
    for key in &bench.index.keys {
        let Some(entity) = key.entity else { continue };
        for variant in key.variants.iter().filter(|variant| variant.was_sent()) {
            let fate = fates.entry(entity).or_default().entry(&variant.intent.request);
            let sent = || variant.attempts.iter().filter(|it| it.outcome.was_sent());
            let rejected = sent().all(|it| {
                it.outcome == Outcome::Refused && it.refusal.as_deref() == Some("business")
            });
            let told = sent().copied().find(|it| it.outcome == Outcome::Acknowledged);
            let fate = fate.or_insert(Fate { told: None, only_rejected: true });
            fate.told = fate.told.or(told);
            fate.only_rejected &= rejected;
        }
    }
    fates
}

/// Orders with acknowledgements of two requests that exclude each other.
fn both<'a>(fates: &BTreeMap<&'a str, Fates<'a>>) -> Vec<Both<'a>> {
    let mut beaten: BTreeSet<(&str, &str)> = BTreeSet::new();
    for fates in fates.values() {
        for (winner, _) in fates.iter().filter(|(_, fate)| fate.told.is_some()) {
            let losers = fates.iter().filter(|(_, fate)| fate.only_rejected);
            beaten.extend(losers.map(|(loser, _)| (*winner, *loser)));
        }
    }
    let exclude = |one, other| beaten.contains(&(one, other)) && beaten.contains(&(other, one));
    let mut both = Vec::new();
    for (entity, fates) in fates {
        let told: Vec<_> =
            fates.iter().filter_map(|(name, fate)| Some((*name, fate.told?))).collect();
        let pairs = told
            .iter()
            .enumerate()
            .flat_map(|(at, one)| told[at + 1..].iter().map(move |other| (*one, *other)));
        let found = pairs.into_iter().find(|((one, _), (other, _))| exclude(one, other));
        both.extend(found.map(|((_, one), (_, other))| Both { entity, one, other }));
    }
    both
}

fn in_rows(
    bench: &Bench<'_>,
    rows: &[&OrderRow],
    fates: &BTreeMap<&str, Fates<'_>>,
) -> Option<Finding> {
    let row = rows.first()?;
    let told = |row: &OrderRow| -> Vec<&Attempt> {
        let of_row = fates.get(&*row.id).into_iter().flat_map(BTreeMap::values);
        of_row.filter_map(|fate| fate.told).collect()
    };
    let time = |us: Option<i64>| {
        let moment = us.map(|us| OrderRow { created_us: Some(us), ..OrderRow::default() });
        moment.map_or_else(|| "-".to_owned(), |row| bench.created(&[&row]))
    };
    let mut evidence = Evidence::of(&["order", "status", "paid at", "closed at", "acknowledged"]);
    for row in rows {
        evidence.rows.push(vec![
            row.id.to_string(),
            row.status.as_deref().unwrap_or("-").to_owned(),
            time(row.paid_us),
            time(row.closed_us),
            plural(told(row).len() as u64, "request", "requests"),
        ]);
    }
    let count = rows.len() as u64;
    let witnesses = told(row);
    let mut therefore = vec![format!(
        "order {} is paid and closed, because its row has a time for both ({} and {})",
        row.id,
        time(row.paid_us),
        time(row.closed_us)
    )];
    if let [one, other, ..] = witnesses.as_slice() {
        therefore.push(format!(
            "neither update looked at what the other had done, because {} and {} were both \
             acknowledged for it",
            request(bench, one),
            request(bench, other)
        ));
    }
    Some(Finding {
        code: &I10,
        severity: Severity::Critical,
        title: format!("{} paid and closed", plural(count, "order is", "orders are")),
        count,
        evidence,
        witness: Witness {
            heading: format!("how order {} was paid and closed", row.id),
            attempts: witnesses.iter().take(3).map(|attempt| attempt.id).collect(),
            orders: vec![row.id.to_string()],
            product: row.product.as_ref().and_then(|id| id.parse().ok()),
            ..Witness::default()
        },
        therefore,
        help: HELP.to_owned(),
    })
}

const HELP: &str = "change a status by one conditional update (`... AND status = 'CREATED'`) and act \
                    on a row count of 0.";

fn in_replies(bench: &Bench<'_>, both: &[Both<'_>]) -> Option<Finding> {
    let witness = both.first()?;
    let mut evidence = Evidence::of(&["order", "one request", "other request"]);
    for it in both {
        let told = |attempt| format!("{}: {}", request(bench, attempt), answer(attempt));
        evidence.rows.push(vec![it.entity.to_owned(), told(it.one), told(it.other)]);
    }
    let (one, other) = (request(bench, witness.one), request(bench, witness.other));
    Some(Finding {
        code: &I10,
        severity: Severity::Critical,
        title: format!(
            "`{one}` and `{other}` were both acknowledged for one order{}",
            times(both.len() as u64)
        ),
        count: both.len() as u64,
        evidence,
        witness: Witness {
            heading: format!("how order {} got both `{one}` and `{other}`", witness.entity),
            attempts: vec![witness.one.id, witness.other.id],
            orders: vec![witness.entity.to_owned()],
            product: Some(bench.case.history.intent(witness.one.intent).product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "the target broke its own rule, because on other orders of this run `{one}` was rejected \
             after `{other}` and `{other}` after `{one}`, and on order {} both were acknowledged",
            witness.entity
        )],
        help: HELP.to_owned(),
    })
}

fn request<'a>(bench: &Bench<'a>, attempt: &Attempt) -> &'a str {
    &bench.case.history.intent(attempt.intent).request
}
