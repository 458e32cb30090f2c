//! From a finished folder to its result: read, judge, tell, write.
//!
//! `run` and `audit RUN` come through here alike, and both judge only what the folder holds.

use std::path::Path;
use std::time::Duration;

use super::{DrillError, faults};
use crate::audit::{self, Case, Finding};
use crate::codes::Severity;
use crate::history::{History, Moment, PhaseId, RunFolder, RunTime, Strings};
use crate::profile::{self, Fault, Profile};
use crate::report::format::shell;
use crate::report::{self, Material, Reproduction, RunResult, Telling};
use crate::story;

/// Judges a folder and writes `result.json`, evidence and reproductions into it. `named` is how
/// commands name the folder.
pub fn judge(folder: &RunFolder, profile: &Profile, named: &Path) -> Result<RunResult, DrillError> {
    let unreadable = |source| DrillError::Rows { source };
    let mut strings = Strings::default();
    // A file of rows is in memory as a whole while it is read, so it is read while little else is there;
    // but what is wrong with the journal is said first.
    let mut rows = |moment| folder.read_rows_sharing(moment, &mut strings).map_err(unreadable);
    let (baseline, after) = (rows(Moment::Baseline), rows(Moment::After));
    // What shows the same twice needs its place in memory once.
    let before_repair = match folder.has_equal_rows(Moment::BeforeRepair, Moment::After) {
        true => Ok(None),
        false => rows(Moment::BeforeRepair),
    };
    let history = History::read_sharing(&folder.journal(), &mut strings)
        .map_err(|source| DrillError::Read { source })?;
    let baseline = baseline?.ok_or(DrillError::NoBaseline)?;
    let (after, before_repair) = (after?, before_repair?);
    let before_repair = before_repair
        .filter(|before| !after.as_ref().is_some_and(|after| after.shows_the_same(before)));
    drop(strings);
    let case = Case {
        profile,
        history: &history,
        baseline: &baseline,
        before_repair: before_repair.as_ref(),
        after: after.as_ref(),
    };
    let judgement = audit::judge(&case);
    let tellings = judgement
        .findings
        .iter()
        .map(|finding| tell(folder, &case, finding, named))
        .collect::<Result<_, _>>()?;
    let result = report::build(Material {
        profile,
        history: &history,
        judgement: &judgement,
        tellings,
        folder: folder.path().display().to_string(),
        took: Duration::from_micros(last_moment(&history).0),
    });
    seal(folder, &result)?;
    Ok(result)
}

/// Writes `result.json`.
pub(super) fn seal(folder: &RunFolder, result: &RunResult) -> Result<(), DrillError> {
    let text = format!("{:#}\n", serde_json::json!(result));
    folder.seal(&text).map_err(|source| DrillError::Folder { source })
}

/// The run's length: its last fact with a time.
fn last_moment(history: &History) -> RunTime {
    let settled = history.clock.map(|clock| clock.at);
    let drained = history.drains.iter().map(|drain| drain.ended).max();
    let answered = history.attempts.iter().filter_map(|attempt| attempt.completed).max();
    settled.or(drained).or(answered).unwrap_or_default()
}

fn tell(
    folder: &RunFolder,
    case: &Case<'_>,
    finding: &Finding,
    named: &Path,
) -> Result<Telling, DrillError> {
    let disk = |source| DrillError::Folder { source };
    let evidence_file = match finding.severity {
        Severity::Critical | Severity::Contract => format!("evidence/{}.csv", finding.code.id),
        Severity::Protected => format!("evidence/{}-protected.csv", finding.code.id),
        Severity::Efficiency => format!("evidence/{}-efficiency.csv", finding.code.id),
    };
    folder.write(&evidence_file, &report::csv(&finding.evidence)).map_err(disk)?;
    Ok(Telling {
        scenes: story::tell(case, finding),
        evidence_file: Some(evidence_file),
        reproduce: reproduction(folder, case, finding, named).map_err(disk)?,
    })
}

/// A profile with the finding's phase alone. A burst without a fault meets a race by chance, and the
/// text says so.
fn reproduction(
    folder: &RunFolder,
    case: &Case<'_>,
    finding: &Finding,
    named: &Path,
) -> Result<Option<Reproduction>, crate::history::FolderError> {
    if !finding.severity.fails_the_gate() {
        return Ok(None);
    }
    let history = case.history;
    let witness = finding.witness.attempts.first();
    let attempt = witness.and_then(|id| history.attempts.iter().find(|attempt| attempt.id == *id));
    let by_attempt = attempt.map(|attempt| history.intent(attempt.intent));
    // Stock below zero has no attempt; a phase may have a product of its own.
    let of_product =
        || history.intents.iter().find(|it| Some(it.product) == finding.witness.product);
    let phase = by_attempt.or_else(of_product).map_or(PhaseId(0), |intent| intent.phase);
    let phase = faults::origin(case.profile, phase);
    let file = format!("repro/{}.toml", finding.code.id);
    folder.write(&file, &profile::reproduction(case.profile, phase, u32::MAX, &finding.title))?;
    let phase = &case.profile.phases[phase];
    let chance = match phase.faults.as_slice() {
        [] => "a burst meets a race by chance, so run it again if it passes".to_owned(),
        faults => faults.iter().map(Fault::name).collect::<Vec<_>>().join(", "),
    };
    let about = format!("phase \"{}\" alone, seed {}; {chance}", phase.name, history.run.seed);
    let command = format!("dupeproof run {}", shell(&named.join(&file).to_string_lossy()));
    Ok(Some(Reproduction { command, about }))
}
