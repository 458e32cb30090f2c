//! I27: no instance ends unless dupeproof ends it.

use crate::codes::{I27, Severity};
use crate::history::{Attempt, Exit};

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{plural, thousands};
use super::{Evidence, Finding, Witness};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let history = bench.case.history;
    let exits: Vec<&Exit> = history.exits.iter().filter(|exit| !exit.ours).collect();
    let detail = format!(
        "{} in {}",
        plural(exits.len() as u64, "exit", "exits"),
        plural(history.instances.len() as u64, "instance", "instances")
    );
    Ruling::of(&I27, detail, finding(bench, &exits).into_iter().collect())
}

fn finding(bench: &Bench<'_>, exits: &[&Exit]) -> Option<Finding> {
    let witness = exits.iter().min_by_key(|exit| (exit.at, exit.instance))?;
    let mut evidence = Evidence::of(&["instance", "at", "status", "last words"]);
    for exit in exits {
        let name = bench.instance(exit.instance);
        let cells = [name, &exit.at.to_string(), &exit.status, exit.last_words.trim()];
        evidence.rows.push(cells.map(str::to_owned).to_vec());
    }
    let name = bench.instance(witness.instance);
    let open = in_flight(bench, witness);
    let mut because = format!(
        "{name} ended, and not by the drill, because its process was gone at {} ({}) and dupeproof \
         had not ended it",
        witness.at, witness.status
    );
    if !open.is_empty() {
        because.push_str(&format!(
            "; {} there without an answer",
            plural(open.len() as u64, "attempt was", "attempts were")
        ));
    }
    Some(Finding {
        code: &I27,
        severity: Severity::Contract,
        title: format!(
            "the target ended {}, and not by the drill",
            if exits.len() == 1 {
                "once".to_owned()
            } else {
                format!("{} times", thousands(exits.len() as u64))
            }
        ),
        count: exits.len() as u64,
        evidence,
        witness: Witness {
            heading: format!("how {name} ended"),
            attempts: open.iter().take(3).map(|attempt| attempt.id).collect(),
            ..Witness::default()
        },
        therefore: vec![because],
        help: help(witness),
    })
}

/// A signal comes from outside, a status from the target itself.
fn help(exit: &Exit) -> String {
    if exit.status.contains("signal: 9") {
        return "something ended it with SIGKILL: the kernel for want of memory (dmesg), or somebody \
                by hand"
            .to_owned();
    }
    if exit.status.ends_with("status: 0") || exit.status.contains("signal: 15") {
        return "it was asked to end (SIGTERM) or ended its work; see who did so".to_owned();
    }
    match exit.last_words.trim().lines().last() {
        Some(line) => format!("handle the error where it arises; its last words: {line}"),
        None => "see its log in the results folder; it said nothing at its end".to_owned(),
    }
}

/// Attempts that the instance had and hadn't answered when it ended, in the order of their first byte.
fn in_flight<'a>(bench: &Bench<'a>, exit: &Exit) -> Vec<&'a Attempt> {
    let mut open: Vec<&Attempt> = bench
        .case
        .history
        .attempts
        .iter()
        .filter(|it| it.instance == exit.instance && it.outcome.was_sent())
        .filter(|it| it.first_byte.is_some_and(|begin| begin <= exit.at))
        .filter(|it| !it.outcome.is_definite() && it.completed.is_none_or(|end| end >= exit.at))
        .collect();
    open.sort_by_key(|attempt| (attempt.first_byte, attempt.id));
    open
}
