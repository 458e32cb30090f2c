//! I25: a reply can be read, and what it says is so. That the contract knows it is looked at next door.
//!
//! `Sold out` is contradicted only if there was stock whatever the others did: the units at the
//! baseline exceed what all other attempts on the product could have taken, each of them by itself,
//! and they are still there at the end. A status in a reply is contradicted by a row that has the status
//! of before, or that of another request, only if no other attempt on the order can have moved it since
//! (any third status may be the work of a job); or, where the columns are mapped, if a `paid` order was
//! never paid and is closed, or the other way round.

use std::collections::{BTreeSet, HashMap};

use crate::codes::{I25, Severity};
use crate::history::{Attempt, Cause, OrderRow, Outcome};

use super::bench::Bench;
use super::index::{KeyGroup, may_have_acted};
use super::rows::Place;
use super::ruling::Ruling;
use super::words::{plural, thousands, times};
use super::{Evidence, Finding, Witness, answer, i25_agreed_answers, state};

/// Different statuses and bodies from which on no more are read.
const ENOUGH_STATUSES: usize = 50;
const ENOUGH_BODIES: usize = 20_000;

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let unreadable: Vec<&Attempt> = bench
        .case
        .history
        .attempts
        .iter()
        .filter(|it| it.outcome == Outcome::Unknown && it.cause != Cause::Prepare)
        .filter(|it| it.status.is_some_and(|status| (200..300).contains(&status)))
        .collect();
    let sold_out = sold_out(bench);
    let stale = stale(bench);
    let count = unreadable.len() + sold_out.len() + stale.len();
    let unknown = i25_agreed_answers::finding(bench);
    let detail = format!(
        "{} unreadable, {} untrue, {} unknown",
        thousands(unreadable.len() as u64),
        thousands((count - unreadable.len()) as u64),
        thousands(unknown.as_ref().map_or(0, |finding| finding.count))
    );
    let findings = [
        unread(bench, &unreadable),
        left_over(bench, &sold_out),
        contradicted(bench, &stale),
        unknown,
    ];
    Ruling::of(&I25, detail, findings.into_iter().flatten().collect())
}

/// Rejections for want of stock that was there.
fn sold_out<'a>(bench: &Bench<'a>) -> Vec<&'a Attempt> {
    let history = bench.case.history;
    let said = bench.columns.said;
    let has_stock = bench.case.profile.audit.stock.is_some() && said.product && said.quantity;
    // Whoever isn't recorded may have held some of the stock.
    let is_judged = has_stock && bench.knows_every_attempt();
    let Some(rows) = bench.rows.as_ref().filter(|_| is_judged) else { return Vec::new() };
    let mut rejected = history.attempts.iter().filter(|attempt| {
        attempt.outcome == Outcome::Refused && attempt.refusal.as_deref() == Some("business")
    });
    let Some(first) = rejected.next() else { return Vec::new() };
    let mut demand: HashMap<i64, i128> = HashMap::new();
    for attempt in history.attempts.iter().filter(|attempt| attempt.outcome.was_sent()) {
        let intent = history.intent(attempt.intent);
        *demand.entry(intent.product).or_default() += i128::from(intent.quantity);
    }
    for placed in rows.fresh.iter().filter(|placed| placed.place == Place::Foreign) {
        let product = placed.row.product.as_ref().and_then(|id| id.parse::<i64>().ok());
        if let Some(demand) = product.and_then(|product| demand.get_mut(&product)) {
            *demand = i128::MAX / 2; // What somebody else took in between isn't known.
        }
    }
    let wrong = |attempt: &&Attempt| {
        let intent = history.intent(attempt.intent);
        let name = intent.product.to_string();
        let at = |stock: &std::collections::BTreeMap<_, crate::history::StockRow>| {
            stock.get(name.as_str()).map(|row| i128::from(row.available))
        };
        let wanted = i128::from(intent.quantity);
        let (Some(before), Some(after)) =
            (at(&bench.case.baseline.stock), at(&rows.snapshot.stock))
        else {
            return false;
        };
        !bench.index.products_are_a_pool
            && before >= demand.get(&intent.product).copied().unwrap_or(i128::MAX / 2)
            && after >= wanted
            && state::says_sold_out(history, attempt)
    };
    std::iter::once(first).chain(rejected).filter(wrong).collect()
}

