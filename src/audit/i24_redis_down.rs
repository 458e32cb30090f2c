//! I24: while Redis can't be reached, or has forgotten everything, the target does what its contract says,
//! and the data stay right.
//!
//! What was broken of the data (I01 to I05) by intents that were under way in such a time is told here once
//! more: it is the lost Redis that it is to be blamed on. What the target answers is judged for partitions
//! alone, by requests that were sent after the cut and answered before the heal.

use std::collections::BTreeSet;

use crate::codes::{I01, I02, I03, I03B, I03C, I04, I05, I24, Severity};
use crate::history::{Attempt, IntentId, Outcome, RunTime, Wire};
use crate::profile::{RedisDown, Target};

use super::bench::Bench;
use super::circle::Circle;
use super::faults::{Fault, Shot, is_outage};
use super::ruling::Ruling;
use super::words::{list, plural, times};
use super::{Evidence, Finding, GateState, Witness, answer};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let outages = outages(bench).count() as u64;
    if outages == 0 {
        return Ruling::default();
    }
    let odd = odd(bench);
    let detail = match declared(bench) {
        Some(down) => format!(
            "{}, declared `{}`",
            plural(outages, "outage of Redis", "outages of Redis"),
            down.word()
        ),
        None => plural(outages, "outage of Redis", "outages of Redis"),
    };
    Ruling::of(&I24, detail, other_than_declared(bench, &odd).into_iter().collect())
}

/// Adds what the other checks found about data that was written while Redis was away.
pub(super) fn add_data(bench: &Bench<'_>, rulings: &mut [Ruling]) {
    let hit = outages(bench).flat_map(|(_, shot)| under_way(bench, shot));
    let hit: BTreeSet<IntentId> = hit.collect();
    let circle = Circle::of(bench, hit);
    if circle.is_empty() {
        return;
    }
    let data = [&I01, &I02, &I03, &I03B, &I03C, &I04, &I05];
    let broken = rulings.iter().flat_map(|ruling| &ruling.findings).filter(|finding| {
        data.contains(&finding.code)
            && finding.severity.fails_the_gate()
            && !circle.lines(bench, finding).is_empty()
    });
    let found: Vec<Finding> = broken.cloned().collect();
    let Some(finding) = beside(bench, &found) else { return };
    let is_own = |ruling: &&mut Ruling| ruling.gate.as_ref().is_some_and(|it| it.code == &I24);
    if let Some(ruling) = rulings.iter_mut().find(is_own) {
        ruling.findings.insert(0, finding);
        if let Some(gate) = &mut ruling.gate {
            gate.state = GateState::Broken;
        }
    }
}

/// Firings that took Redis away, with an effect.
fn outages<'b, 'a>(bench: &'b Bench<'a>) -> impl Iterator<Item = (&'b Fault<'a>, &'b Shot<'a>)> {
    let of_redis = |(fault, shot): &(&Fault<'_>, &Shot<'_>)| {
        is_outage(fault, Wire::Redis) && shot.has_effect()
    };
    bench.faults.firings().filter(of_redis)
}

fn under_way(bench: &Bench<'_>, shot: &Shot<'_>) -> Vec<IntentId> {
    let (begin, end) = (shot.window.begin, shot.window.end);
    let attempts = bench.case.history.attempts.iter();
    let there = attempts.filter(|it| shot.firing.instance.is_none_or(|id| it.instance == id));
    let meets = there.filter(|it| {
        it.first_byte.is_some_and(|first| first <= end)
            && it.completed.is_none_or(|last| last >= begin)
    });
    meets.map(|it| it.intent).chain(shot.named()).collect()
}

/// What the contract says; a lab's shop says it in its settings.
fn declared(bench: &Bench<'_>) -> Option<RedisDown> {
    let profile = bench.case.profile;
    let of_lab = || match profile.lab.redis_down {
        _ if profile.target != Target::Lab => None,
        "reject" => Some(RedisDown::Reject),
        _ => Some(RedisDown::Database),
    };
    profile.contract.redis_down.or_else(of_lab)
}

