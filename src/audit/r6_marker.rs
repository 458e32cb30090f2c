//! R6: where the contract marks replays, at most one acknowledgement of an intent comes unmarked.
//!
//! A marker is evidence, never proof: a marked reply whose first answer was lost is fine.

use crate::codes::{R6, Severity};
use crate::history::Attempt;

use super::bench::Bench;
use super::index::KeyGroup;
use super::ruling::Ruling;
use super::words::{plural, thousands, times};
use super::{Evidence, Finding, Witness};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let Some(marker) = &bench.contract().replay_marker else {
        return Ruling::not_judged(&R6, "the contract has no replay marker");
    };
    let mut of = 0;
    let mut wrong: Vec<(&KeyGroup<'_>, Vec<&Attempt>)> = Vec::new();
    for (_, key) in bench.index.placing() {
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
    Ruling::of(&R6, detail, finding(bench, marker, &wrong).into_iter().collect())
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