/// A reply whose status isn't the order's.
struct Stale<'a> {
    told: &'a Attempt,
    claimed: String,
    row: &'a OrderRow,
    by_columns: bool,
}

fn stale<'a>(bench: &Bench<'a>) -> Vec<Stale<'a>> {
    let mut stale = Vec::new();
    let Some(rows) = bench.rows.as_ref().filter(|_| bench.at_rest) else { return stale };
    let mut acting: HashMap<&str, Vec<&KeyGroup<'_>>> = HashMap::new();
    if bench.index.keys.iter().all(KeyGroup::places) {
        return stale;
    }
    let statuses = statuses(bench);
    for key in &bench.index.keys {
        if let Some(entity) = key.entity {
            acting.entry(entity).or_default().push(key);
        }
    }
    for key in &bench.index.keys {
        let Some((entity, row)) = key.entity.and_then(|it| Some((it, rows.by_id(it)?))) else {
            continue;
        };
        let told = key.attempts().iter().copied().filter(|it| it.outcome == Outcome::Acknowledged);
        let Some(told) = told.max_by_key(|it| (it.completed, it.id)) else { continue };
        let Some(claimed) = state::claimed(bench.case.history, told) else { continue };
        let Some(status) = row.status.as_deref() else { continue };
        let of_another = statuses.iter().any(|(request, known)| {
            *request != key.request() && known.eq_ignore_ascii_case(status)
        });
        if status.eq_ignore_ascii_case(&claimed) || !of_another {
            continue;
        }
        let by_columns = contradict(bench, &claimed, row);
        let may_have_moved_on = acting[entity].iter().any(|other| {
            let others =
                other.attempts().iter().filter(|it| it.id != told.id && may_have_acted(it));
            others.into_iter().any(|it| {
                let is_over = it.outcome.is_definite() && it.completed < told.first_byte;
                !is_over && bench.case.history.intent(it.intent).request != key.request()
            })
        });
        if by_columns || !may_have_moved_on {
            stale.push(Stale { told, claimed, row, by_columns });
        }
    }
    stale
}

/// The statuses that replies to each request name.
fn statuses<'a>(bench: &Bench<'a>) -> BTreeSet<(&'a str, String)> {
    let mut statuses = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let history = bench.case.history;
    for attempt in history.attempts.iter().filter(|it| it.outcome == Outcome::Acknowledged) {
        let request = history.intent(attempt.intent).request.as_str();
        // Bodies that differ in their ids only would all be read: a few of each request suffice.
        if statuses.len() < ENOUGH_STATUSES
            && seen.len() < ENOUGH_BODIES
            && seen.insert(attempt.body)
        {
            statuses.extend(state::claimed(history, attempt).map(|status| (request, status)));
        }
    }
    statuses
}

/// Whether the columns deny what a reply claims.
fn contradict(bench: &Bench<'_>, claimed: &str, row: &OrderRow) -> bool {
    let columns = &bench.case.profile.audit.orders;
    let are_mapped = columns.paid_at.is_some() && columns.closed_at.is_some();
    let paid = claimed.eq_ignore_ascii_case("paid") && row.paid_us.is_none();
    let closed = claimed.eq_ignore_ascii_case("closed") && row.closed_us.is_none();
    are_mapped && (paid && row.closed_us.is_some() || closed && row.paid_us.is_some())
}

