//! L12: who has nothing in common with a request doesn't wait for it.
//!
//! Judged while a fault held a request at its COMMIT or at a payment. Another intent's request that was
//! under way then, wants another product for another user, and was answered only after the hold, waited for
//! it, if the wires show what it waited at: a lock that the held request had, or a statement that was sent
//! during the hold and answered behind it. At a payment no transaction should be open at all, so there a
//! statement of anybody's counts. The data stay right; it is their throughput that doesn't.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use crate::codes::L12;
use crate::history::{Attempt, FiringEnd, Intent, IntentId, LinkId, RunTime, Wire};

use super::bench::Bench;
use super::faults::{Fault, Kind, Shot, maker};
use super::lint::{Lint, Sight};
use super::locks::{is_bid, is_positive, is_removal};
use super::ruling::Ruling;
use super::steps::Placed;
use super::words::{plural, span};

/// In a crowd everybody waits for the machine, and nobody can tell for whom else.
const CROWD: usize = 200;
/// What is shorter is no wait.
const WAIT: Duration = Duration::from_millis(20);

/// So many equal refusals are a wait.
const POLLS: usize = 3;

const LINT: Lint = Lint {
    code: &L12,
    what: "a request waited for one that it has nothing in common with",
    help: "name what a lock protects in its key; call nobody from within a transaction",
};

const PAYMENT: Lint = Lint {
    code: &L12,
    what: "a request waited for a payment that it has no part in",
    help: "commit before the provider is called, and write what it said in a transaction of its own",
};

/// A request that was held.
struct Held<'b, 'a> {
    shot: &'b Shot<'a>,
    intent: &'a Intent,
    is_payment: bool,
    begin: RunTime,
    end: RunTime,
    /// Locks that it had all the time.
    keys: Vec<&'a str>,
    /// Somebody's vain bid for a lock that names nobody.
    vain: Option<Placed<'a>>,
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let all: Vec<&Shot<'_>> = bench.faults.firings().map(|(_, shot)| shot).collect();
    let holds: Vec<Held<'_, '_>> = bench
        .faults
        .firings()
        .filter(|(_, shot)| is_alone(shot, &all))
        .filter_map(|(fault, shot)| held(bench, fault, shot))
        .collect();
    if holds.is_empty() {
        return Ruling::default();
    }
    if !bench.trace.has_every_step() {
        return Ruling::not_judged(&L12, "steps or attempts may be missing");
    }
    let fired: HashSet<(LinkId, RunTime)> = bench
        .faults
        .firings()
        .filter_map(|(_, shot)| shot.firing.step.as_ref())
        .map(|step| (step.link, step.asked))
        .collect();
    let mut strangers = 0;
    let mut sights = Vec::new();
    let mut seen: BTreeSet<IntentId> = BTreeSet::new();
    let mut steps: HashMap<IntentId, Vec<Placed<'_>>> = HashMap::new();
    for hold in &holds {
        // A crowd has many attempts of each intent, and they share what was seen of it.
        let mut asked: HashSet<IntentId> = HashSet::new();
        let meanwhile = bench.case.history.attempts.iter().filter(|it| is_meanwhile(hold, it));
        let meanwhile: Vec<&Attempt> = meanwhile.collect();
        if meanwhile.len() > CROWD {
            continue;
        }
        if hold.is_payment {
            // One of them is the one that pays.
            strangers += meanwhile.len().saturating_sub(1) as u64;
            sights.extend(behind_payment(bench, hold, &fired, &meanwhile));
            continue;
        }
        for attempt in meanwhile {
            let intent = bench.case.history.intent(attempt.intent);
            if !is_stranger(hold, intent) {
                continue;
            }
            strangers += 1;
            if attempt.completed.is_none_or(|end| end >= hold.end)
                && !seen.contains(&intent.id)
                && asked.insert(intent.id)
                && let own = steps
                    .entry(intent.id)
                    .or_insert_with(|| bench.trace.steps.of_intent(intent.id).collect())
                && let Some(sight) = waited(bench, hold, &fired, attempt, own)
            {
                seen.insert(intent.id);
                sights.push(sight);
            }
        }
    }
    let detail = format!(
        "{} of {} waited for a held one",
        sights.len(),
        plural(strangers, "request beside it", "requests beside it")
    );
    let lint = if holds.iter().all(|hold| hold.is_payment) { PAYMENT } else { LINT };
    Ruling::of(&L12, detail, lint.finding(bench, &sights).into_iter().collect())
        .unless_none(strangers as usize, "nobody else was under way during a hold")
}

