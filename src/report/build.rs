//! History and judgement become a [`RunResult`].
//!
//! The exit code is decided here, next to the verdict that it stands for, and nowhere else.

use std::collections::HashSet;
use std::time::Duration;

use super::latency::latencies;
use super::result::{
    BudgetResult, BurstResult, DoubtResult, FindingResult, GateResult, LiveResult, Reproduction,
    RunResult, RunSummary, SCHEMA_VERSION, StoryResult, WireResult,
};
use super::unknown::unknown_answers;
use crate::audit::{Evidence, Finding, Gate, Judgement, Scene, Verdict};
use crate::history::{
    Attempt, BurstFacts, Doubt, FaultEvent, FaultFacts, History, PhaseId, RunTime, WireFacts,
};
use crate::profile::Profile;

/// Rows of evidence that `result.json` and the terminal show; the file has all.
const SHOWN_ROWS: usize = 3;

/// What a finding is told with besides itself.
#[derive(Clone, Debug, Default)]
pub struct Telling {
    pub scenes: Vec<Scene>,
    pub evidence_file: Option<String>,
    pub reproduce: Option<Reproduction>,
}

/// What the builder takes.
#[derive(Debug)]
pub struct Material<'a> {
    pub profile: &'a Profile,
    pub history: &'a History,
    pub judgement: &'a Judgement,
    /// One for each finding, in their order.
    pub tellings: Vec<Telling>,
    pub folder: String,
    pub took: Duration,
}

/// Puts the result together.
pub fn build(material: Material<'_>) -> RunResult {
    let Material { profile, history, judgement, tellings, folder, took } = material;
    let latency = latencies(&history.attempts.iter());
    let budgets = budgets(profile, history);
    RunResult {
        schema_version: SCHEMA_VERSION,
        verdict: judgement.verdict,
        exit_code: exit_code(judgement.verdict, &budgets),
        run: RunSummary {
            id: history.run.run.to_string(),
            seed: history.run.seed,
            profile: history.run.profile.clone(),
            title: profile.title.clone(),
            version: history.run.version.clone(),
            started: history.run.started.to_string(),
            took_ms: took.as_millis() as u64,
            defects: history.run.defects.clone(),
            folder,
        },
        gates: gates(&judgement.gates),
        budgets,
        findings: judgement.findings.iter().zip(tellings).map(finding).collect(),
        doubts: doubts(judgement),
        accounting: judgement.accounting.clone(),
        unknown_answers: unknown_answers(history),
        latency,
        bursts: history
            .bursts
            .iter()
            .filter_map(|burst| burst_result(history, judgement, burst))
            .collect(),
        wires: history.wires.iter().map(wire).collect(),
        faults: judgement.faults.clone(),
        environment: history.run.environment.clone(),
    }
}

fn wire(facts: &WireFacts) -> WireResult {
    WireResult {
        wire: facts.wire.name().to_owned(),
        links: facts.links,
        steps: facts.steps,
        of_the_run: facts.of_the_run,
        noise: facts.noise,
        unnamed: facts.unnamed.clone(),
        unread: facts.unread,
        refused: facts.refused,
        unreached: facts.unreached,
        lost: facts.lost,
    }
}

/// Gates as a result has them.
fn gates(gates: &[Gate]) -> Vec<GateResult> {
    let gates = gates.iter().map(|gate| GateResult {
        code: gate.code.id.to_owned(),
        slug: gate.code.slug.to_owned(),
        title: gate.code.title.to_owned(),
        state: gate.state,
        detail: gate.detail.clone(),
    });
    gates.collect()
}

fn doubts(judgement: &Judgement) -> Vec<DoubtResult> {
    let told = |doubt: &Doubt| DoubtResult {
        code: doubt.code.clone(),
        what: doubt.what.clone(),
        cure: doubt.cure.clone(),
    };
    judgement.doubts.iter().map(told).collect()
}

/// What an audit of rows alone came to: there is no run, and no story to tell.
pub fn live(profile: &Profile, judgement: &Judgement) -> LiveResult {
    let findings = judgement.findings.iter();
    LiveResult {
        profile: profile.path.display().to_string(),
        verdict: judgement.verdict,
        exit_code: exit_code(judgement.verdict, &[]),
        gates: gates(&judgement.gates),
        findings: findings.map(|found| finding((found, Telling::default()))).collect(),
        doubts: doubts(judgement),
    }
}

