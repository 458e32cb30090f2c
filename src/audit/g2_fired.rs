//! G2: every fault that was planned fired, at its step, as often as planned, and had an effect.
//!
//! A rule's own word is no proof: a firing counts with what the other side showed of it, and with its end.
//! What wasn't armed, didn't fire or did nothing leaves a drill that proves nothing about it.

use std::collections::BTreeMap;

use crate::codes::G2;
use crate::history::{FiredStep, Role, Step};
use crate::profile::{self, Act, StepTrigger, Trigger};

use super::bench::Bench;
use super::faults::{Fault, Shot};
use super::ruling::Ruling;
use super::words::{list, plural, spelled, thousands, verb};

/// Names that are shown in place of one that no step has.
const NEAREST: usize = 3;

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let faults = &bench.faults.all;
    let unplanned = unplanned(bench);
    if faults.is_empty() && unplanned.is_empty() {
        return Ruling::default();
    }
    let mut troubles: Vec<(String, String)> =
        faults.iter().filter_map(|fault| trouble(bench, fault)).collect();
    troubles.extend(unplanned.into_iter().map(|fault| not_armed(&fault.name())));
    let mut troubles = troubles.into_iter();
    let Some((what, cure)) = troubles.next() else {
        let firings: usize = faults.iter().map(|fault| fault.firings.len()).sum();
        let of = plural(faults.len() as u64, "fault", "faults");
        let firings = plural(firings as u64, "time", "times");
        return Ruling::held(&G2, format!("{of} fired {firings}, each with an effect"));
    };
    let missed = Ruling::missed(&G2, what, cure);
    troubles.fold(missed, |ruling, (what, cure)| ruling.doubting(&G2, what, cure))
}

/// Faults of phases that were begun, of which the journal has no plan.
fn unplanned<'a>(bench: &Bench<'a>) -> Vec<&'a profile::Fault> {
    let has_begun = |place: usize| {
        bench.case.history.phases.iter().any(|phase| usize::from(phase.id.0) == place)
    };
    let phases = bench.case.profile.phases.iter().enumerate();
    let begun = phases.filter(|(place, _)| has_begun(*place));
    let is_missing = |fault: &&profile::Fault| {
        let is_it = |said: Option<&profile::Fault>| said.is_some_and(|said| said == *fault);
        !bench.faults.all.iter().any(|planned| is_it(planned.said))
    };
    begun.flat_map(|(_, phase)| &phase.faults).filter(is_missing).collect()
}

fn not_armed(name: &str) -> (String, String) {
    (
        format!("`{name}` was not armed, so that what holds holds without it"),
        "arm it: take `armed = false` out of its table, and see that its phase was reached"
            .to_owned(),
    )
}

/// Why a fault proves too little, and what to do.
fn trouble(bench: &Bench<'_>, fault: &Fault<'_>) -> Option<(String, String)> {
    let (name, due) = (&fault.plan.name, u64::from(fault.plan.at_least));
    if fault.armed.is_none() {
        return Some(not_armed(name));
    }
    let fired = fault.firings.len() as u64;
    let of = |count: u64| format!("{} of {}", thousands(count), plural(fired, "firing", "firings"));
    let count = |is: &dyn Fn(&Shot<'_>) -> bool| {
        fault.firings.iter().filter(|shot| is(shot)).count() as u64
    };
    if fired == 0 || fired < due {
        return Some(not_fired(bench, fault, fired));
    }
    let astray = count(&|shot| !is_at_its_step(bench, fault, shot));
    if astray > 0 {
        let what = format!("`{name}` fired elsewhere than at its step: {}", of(astray));
        return Some((what, "report this: it is a mistake of dupeproof's".to_owned()));
    }
    let mute = count(&|shot| !shot.has_effect_of(&fault.plan.act));
    if fired - mute < due.max(1) {
        let what = format!("`{name}` fired, but the other side shows no effect of {}", of(mute));
        let cure = "see in the journal (`fault`) what was there at that moment: a key that was gone, a \
                    connection that nobody used any more";
        return Some((what, cure.to_owned()));
    }
    let open = count(&|shot| shot.end.is_none());
    if open > 0 {
        let what = format!("`{name}` has no end on record for {}", of(open));
        return Some((what, "run it again, up to its end".to_owned()));
    }
    None
}