/// Whether nothing else was done to the target while this lasted. Of several holds at once nobody can tell
/// which one is waited for, or whether it is only the crowd.
fn is_alone(shot: &Shot<'_>, all: &[&Shot<'_>]) -> bool {
    let end = |shot: &Shot<'_>| shot.end.map_or(RunTime(u64::MAX), |(end, _)| end);
    let meets = |other: &&&Shot<'_>| {
        !std::ptr::eq(**other, shot) && other.at <= end(shot) && end(other) >= shot.at
    };
    all.iter().find(meets).is_none()
}

fn held<'b, 'a>(bench: &Bench<'a>, fault: &Fault<'a>, shot: &'b Shot<'a>) -> Option<Held<'b, 'a>> {
    let step = shot.firing.step.as_ref()?;
    let is_payment = step.wire == Wire::Http;
    let is_commit = step.wire == Wire::Postgres && step.name.starts_with("postgres COMMIT");
    let (end, how) = shot.end?;
    let is_own = matches!(how, FiringEnd::OwnHold);
    let is_somebodys = step.intent.is_some() || is_payment;
    if fault.kind() != Kind::Wait || !(is_payment || is_commit) || is_own || !is_somebodys {
        return None;
    }
    let whose = step.intent.or(step.among.first().copied())?;
    let intent = bench.case.history.intents.get(whose.0 as usize)?;
    let (begin, keys, vain) = (shot.at, Vec::new(), None);
    let mut held = Held { shot, intent, is_payment, begin, end, keys, vain };
    held.keys = kept(bench, &held);
    held.vain = refused_to_all(bench, &held);
    Some(held)
}

fn is_meanwhile(hold: &Held<'_, '_>, attempt: &Attempt) -> bool {
    attempt.outcome.was_sent()
        && attempt.first_byte.is_some_and(|first| first.plus(WAIT) <= hold.end)
        && attempt.completed.is_none_or(|end| end > hold.begin)
}

fn is_stranger(hold: &Held<'_, '_>, intent: &Intent) -> bool {
    let own = hold.intent;
    intent.id != own.id
        && intent.user != own.user
        && intent.key != own.key
        && intent.product != own.product
        && (intent.entity.is_none() || intent.entity != own.entity)
}

/// What a request waited at until the hold was over, as far as the wires show it.
fn waited<'a>(
    bench: &Bench<'a>,
    hold: &Held<'_, 'a>,
    fired: &HashSet<(LinkId, RunTime)>,
    attempt: &'a Attempt,
    steps: &[Placed<'a>],
) -> Option<Sight<'a>> {
    let is_held_itself = |at: &Placed<'_>| fired.contains(&(at.step.link, at.step.asked));
    let blocked = steps.iter().find(|at| is_behind(hold, at) && !is_held_itself(at));
    let refused = || steps.iter().find(|at| is_refused_by(bench, hold, at));
    let polls = || polled(bench, hold, steps);
    let at = blocked.or_else(refused).copied().or_else(polls).or(hold.vain)?;
    let waited = hold.end.since(at.step.asked.max(hold.begin));
    let what = match at.step.wire {
        Wire::Redis => "was refused the lock that the held request had",
        _ => "got no answer",
    };
    let name = hold.shot.firing.step.as_ref().map_or("", |step| &step.name);
    let because = format!(
        "{} waited at least {}, because {} of it {what} from {} until {name} of {} was let go at {}, and the \
         two share neither user, key nor product",
        bench.case.history.intent(attempt.intent).key,
        span(waited),
        at.name(),
        at.step.asked,
        hold.intent.key,
        hold.end
    );
    let subject = at.step.subject.as_deref().or(at.step.object.as_deref()).unwrap_or("a statement");
    // Who was held stands beside who waited, so that the story has both.
    let maker = maker(&bench.case, hold.shot);
    let attempts = bench.case.history.attempts.iter();
    let attempts = attempts.filter(|it| it.id == attempt.id || Some(it.id) == maker).collect();
    Some(Sight { attempts, subject: subject.to_owned(), steps: vec![at], because })
}

/// Whether a statement was under way when a hold ended, and had been for a while.
fn is_behind(hold: &Held<'_, '_>, at: &Placed<'_>) -> bool {
    at.step.wire == Wire::Postgres
        && at.step.forwarded.is_some_and(|sent| sent.plus(WAIT) <= hold.end)
        && at.step.answered.is_some_and(|answered| answered >= hold.end)
}