/// Attempts that began and ended while their instance was cut off from Redis, and whose answers aren't
/// what was declared.
fn odd<'a>(bench: &Bench<'a>) -> Vec<&'a Attempt> {
    let Some(declared) = declared(bench) else { return Vec::new() };
    let cuts = outages(bench).filter(|(fault, _)| fault.plan.act == "partition");
    let cuts = cuts.map(|(fault, shot)| {
        let healed = shot.window.healed.or(fault.healed).unwrap_or(RunTime(u64::MAX));
        (shot.firing.instance, shot.at, healed)
    });
    let cuts: Vec<_> = cuts.collect();
    let is_within = |attempt: &&Attempt| {
        cuts.iter().any(|&(instance, begin, end)| {
            instance.is_none_or(|id| attempt.instance == id)
                && attempt.first_byte.is_some_and(|first| first > begin)
                && attempt.completed.is_some_and(|last| last < end)
        })
    };
    let is_odd = |attempt: &&Attempt| match declared {
        RedisDown::Degrade => false,
        RedisDown::Reject => is_new(bench, attempt),
        RedisDown::Database => {
            attempt.status.is_some_and(|status| status >= 500) && attempt.failure.is_none()
        }
    };
    bench.case.history.attempts.iter().filter(is_within).filter(is_odd).collect()
}

/// Whether an acknowledgement is no replay of an earlier one.
fn is_new(bench: &Bench<'_>, attempt: &Attempt) -> bool {
    let (group, _) = bench.index.seat_of(attempt);
    let is_earlier = |other: &&Attempt| {
        other.outcome != Outcome::NotSent && other.first_byte < attempt.first_byte
    };
    attempt.outcome == Outcome::Acknowledged
        && !bench.index.keys[group].attempts().iter().any(is_earlier)
}

fn other_than_declared(bench: &Bench<'_>, odd: &[&Attempt]) -> Option<Finding> {
    let first = odd.iter().min_by_key(|it| (it.first_byte, it.id))?;
    let declared = declared(bench)?.word();
    let mut evidence = Evidence::of(&["user", "key", "sent at", "answered at", "answer"]);
    for attempt in odd {
        let intent = bench.case.history.intent(attempt.intent);
        evidence.rows.push(vec![
            intent.user.clone(),
            intent.key.clone(),
            attempt.first_byte.unwrap_or_default().to_string(),
            attempt.completed.unwrap_or_default().to_string(),
            answer(attempt),
        ]);
    }
    let intent = bench.case.history.intent(first.intent);
    let count = odd.len() as u64;
    Some(Finding {
        code: &I24,
        severity: Severity::Contract,
        title: format!("without Redis an answer was not the declared one{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("what {} was told while Redis was cut off", intent.key),
            attempts: vec![first.id],
            orders: first.order.iter().map(ToString::to_string).collect(),
            product: Some(intent.product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "the contract says `{declared}`, and {} was sent after the cut and got {} before it was healed",
            bench.index.name_of(first),
            answer(first)
        )],
        help: "decide in one place what happens without Redis; or declare what does in \
               `contract.redis-down`."
            .to_owned(),
    })
}

fn beside(bench: &Bench<'_>, found: &[Finding]) -> Option<Finding> {
    let first = found.first()?;
    let mut evidence = Evidence::of(&["what broke", "how"]);
    for finding in found {
        evidence.rows.push(vec![finding.code.id.to_owned(), finding.title.clone()]);
    }
    let mut ids: Vec<&str> = found.iter().map(|finding| finding.code.id).collect();
    ids.dedup();
    let (fault, shot) = outages(bench).next()?;
    Some(Finding {
        code: &I24,
        severity: Severity::Critical,
        title: format!("without Redis the data did not stay right: {}", list(&ids, 5)),
        count: found.len() as u64,
        evidence,
        witness: Witness { steps: Vec::new(), ..first.witness.clone() },
        therefore: vec![format!(
            "what Redis keeps out nothing else did, because `{}` began at {}, and {} is broken for \
             requests that were under way then or until it was over",
            fault.plan.name,
            shot.window.begin,
            list(&ids, 5)
        )],
        help: "let the database decide by itself: a unique index, a conditional update and a fence need \
               no Redis."
            .to_owned(),
    })
}