/// Whether a firing took place where its trigger says.
fn is_at_its_step(bench: &Bench<'_>, fault: &Fault<'_>, shot: &Shot<'_>) -> bool {
    let Some(profile::Fault { at: Trigger::Step(trigger), act, .. }) = fault.said else {
        return true;
    };
    // What isn't done on the step's own wire fires once more, while the step waits for it.
    let Some(step) = &shot.firing.step else {
        return matches!(act, Act::Partition(_) | Act::SwapUpstream { .. });
    };
    if matches!(act, Act::Expire(_)) && is_renewal(bench, step) {
        return true;
    }
    let fits = trigger.step.as_ref().is_none_or(|pattern| {
        let words = step.name.split_once(' ').map_or("", |(_, words)| words);
        let (verb, object) = match words.split_once(' ') {
            Some((verb, object)) => (verb, Some(object)),
            None => (words, None),
        };
        pattern.fits(step.wire, verb, object)
    });
    fits && step.point == trigger.point
}

/// Renewals are withheld while time passes.
fn is_renewal(bench: &Bench<'_>, fired: &FiredStep) -> bool {
    let mut steps = bench.case.history.steps.iter();
    let step = steps.find(|step| step.link == fired.link && step.asked == fired.asked);
    step.is_some_and(|step| step.role == Some(Role::Renew))
}

fn not_fired(bench: &Bench<'_>, fault: &Fault<'_>, fired: u64) -> (String, String) {
    let name = &fault.plan.name;
    let due = u64::from(fault.plan.at_least.max(1));
    let fired = match fired {
        0 => format!("`{name}` never fired"),
        _ => format!("`{name}` fired {} and not {} times", times(fired), spelled(due)),
    };
    let Some(profile::Fault { at: Trigger::Step(trigger), .. }) = fault.said else {
        let cure = "let the phase last longer than it takes until the fault is due";
        return (fired, cure.to_owned());
    };
    let passed = bench.case.history.steps.iter().filter(|step| {
        let is_since = fault.armed.is_none_or(|armed| step.asked >= armed);
        is_since
            && fault.healed.is_none_or(|healed| step.asked <= healed)
            && has_name(trigger, step)
    });
    let passed = passed.count() as u64;
    let wanted = wanted(trigger);
    if passed > 0 {
        let steps = plural(passed, "step", "steps");
        let what = format!(
            "{fired}: {steps} named \"{wanted}\" passed while it was armed, and none more that the rest \
             of its rule fits"
        );
        let cure = "compare the rest of the rule (`nth`, `of`, `instance`, `key`, `sql`) with the steps in \
                    the journal";
        return (what, cure.to_owned());
    }
    let nearest = nearest(&bench.case.history.steps, &wanted);
    let seen = match nearest.as_slice() {
        [] => "; the wires saw no step at all".to_owned(),
        names => format!("; seen were {}", list(names, NEAREST)),
    };
    (
        format!("{fired}: no step named \"{wanted}\" passed while it was armed{seen}"),
        "give the step a name that was seen, or let the load take the way that leads past it"
            .to_owned(),
    )
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{} {}", spelled(count), verb(count, "time", "times")),
    }
}

fn has_name(trigger: &StepTrigger, step: &Step) -> bool {
    let fits = trigger
        .step
        .as_ref()
        .is_none_or(|pattern| pattern.fits(step.wire, &step.verb, step.object.as_deref()));
    fits && trigger.role.is_none_or(|role| step.role == Some(role))
}

fn wanted(trigger: &StepTrigger) -> String {
    let by_role = || trigger.role.map_or_else(|| "*".to_owned(), |role| role.name().to_owned());
    trigger.step.as_ref().map_or_else(by_role, ToString::to_string)
}

/// The names of steps that are most like one, the likest first.
fn nearest(steps: &[Step], wanted: &str) -> Vec<String> {
    let kinds = steps.iter().map(|step| ((step.wire, &step.verb, &step.object), step));
    let kinds: BTreeMap<_, &Step> = kinds.collect();
    let mut names: Vec<String> =
        kinds.values().map(|step| format!("\"{}\"", step.name())).collect();
    let likeness = |name: &String| strsim::jaro_winkler(name.trim_matches('"'), wanted);
    names.sort_by(|one, other| likeness(other).total_cmp(&likeness(one)).then(one.cmp(other)));
    names.truncate(NEAREST);
    names
}