/// A statement of whomever that was answered only once a payment went on, as far as a request waited too.
fn behind_payment<'a>(
    bench: &Bench<'a>,
    hold: &Held<'_, 'a>,
    fired: &HashSet<(LinkId, RunTime)>,
    meanwhile: &[&'a Attempt],
) -> Option<Sight<'a>> {
    let late: Vec<&Attempt> = meanwhile
        .iter()
        .copied()
        .filter(|it| it.completed.is_none_or(|end| end >= hold.end))
        .collect();
    let at = bench.trace.steps.all().find(|at| {
        is_behind(hold, at)
            && at.step.forwarded >= Some(hold.begin)
            && !fired.contains(&(at.step.link, at.step.asked))
    })?;
    if late.len() < 2 {
        return None;
    }
    let because = format!(
        "{} waited at least {}, because it was sent at {} while {} was held, and got no answer until that \
         was let go at {}; a payment should keep nothing locked",
        at.name(),
        span(hold.end.since(at.step.asked)),
        at.step.asked,
        hold.shot.firing.step.as_ref().map_or("a payment", |step| &step.name),
        hold.end
    );
    let subject = at.step.object.as_deref().unwrap_or("a statement").to_owned();
    Some(Sight { attempts: late, subject, steps: vec![at], because })
}

/// A lock that names neither an intent nor a product, which one token had all the time, and which was
/// refused to another one meanwhile: whoever was under way waited for it.
fn refused_to_all<'a>(bench: &Bench<'a>, hold: &Held<'_, 'a>) -> Option<Placed<'a>> {
    let locks = &bench.trace.locks;
    let of_nobody = locks.keys().filter(|(_, steps)| {
        steps.iter().all(|at| at.intent.is_none() && at.step.product.is_none())
    });
    of_nobody.into_iter().find_map(|(_, steps)| {
        let before = steps.iter().rfind(|at| {
            locks.is_grant(at.step) && at.step.answered.is_some_and(|at| at <= hold.begin)
        })?;
        let is_within =
            |at: &&Placed<'a>| at.step.asked > before.step.asked && at.step.asked < hold.end;
        let meanwhile = || steps.iter().filter(is_within);
        let is_kept = !meanwhile().any(|at| locks.is_grant(at.step) || is_removal(at.step));
        let is_vain = |at: &&Placed<'a>| {
            let is_another = at.step.token.is_some() && at.step.token != before.step.token;
            is_bid(at.step) && at.step.is_done() && is_another && at.step.asked > hold.begin
        };
        meanwhile().find(is_vain).filter(|_| is_kept).copied()
    })
}

/// A key that a request asked for again and again, and always in vain, until the hold was over (S02), and on
/// which the held request was at work before and afterwards: a lock, whatever its script is called.
fn polled<'a>(bench: &Bench<'a>, hold: &Held<'_, 'a>, steps: &[Placed<'a>]) -> Option<Placed<'a>> {
    let is_vain = |at: &&Placed<'a>| {
        at.step.wire == Wire::Redis
            && at.step.is_done()
            && !is_positive(at.step)
            && at.step.asked > hold.begin
            && at.step.asked < hold.end
    };
    let vain: Vec<&Placed<'a>> = steps.iter().filter(is_vain).collect();
    let is_same = |one: &Placed<'_>, other: &Placed<'_>| {
        one.step.subject.is_some()
            && (&one.step.subject, &one.step.verb, &one.step.answer)
                == (&other.step.subject, &other.step.verb, &other.step.answer)
    };
    let again = |at: &&&Placed<'a>| vain.iter().filter(|it| is_same(it, at)).count() >= POLLS;
    let first = vain.iter().find(again)?;
    let of_key = |at: &Placed<'_>| at.step.subject == first.step.subject;
    let own: Vec<Placed<'a>> = bench.trace.steps.of_intent(hold.intent.id).filter(of_key).collect();
    let had = own.iter().any(|at| {
        is_positive(at.step) && at.step.answered.is_some_and(|answered| answered <= hold.begin)
    });
    let gave_up = own.iter().any(|at| is_positive(at.step) && at.step.asked >= hold.end);
    (had && gave_up).then_some(**first)
}

/// Whether a step asked in vain for a lock that the held intent had all the time.
fn is_refused_by(bench: &Bench<'_>, hold: &Held<'_, '_>, at: &Placed<'_>) -> bool {
    let is_vain = is_bid(at.step) && at.step.is_done() && !bench.trace.locks.is_grant(at.step);
    is_vain
        && at.step.asked > hold.begin
        && at.step.asked < hold.end
        && at.step.subject.as_deref().is_some_and(|key| hold.keys.contains(&key))
}

/// The locks that a held intent had from before its hold until after it.
fn kept<'a>(bench: &Bench<'a>, hold: &Held<'_, 'a>) -> Vec<&'a str> {
    let of_held: Vec<Placed<'a>> = bench.trace.steps.of_intent(hold.intent.id).collect();
    let holds = bench.trace.locks.held_by(&of_held).into_iter().filter(|it| {
        it.grant.step.answered.is_some_and(|granted| granted <= hold.begin)
            && it.released.is_none_or(|end| end.step.asked >= hold.end)
    });
    holds.filter_map(|it| it.grant.step.subject.as_deref()).collect()
}
