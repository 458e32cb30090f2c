//! Faults as a result tells them: planned, fired, felt by whom, and how it ended.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::history::{FiringEnd, IntentId, Proof, RunTime};

use super::super::bench::Bench;
use super::{Fault, Shot};

/// Firings that a result has one by one; the journal has all.
const SHOWN: usize = 20;

/// One fault of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FaultAccount {
    /// In one line: `hold after "postgres COMMIT"`.
    pub name: String,
    pub phase: String,
    /// Its word in profiles: `hold`, `drop-reply`.
    pub act: String,
    pub armed: bool,
    /// How often it had to fire.
    pub planned: u64,
    pub fired: u64,
    /// Firings of which the other side showed something.
    pub with_effect: u64,
    /// Intents that it was aimed at, or that shared a connection with one that was.
    pub hit: u64,
    /// How its firings ended, and how often each.
    pub ended: BTreeMap<String, u64>,
    /// The first firings.
    pub firings: Vec<FiringAccount>,
}

/// One firing of a fault. Times are microseconds of run time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FiringAccount {
    #[schemars(with = "u64")]
    pub at: RunTime,
    /// `before`, `after` or `in-buffer`, and the step; absent where no step triggered it.
    pub step: Option<String>,
    /// The key of the intent whose step it was.
    pub key: Option<String>,
    pub instance: Option<String>,
    /// What the other side showed.
    pub effect: Option<String>,
    pub ended: Option<String>,
    #[schemars(with = "Option<u64>")]
    pub ended_at: Option<RunTime>,
    /// Until when it was felt (rule S05).
    #[schemars(with = "u64")]
    pub felt_until: RunTime,
}

/// What became of every fault, in the order of their ids.
pub fn accounts(bench: &Bench<'_>) -> Vec<FaultAccount> {
    bench.faults.all.iter().map(|fault| account(bench, fault)).collect()
}

fn account(bench: &Bench<'_>, fault: &Fault<'_>) -> FaultAccount {
    let phases = &bench.case.history.phases;
    let phase = phases.iter().find(|phase| phase.id == fault.plan.phase);
    let hits: BTreeSet<IntentId> =
        fault.firings.iter().flat_map(|shot| shot.window.hits.iter().copied()).collect();
    let mut ended: BTreeMap<String, u64> = BTreeMap::new();
    for (_, how) in fault.firings.iter().filter_map(|shot| shot.end) {
        *ended.entry(end_words(how).to_owned()).or_default() += 1;
    }
    FaultAccount {
        name: fault.plan.name.clone(),
        phase: phase.map_or_else(String::new, |phase| phase.name.clone()),
        act: fault.plan.act.clone(),
        armed: fault.armed.is_some(),
        planned: u64::from(fault.plan.at_least),
        fired: fault.firings.len() as u64,
        with_effect: {
            let has_effect = |shot: &&Shot<'_>| shot.has_effect_of(&fault.plan.act);
            fault.firings.iter().filter(has_effect).count() as u64
        },
        hit: hits.len() as u64,
        ended,
        firings: fault.firings.iter().take(SHOWN).map(|shot| firing(bench, shot)).collect(),
    }
}

fn firing(bench: &Bench<'_>, shot: &Shot<'_>) -> FiringAccount {
    let step = shot.firing.step.as_ref();
    let intents = &bench.case.history.intents;
    let intent = step.and_then(|step| intents.get(step.intent?.0 as usize));
    FiringAccount {
        at: shot.at,
        step: step.map(|step| format!("{} {}", step.point.word(), step.name)),
        key: intent.map(|intent| intent.key.clone()),
        instance: shot.firing.instance.map(|id| bench.instance(id).to_owned()),
        effect: shot.proofs.first().map(|(_, proof)| effect_words(proof)),
        ended: shot.end.map(|(_, how)| end_words(how).to_owned()),
        ended_at: shot.end.map(|(at, _)| at),
        felt_until: shot.window.end,
    }
}

/// How a firing ended, in words that go on from "it ended when".
pub const fn end_words(how: FiringEnd) -> &'static str {
    match how {
        FiringEnd::AtOnce => "at once",
        FiringEnd::OthersAnswered => "the others had their answers",
        FiringEnd::OthersBlocked => "the others were answered or waited for it",
        FiringEnd::OwnHold => "the others needed its own connection",
        FiringEnd::TakenOver => "somebody else had the lease",
        FiringEnd::LeaseOver => "the lease was gone",
        FiringEnd::TimeOver => "its time was over",
        FiringEnd::ClientLeft => "the client had closed its connection",
        FiringEnd::ServerClosed => "the server had closed its connection",
        FiringEnd::Healed => "healed",
    }
}

fn effect_words(proof: &Proof) -> String {
    match proof {
        Proof::ServerAnswered { answer } => format!("the server answered {answer}"),
        Proof::ServerNotAsked => "the server was not asked".to_owned(),
        Proof::RequestForwarded => "the request has left for the server".to_owned(),
        Proof::ServerRolledBack => "the server rolled back".to_owned(),
        Proof::ClientCutOff => "the client was cut off".to_owned(),
        Proof::ErrorDelivered { error } => format!("the client was given {error}"),
        Proof::Cut { links, refused } => {
            format!("{links} connections cut, {refused} refused or swallowed")
        }
        Proof::Swapped { links } => format!("{links} connections to the other server"),
        Proof::KeysGone { keys } => format!("{keys} keys deleted"),
        Proof::KeysExpired { keys } => format!("the time of {keys} keys is over"),
        Proof::KeysTaken { keys } => format!("{keys} keys taken"),
    }
}
