//! R6: where the contract marks replays, at most one acknowledgement of an intent comes unmarked.
//!
//! A marker is evidence, never proof: a marked reply whose first answer was lost is fine. So none
//! unmarked is held against the target only if nothing but the acknowledged attempts of the key can
//! have placed the order.

use crate::codes::{R6, Severity};
use crate::history::{Attempt, Outcome};

use super::bench::Bench;
use super::index::{KeyGroup, Variant, may_have_acted};
use super::ruling::Ruling;
use super::words::{plural, thousands, times};
use super::{Evidence, Finding, Witness, answer};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let Some(marker) = &bench.contract().replay_marker else {
        return Ruling::not_judged(&R6, "the contract has no replay marker");
    };
    let mut of = 0;
    let mut wrong: Vec<(&KeyGroup<'_>, Vec<&Attempt>)> = Vec::new();
    let mut firstless: Vec<(&KeyGroup<'_>, &Attempt)> = Vec::new();
    for (_, key) in bench.index.placing() {
        firstless.extend(marked_first(bench, key).map(|first| (key, first)));
        for variant in &key.variants {
            of += u64::from(variant.acknowledged().nth(1).is_some());
            let unmarked: Vec<&Attempt> =
                variant.acknowledged().filter(|it| it.replay_marker == Some(false)).collect();
            if unmarked.len() > 1 {
                wrong.push((key, unmarked));
            }
        }
    }
    let detail = format!(
        "{} of {} several unmarked answers",
        thousands(wrong.len() as u64),
        plural(of, "repeated intent got", "repeated intents got")
    );
    let findings = [finding(bench, marker, &wrong), without_first(bench, marker, &firstless)];
    Ruling::of(&R6, detail, findings.into_iter().flatten().collect())
}

/// The first acknowledgement of a key of which all are marked although one must have been the first.
fn marked_first<'a>(bench: &Bench<'a>, key: &KeyGroup<'a>) -> Option<&'a Attempt> {
    let contract = bench.contract();
    let may_be_anothers = contract.window.is_some() || !contract.one_order_per.is_empty();
    let is_marked = |it: &&Attempt| it.replay_marker == Some(true);
    let has_acted = |it: &&&'a Attempt| may_have_acted(it);
    let mut acted = key.attempts().iter().filter(has_acted);
    let all = acted.all(|it| it.outcome == Outcome::Acknowledged && is_marked(it));
    let told = key.variants.iter().filter_map(Variant::first_acknowledged);
    let first = told.min_by_key(|it| (it.completed, it.id))?;
    (all && !may_be_anothers && bench.knows_every_attempt()).then_some(first)
}

fn without_first(
    bench: &Bench<'_>,
    marker: &str,
    wrong: &[(&KeyGroup<'_>, &Attempt)],
) -> Option<Finding> {
    let &(key, first) = wrong.first()?;
    let mut evidence = Evidence::of(&["user", "key", "first answer"]);
    for (key, first) in wrong {
        let row = [key.user, key.key, &answer(first)];
        evidence.rows.push(row.map(str::to_owned).to_vec());
    }
    let count = wrong.len() as u64;
    Some(Finding {
        code: &R6,
        severity: Severity::Contract,
        title: format!("a first answer claims to be a replay{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("which answer of {} was the first", key.key),
            attempts: vec![first.id],
            orders: first.order.iter().map(ToString::to_string).collect(),
            product: Some(bench.case.history.intent(first.intent).product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "one answer of {} must have been the first, because nothing else was sent under the key              that can have placed the order, and all of them carried `{marker}`",
            key.key
        )],
        help: format!("leave `{marker}` out of the answer to the request that was executed."),
    })
}

fn finding(
    bench: &Bench<'_>,
    marker: &str,
    wrong: &[(&KeyGroup<'_>, Vec<&Attempt>)],
) -> Option<Finding> {
    let (key, unmarked) = wrong.first()?;
    let mut evidence = Evidence::of(&["user", "key", "unmarked answers"]);
    for (key, unmarked) in wrong {
        evidence.rows.push(vec![
            key.user.to_owned(),
            key.key.to_owned(),
            thousands(unmarked.len() as u64),
        ]);
    }
    let count = wrong.len() as u64;
    let [one, other, ..] = unmarked.as_slice() else { return None };
    Some(Finding {
        code: &R6,
        severity: Severity::Contract,
        title: format!("more than one answer claims to be the first{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("which answer of {} was the first", key.key),
            attempts: vec![one.id, other.id],
            orders: one.order.iter().map(ToString::to_string).collect(),
            product: Some(bench.case.history.intent(one.intent).product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "at least one of {} and {} was a replay without its mark, or was executed again, because \
             neither carried `{marker}`",
            bench.index.name_of(one),
            bench.index.name_of(other)
        )],
        help: format!("set `{marker}` wherever a stored answer is sent."),
    })
}