/// 0 passed, 1 violated, 3 inconclusive, 5 a budget was missed; the worst wins.
fn exit_code(verdict: Verdict, budgets: &[BudgetResult]) -> u8 {
    match verdict {
        Verdict::Violated => 1,
        Verdict::Inconclusive => 3,
        Verdict::Passed if budgets.iter().any(|budget| !budget.met) => 5,
        Verdict::Passed => 0,
    }
}

/// Budgets are for undisturbed phases (S11): where every phase had a fault, none is judged.
fn budgets(profile: &Profile, history: &History) -> Vec<BudgetResult> {
    let Some(limit) = profile.budget.p99_latency else { return Vec::new() };
    let is_disturbed = |phase: PhaseId| {
        let planned = profile.phases.get(usize::from(phase.0));
        let of_journal = |facts: &FaultFacts| match &facts.event {
            FaultEvent::Planned(plan) => plan.phase == phase,
            _ => false,
        };
        planned.is_some_and(|phase| !phase.faults.is_empty())
            || history.faults.iter().any(of_journal)
    };
    let disturbed: HashSet<PhaseId> =
        history.phases.iter().map(|phase| phase.id).filter(|id| is_disturbed(*id)).collect();
    if !disturbed.is_empty() && disturbed.len() == history.phases.len() {
        return Vec::new();
    }
    let is_counted =
        |attempt: &&Attempt| !disturbed.contains(&history.intent(attempt.intent).phase);
    let latency = latencies(&history.attempts.iter().filter(is_counted));
    let p99_us = latency.first().map(|all| all.p99_us);
    let limit_us = limit.as_micros() as u64;
    vec![BudgetResult {
        name: "p99 latency".to_owned(),
        limit_us,
        measured_us: p99_us,
        met: p99_us.is_some_and(|measured| measured <= limit_us),
    }]
}

fn finding((finding, telling): (&Finding, Telling)) -> FindingResult {
    FindingResult {
        code: finding.code.id.to_owned(),
        slug: finding.code.slug.to_owned(),
        severity: finding.severity,
        title: finding.title.clone(),
        count: finding.count,
        evidence: Evidence {
            columns: finding.evidence.columns.clone(),
            rows: finding.evidence.rows.iter().take(SHOWN_ROWS).cloned().collect(),
        },
        evidence_rows: finding.evidence.rows.len() as u64,
        evidence_file: telling.evidence_file,
        story: (!telling.scenes.is_empty()).then(|| StoryResult {
            heading: finding.witness.heading.clone(),
            scenes: telling.scenes,
        }),
        therefore: finding.therefore.clone(),
        help: finding.help.clone(),
        reproduce: telling.reproduce,
    }
}

fn burst_result(
    history: &History,
    judgement: &Judgement,
    burst: &BurstFacts,
) -> Option<BurstResult> {
    let phase = history.phases.iter().find(|phase| phase.id == burst.phase)?;
    let overlap = judgement.accounting.overlap.iter().find(|overlap| overlap.phase == burst.phase);
    let resumed: Vec<RunTime> = burst.resumes.iter().map(|resume| resume.at).collect();
    let gap =
        resumed.iter().max().zip(resumed.iter().min()).map(|(last, first)| last.since(*first));
    Some(BurstResult {
        phase: phase.name.clone(),
        burst: phase.burst.clone(),
        release: burst.release.clone(),
        attempts: phase.planned,
        keys: overlap.map_or(0, |overlap| overlap.keys),
        spread_median_us: burst.spread_median_us,
        spread_worst_us: burst.spread_worst_us,
        twenty_sends_us: burst.twenty_sends_us,
        resume_gap_us: gap.map(|gap| gap.as_micros() as u64),
        in_flight_median: overlap.map_or(0, |overlap| overlap.in_flight_median),
        in_flight_worst: overlap.map_or(0, |overlap| overlap.in_flight_worst),
        planned_per_key: overlap.map_or(0, |overlap| overlap.planned),
        watched: overlap.and_then(|overlap| overlap.reached.map(|_| overlap.watched)),
        reached: overlap.and_then(|overlap| overlap.reached),
    })
}