fn unread(bench: &Bench<'_>, attempts: &[&Attempt]) -> Option<Finding> {
    let witness = attempts.iter().min_by_key(|it| (it.first_byte, it.id))?;
    let failure = |it: &Attempt| it.failure.as_deref().unwrap_or("no order id").to_owned();
    let mut evidence = Evidence::of(&["user", "key", "status", "what is wrong"]);
    for it in attempts {
        let intent = bench.case.history.intent(it.intent);
        let status = it.status.map_or_else(String::new, |status| status.to_string());
        evidence.rows.push(vec![
            intent.user.to_string(),
            intent.key.to_string(),
            status,
            failure(it),
        ]);
    }
    let count = attempts.len() as u64;
    let intent = bench.case.history.intent(witness.intent);
    Some(Finding {
        code: &I25,
        severity: Severity::Contract,
        title: format!("a success can't be read{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("what {} was answered", intent.key),
            attempts: vec![witness.id],
            orders: Vec::new(),
            product: Some(intent.product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "the client can't know its order, because {} got {}",
            bench.index.name_of(witness),
            failure(witness)
        )],
        help:
            "send the order's id with every success, replays included; or point `order-id` of the \
               request at it."
                .to_owned(),
    })
}

fn left_over(bench: &Bench<'_>, attempts: &[&Attempt]) -> Option<Finding> {
    let witness = attempts.iter().min_by_key(|it| (it.first_byte, it.id))?;
    let history = bench.case.history;
    let stock = |stock: &std::collections::BTreeMap<_, crate::history::StockRow>, product: i64| {
        let row = stock.get(product.to_string().as_str());
        row.map_or_else(|| "-".to_owned(), |row| thousands(row.available))
    };
    let after = bench.rows.as_ref().map(|rows| &rows.snapshot.stock)?;
    let mut evidence = Evidence::of(&["user", "key", "product", "wanted", "left at the end"]);
    for it in attempts {
        let intent = history.intent(it.intent);
        evidence.rows.push(vec![
            intent.user.to_string(),
            intent.key.to_string(),
            intent.product.to_string(),
            thousands(intent.quantity),
            stock(after, intent.product),
        ]);
    }
    let intent = history.intent(witness.intent);
    let count = attempts.len() as u64;
    Some(Finding {
        code: &I25,
        severity: Severity::Contract,
        title: format!("`sold out` while there was stock{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("how {} was told `sold out`", intent.key),
            attempts: vec![witness.id],
            orders: Vec::new(),
            product: Some(intent.product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "there was enough for {} at every moment, because it wanted {}, product {} had {} at the \
             baseline, which is enough for all attempts of the run together, and has {} at the end",
            bench.index.name_of(witness),
            plural(intent.quantity, "unit", "units"),
            intent.product,
            stock(&bench.case.baseline.stock, intent.product),
            stock(after, intent.product)
        )],
        help: "give each reason its own code: a stale fence or a lost lease isn't `sold out`."
            .to_owned(),
    })
}

fn contradicted(bench: &Bench<'_>, stale: &[Stale<'_>]) -> Option<Finding> {
    let witness = stale.first()?;
    let status = |row: &OrderRow| row.status.as_deref().unwrap_or("NULL").to_owned();
    let mut evidence = Evidence::of(&["order", "reply says", "row says", "told at"]);
    for it in stale {
        evidence.rows.push(vec![
            it.row.id.to_string(),
            it.claimed.clone(),
            status(it.row),
            it.told.completed.unwrap_or_default().to_string(),
        ]);
    }
    let count = stale.len() as u64;
    let name = bench.index.name_of(witness.told);
    Some(Finding {
        code: &I25,
        severity: Severity::Contract,
        title: format!("a reply names a status that the order hasn't got{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("what was said about order {}", witness.row.id),
            attempts: vec![witness.told.id],
            orders: vec![witness.row.id.to_string()],
            product: witness.row.product.as_ref().and_then(|id| id.parse().ok()),
            ..Witness::default()
        },
        therefore: vec![format!(
            "{name} was told what isn't so, because it got {} and `{}`, the row says {}, and {}",
            answer(witness.told),
            witness.claimed,
            status(witness.row),
            if witness.by_columns {
                "the time that would go with it is missing there"
            } else {
                "no other request can have moved the order since"
            }
        )],
        help: "act on a row count of 0: read the status and answer with that.".to_owned(),
    })
}
