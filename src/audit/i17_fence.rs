//! I17: fences rise, in the order of their grants and of the writes that were accepted under them.
//!
//! Judged where the profile names the stock's fence column. A fence is what a lock script, or a counter
//! beside it, answered to who got the lease; scripts that answer the same number to everybody count nothing.
//! Two grants have an order where the one was answered before the other was asked for. After Redis has
//! forgotten its counter two holders may have got one number, of which the shelf takes one: then only a
//! grant is wrong that isn't above what had been accepted before its request began. The stored fence, as
//! the snapshots show it, never goes back.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::codes::{I17, Severity};
use crate::history::{Role, RunTime, Wire};

use super::bench::Bench;
use super::faults::is_outage;
use super::lint::{Lint, Sight};
use super::locks::{is_positive, is_same_token};
use super::ruling::Ruling;
use super::steps::Placed;
use super::trace::{has_written, is_commit};
use super::words::{plural, times};
use super::{Evidence, Finding, Witness};

const HELP: &str = "draw the fence in the step that grants the lease, begin above the stored one when the counter \
                    is gone, and let the write check `last_fence < $fence`";

/// A fence that was handed out.
#[derive(Clone, Copy, Debug)]
struct Draw<'a> {
    at: Placed<'a>,
    fence: i64,
    product: i64,
    granted: RunTime,
}

/// A write of stock that was committed under a fence.
#[derive(Clone, Copy, Debug)]
struct Accepted<'a> {
    write: Placed<'a>,
    fence: i64,
    product: i64,
    done: RunTime,
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let has_column = bench.case.profile.audit.stock.as_ref().is_some_and(|it| it.fence.is_some());
    if !has_column || !bench.trace.is_watched() {
        return Ruling::default();
    }
    let backwards = backwards(bench);
    let draws = match bench.trace.has_every_step() {
        true => draws(bench),
        false => Vec::new(),
    };
    let accepted = accepted(bench, &draws);
    let mut sights = fallen(bench, &draws);
    sights.extend(below_the_stored(&draws, &accepted));
    sights.extend(late(&accepted));
    let lint = Lint { code: &I17, what: "a fence did not rise", help: HELP };
    let findings = lint.finding(bench, &sights).into_iter().chain(went_back(&backwards));
    let seen = plural(draws.len() as u64, "fence", "fences");
    let written = plural(accepted.len() as u64, "accepted write", "accepted writes");
    let detail = format!("{seen}, {written} under them");
    let of = draws.len() + backwards.len();
    Ruling::of(&I17, detail, findings.collect()).unless_none(of, "no fence was seen to be drawn")
}

/// The fences that were handed out, in the order in which they were asked for.
fn draws<'a>(bench: &Bench<'a>) -> Vec<Draw<'a>> {
    let locks = &bench.trace.locks;
    let mut last: HashMap<&str, Placed<'_>> = HashMap::new();
    let mut draws: Vec<Draw<'a>> = Vec::new();
    for at in bench.trace.steps.all().filter(|at| at.step.wire == Wire::Redis) {
        let step = at.step;
        let is_grant = locks.is_grant(step);
        let is_counter = step.role == Some(Role::Fence) && step.is_done() && is_positive(step);
        let Some(subject) = step.subject.as_deref().filter(|_| is_grant || is_counter) else {
            continue;
        };
        // Who enters again is told how often, or its own fence once more.
        let again = last.insert(subject, at).is_some_and(|it| is_same_token(it.step, step));
        let product = || Some(bench.case.history.intent(at.intent?).product);
        let fence = step.answer.as_deref().and_then(|answer| answer.parse().ok());
        if let (Some(fence), Some(product), Some(granted), false) =
            (fence, step.product.or_else(product), step.answered, again)
        {
            draws.push(Draw { at, fence, product, granted });
        }
    }
    // What answers the same to everybody says yes, and doesn't count.
    let mut answers: HashMap<String, BTreeSet<i64>> = HashMap::new();
    for draw in &draws {
        answers.entry(draw.at.step.name()).or_default().insert(draw.fence);
    }
    draws.retain(|draw| answers.get(&draw.at.step.name()).is_some_and(|all| all.len() > 1));
    draws
}

