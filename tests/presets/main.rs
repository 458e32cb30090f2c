//! Each preset of contracts has a service that keeps it, and passes, and services that break one of
//! its clauses each, and are found.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like the tests themselves")]

mod asked;
mod breaks;
mod reply;
mod rig;
mod service;

use std::collections::BTreeSet;

use dupeproof::audit::Verdict;
use dupeproof::profile::{Contract, schema};
use dupeproof::report::RunResult;
use tokio::task::JoinSet;

use breaks::{Break, NOTHING_TO_BREAK, Shown, breaks};
use service::Manner;

/// The product's own list.
fn presets() -> Vec<String> {
    let schema = schema();
    let names = schema["properties"]["contract"]["properties"]["preset"]["enum"].as_array();
    names.unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn told(result: &RunResult) -> String {
    let findings =
        result.findings.iter().map(|it| format!("  {}: {} ({:?})", it.code, it.title, it.evidence));
    let doubts = result.doubts.iter().map(|it| format!("  {}? {}", it.code, it.what));
    let unknown = result.unknown_answers.iter().map(|it| format!("  {} x {}", it.count, it.what));
    let lines: Vec<String> = findings.chain(doubts).chain(unknown).collect();
    format!("{:?}\n{}", result.verdict, lines.join("\n"))
}

/// Runs all and shows all that went wrong, not only the first.
fn all(drills: Vec<impl Future<Output = Option<String>> + Send + 'static>) {
    let wrong = rig::run(async {
        let mut running: JoinSet<Option<String>> = JoinSet::new();
        for drill in drills {
            running.spawn(drill);
        }
        let mut wrong: Vec<String> = running.join_all().await.into_iter().flatten().collect();
        wrong.sort();
        wrong
    });
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_service_that_keeps_its_preset_passes() {
    let mut drills = Vec::new();
    for preset in presets() {
        let contract = Contract::of_preset(&preset).unwrap();
        for manner in Manner::ALL.into_iter().filter(|manner| manner.is_open(&contract)) {
            let preset = preset.clone();
            drills.push(async move {
                let result = rig::drill(&preset, manner, None).await;
                let is_well = result.verdict == Verdict::Passed && result.findings.is_empty();
                (!is_well).then(|| format!("{preset}, {manner:?}: {}", told(&result)))
            });
        }
    }
    all(drills);
}

#[test]
fn a_service_that_breaks_a_clause_is_found() {
    let mut drills = Vec::new();
    for preset in presets() {
        for (clause, broken, shown) in breaks(&Contract::of_preset(&preset).unwrap()) {
            let preset = preset.clone();
            drills.push(async move {
                let result = rig::drill(&preset, Manner::Plain, Some(broken)).await;
                (!is_as_due(&result, broken, shown)).then(|| {
                    format!("{preset}, {clause} ({broken:?}), due {shown:?}: {}", told(&result))
                })
            });
        }
    }
    all(drills);
}

/// Whether a break was seen as it should be, and nothing was found that it doesn't explain.
fn is_as_due(result: &RunResult, broken: Break, shown: Shown) -> bool {
    let found: BTreeSet<&str> = result.findings.iter().map(|it| it.code.as_str()).collect();
    let doubted = |gate| result.doubts.iter().any(|doubt| doubt.code == gate);
    match shown {
        Shown::As(code) => {
            let is_explained = |it: &&str| *it == code || broken.follow_ups().contains(it);
            result.verdict == Verdict::Violated
                && found.contains(code)
                && found.iter().all(is_explained)
        }
        Shown::Doubted(gate) => {
            result.verdict == Verdict::Inconclusive && doubted(gate) && found.is_empty()
        }
        Shown::Unseen(_) => result.verdict == Verdict::Passed && found.is_empty(),
    }
}

#[test]
fn every_clause_has_a_breaker() {
    let schema = schema();
    let clauses = schema["properties"]["contract"]["properties"].as_object().unwrap();
    let clauses: BTreeSet<&str> = clauses.keys().map(String::as_str).collect();
    let contracts = presets().into_iter().map(|name| Contract::of_preset(&name).unwrap());
    let broken = contracts.flat_map(|contract| breaks(&contract)).map(|(clause, ..)| clause);
    let known: BTreeSet<&str> =
        broken.chain(NOTHING_TO_BREAK.into_iter().map(|(clause, _)| clause)).collect();
    assert_eq!(known, clauses);
}
