//! I25, second part: every answer to a request that places an order is one that the contract knows.
//!
//! A success has a status of a first answer or of a replay. Any other complete answer belongs to a
//! clause, unless it may belong to one about which the contract is silent: what other parameters get,
//! while there are several under the key, or what is said while something is in progress. After an
//! acknowledgement nothing is in progress any more, as R3 has it.

use std::cell::LazyCell;
use std::collections::HashSet;

use crate::codes::{I25, Severity};
use crate::history::{Attempt, Outcome, RunTime};
use crate::profile::{Contract, OtherParameters};

use super::bench::Bench;
use super::i06_replies_agree::wrong_status;
use super::index::{KeyGroup, Variant};
use super::lanes::Lanes;
use super::unagreed::{is_outside, vouched};
use super::words::{list, times};
use super::{Evidence, Finding, Witness, answer};

pub(super) fn finding(bench: &Bench<'_>) -> Option<Finding> {
    let wrong = wrong(bench);
    let witness = wrong.iter().min_by_key(|it| (it.first_byte, it.id))?;
    let mut evidence = Evidence::of(&["user", "key", "sent at", "answer"]);
    for it in &wrong {
        let intent = bench.case.history.intent(it.intent);
        evidence.rows.push(vec![
            intent.user.clone(),
            intent.key.clone(),
            it.first_byte.unwrap_or_default().to_string(),
            answer(it),
        ]);
    }
    let count = wrong.len() as u64;
    let intent = bench.case.history.intent(witness.intent);
    let status = witness.status.unwrap_or_default();
    let because = match witness.outcome {
        Outcome::Acknowledged => {
            let agreed: Vec<String> =
                agreed(bench.contract()).into_iter().map(|it| it.to_string()).collect();
            format!("the contract knows {} for a success", list(&agreed, 6))
        }
        _ => format!("no clause of the contract has a {status} like that"),
    };
    Some(Finding {
        code: &I25,
        severity: Severity::Contract,
        title: format!("an answer that the contract doesn't know{}", times(count)),
        count,
        evidence,
        witness: Witness {
            heading: format!("what {} was answered", intent.key),
            attempts: vec![witness.id],
            orders: witness.order.iter().map(ToString::to_string).collect(),
            product: Some(intent.product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "a client that keeps to the contract can't tell what this means, because {} got {}, and \
             {because}",
            bench.index.name_of(witness),
            answer(witness)
        )],
        help: "answer as the contract says; or declare the answer in `[contract]`.".to_owned(),
    })
}

fn wrong<'a>(bench: &Bench<'a>) -> Vec<&'a Attempt> {
    let agreed = agreed(bench.contract());
    let mut clauses = None;
    let mut wrong = Vec::new();
    for (_, key) in bench.index.placing() {
        for variant in &key.variants {
            // Replies that disagree among each other are I06's.
            let is_told = |first| wrong_status(bench, variant, first).is_some();
            let is_told = LazyCell::new(move || variant.first_acknowledged().is_some_and(is_told));
            for &attempt in variant.attempts {
                let is_odd = match attempt.outcome {
                    Outcome::Acknowledged => {
                        attempt.status.is_some_and(|status| !agreed.contains(&status)) && !*is_told
                    }
                    _ => is_outside(attempt),
                };
                if !is_odd || bench.index.is_disturbed(attempt) {
                    continue;
                }
                let clauses = clauses.get_or_insert_with(|| Clauses::new(bench));
                if attempt.outcome == Outcome::Acknowledged
                    || clauses.are_all_said(key, variant, attempt)
                {
                    wrong.push(attempt);
                }
            }
        }
    }
    wrong
}

/// The statuses of successes.
fn agreed(contract: &Contract) -> Vec<u16> {
    let replays = contract.replay.statuses.iter().flatten();
    let mut agreed: Vec<u16> = contract.first.iter().chain(replays).copied().collect();
    agreed.sort_unstable();
    agreed.dedup();
    agreed
}

/// What is needed to tell whether a silent clause may explain an answer.
struct Clauses<'b, 'a> {
    bench: &'b Bench<'a>,
    lanes: Lanes<'b, 'a>,
    vouched: HashSet<&'a str>,
}

impl<'b, 'a> Clauses<'b, 'a> {
    fn new(bench: &'b Bench<'a>) -> Self {
        let lanes = Lanes::new(&bench.index);
        Self { bench, lanes, vouched: vouched(bench) }
    }

    fn are_all_said(&self, key: &KeyGroup<'a>, variant: &Variant<'a>, attempt: &Attempt) -> bool {
        let contract = self.bench.contract();
        let is_after =
            |told: Option<RunTime>| told.is_some_and(|told| attempt.first_byte > Some(told));
        let told = |variant: &Variant<'_>| variant.first_acknowledged().and_then(|it| it.completed);
        let is_replay = is_after(told(variant));
        let may_be_mismatch = contract.other_parameters == OtherParameters::Unsaid
            && !is_replay
            && key.variants.iter().filter(|it| it.was_sent()).count() > 1;
        let may_be_early = contract.in_progress.statuses.is_empty()
            && !is_after(key.variants.iter().filter_map(told).min())
            && self.lanes.of_key(key).may_have_waited(attempt);
        self.vouched.contains(variant.intent.request.as_str())
            && self.bench.knows_every_attempt()
            && !may_be_mismatch
            && !may_be_early
    }
}