/// Writes of stock that were committed by requests with one fence.
fn accepted<'a>(bench: &Bench<'a>, draws: &[Draw<'a>]) -> Vec<Accepted<'a>> {
    let mut fences: HashMap<_, Option<&Draw<'a>>> = HashMap::new();
    for draw in draws {
        let Some(attempt) = draw.at.attempt else { continue };
        let one = fences.entry((attempt.id, draw.product)).or_insert(Some(draw));
        *one = one.filter(|it| it.fence == draw.fence);
    }
    let commits: HashMap<_, RunTime> = bench
        .trace
        .steps
        .all()
        .filter(|at| is_commit(at.step))
        .filter_map(|at| Some(((at.step.link, at.step.transaction?), at.step.answered?)))
        .collect();
    let is_write = |at: &Placed<'a>| at.step.role == Some(Role::StockWrite) && has_written(at.step);
    let mut accepted = Vec::new();
    for write in bench.trace.steps.all().filter(is_write) {
        let Some((attempt, intent)) = write.attempt.zip(write.intent) else { continue };
        let intents = bench.case.history.intent(intent).product;
        let product = write.step.product.unwrap_or(intents);
        let Some(Some(draw)) = fences.get(&(attempt.id, product)) else { continue };
        let done = match write.step.transaction {
            Some(transaction) => commits.get(&(write.step.link, transaction)).copied(),
            None => write.step.answered,
        };
        if let Some(done) = done.filter(|_| draw.granted <= write.step.earliest()) {
            accepted.push(Accepted { write, fence: draw.fence, product, done });
        }
    }
    accepted
}

/// Fences that aren't above one that had been handed out before they were asked for.
fn fallen<'a>(bench: &Bench<'a>, draws: &[Draw<'a>]) -> Vec<Sight<'a>> {
    let swaps = bench.faults.firings().filter(|(fault, _)| is_outage(fault, Wire::Redis));
    let mut swaps: Vec<RunTime> = swaps.map(|(_, shot)| shot.at).collect();
    swaps.sort_unstable();
    let epoch = |draw: &Draw<'_>| swaps.partition_point(|at| *at <= draw.at.step.asked);
    let mut groups: BTreeMap<(i64, usize), Vec<&Draw<'a>>> = BTreeMap::new();
    for draw in draws {
        groups.entry((draw.product, epoch(draw))).or_default().push(draw);
    }
    let mut sights = Vec::new();
    for group in groups.values() {
        let mut granted = group.clone();
        granted.sort_by_key(|draw| draw.granted);
        let mut highest: Option<&Draw<'a>> = None;
        let mut before = granted.into_iter().peekable();
        for draw in group {
            while let Some(one) = before.next_if(|one| one.granted < draw.at.step.earliest()) {
                highest = Some(
                    highest.map_or(one, |high| if one.fence > high.fence { one } else { high }),
                );
            }
            if let Some(one) = highest.filter(|one| one.fence >= draw.fence) {
                sights.push(sight(
                    &[&one.at, &draw.at],
                    draw.product,
                    format!(
                        "{} got {} at {}, although {} had got {} by {}",
                        draw.at.name(),
                        draw.fence,
                        draw.granted,
                        one.at.name(),
                        one.fence,
                        one.granted
                    ),
                ));
            }
        }
    }
    sights
}

/// Fences that aren't above one under which a write had been accepted before their requests began.
fn below_the_stored<'a>(draws: &[Draw<'a>], accepted: &[Accepted<'a>]) -> Vec<Sight<'a>> {
    let below = draws.iter().filter_map(|draw| {
        let begin = draw.at.attempt?.first_byte?;
        let stored = accepted.iter().filter(|it| it.product == draw.product && it.done < begin);
        let stored = stored.max_by_key(|it| it.fence).filter(|it| it.fence >= draw.fence)?;
        Some(sight(&[&stored.write, &draw.at], draw.product, format!(
            "the counter is below the stored fence, because {} got {} at {}, and {} had been committed \
             under {} by {}",
            draw.at.name(), draw.fence, draw.granted, stored.write.name(), stored.fence, stored.done
        )))
    });
    below.collect()
}

/// Writes that were accepted after one under a fence that isn't lower: another holder's, or its own, once
/// more.
fn late<'a>(accepted: &[Accepted<'a>]) -> Vec<Sight<'a>> {
    let late = accepted.iter().filter_map(|write| {
        let sent = write.write.step.earliest();
        let before = accepted.iter().filter(|it| it.product == write.product && it.done < sent);
        let newer = before.max_by_key(|it| it.fence).filter(|it| it.fence >= write.fence)?;
        let attempt = |it: &Accepted<'_>| it.write.attempt.map(|attempt| attempt.id);
        let who = match attempt(newer) == attempt(write) {
            true => "a write was accepted twice under one fence",
            false => "a late holder wrote",
        };
        Some(sight(&[&newer.write, &write.write], write.product, format!(
            "{who}, because {}, asked for at {sent}, was accepted under fence {}, after {} had been \
             committed under {} by {}",
            write.write.name(), write.fence, newer.write.name(), newer.fence, newer.done
        )))
    });
    late.collect()
}

fn sight<'a>(steps: &[&Placed<'a>], product: i64, because: String) -> Sight<'a> {
    let mut attempts: Vec<_> = steps.iter().filter_map(|at| at.attempt).collect();
    attempts.dedup_by_key(|attempt| attempt.id);
    Sight {
        attempts,
        subject: format!("product {product}"),
        steps: steps.iter().map(|at| **at).collect(),
        because,
    }
}

/// Products whose stored fence was lower in a later snapshot: product, before, after.
fn backwards(bench: &Bench<'_>) -> Vec<(String, i64, i64)> {
    let mut highest: BTreeMap<&str, i64> = BTreeMap::new();
    let mut backwards = Vec::new();
    let all = std::iter::once(bench.case.baseline).chain(bench.snapshots().map(|(_, it)| it));
    for snapshot in all {
        for (product, row) in &snapshot.stock {
            let Some(fence) = row.fence else { continue };
            let high = highest.entry(product).or_insert(fence);
            if fence < *high {
                backwards.push((product.clone(), *high, fence));
            }
            *high = (*high).max(fence);
        }
    }
    backwards
}

fn went_back(backwards: &[(String, i64, i64)]) -> Option<Finding> {
    let (product, before, after) = backwards.first()?;
    let mut evidence = Evidence::of(&["product", "stored before", "stored after"]);
    for (product, before, after) in backwards {
        evidence.rows.push(vec![product.clone(), before.to_string(), after.to_string()]);
    }
    Some(Finding {
        code: &I17,
        severity: Severity::Critical,
        title: format!("the stored fence went back{}", times(backwards.len() as u64)),
        count: backwards.len() as u64,
        evidence,
        witness: Witness {
            heading: format!("what was stored for product {product}"),
            product: product.parse().ok(),
            ..Witness::default()
        },
        therefore: vec![format!(
            "a write under an older fence was accepted, because {before} was stored for product {product}, \
             and later {after}"
        )],
        help: HELP.to_owned(),
    })
}
