//! The file of rules that `dupeproof proxy` is given, and what its rules are on the wires.

use std::path::Path;
use std::time::Duration;

use super::fronts::Front;
use super::profile;
use crate::history::{FaultId, FaultPlan, PhaseId, Wire};
use crate::profile::{Act, Fault, LoadProfileError, Trigger, parse_rules};
use crate::ui::Failure;
use crate::wire::{Rule, WireAct};

/// A file with more is a mistake of another kind.
const MOST_RULES: usize = 1_000;
/// A partition begins at once; a step that waits for it is let go at the latest then.
const BEGUN_WITHIN: Duration = Duration::from_secs(5);

/// Reads a file of rules for these proxies.
pub(super) fn read(path: &Path, fronts: &[Front]) -> Result<Vec<Fault>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(
            format!("the rules in {} can't be read: {error}", path.display()),
            "Name a file of rules with --rules: TOML with [[rule]] tables.",
        )
    })?;
    let faults = parse_rules(path, &text, &|name| std::env::var(name).ok())
        .map_err(|mistakes| profile::failure(&LoadProfileError::Mistakes(mistakes)))?;
    if faults.len() > MOST_RULES {
        let what = format!("{} has {} rules", path.display(), faults.len());
        return Err(Failure::usage(what, format!("At most {MOST_RULES} are asked of every step.")));
    }
    for (number, fault) in faults.iter().enumerate() {
        let missing = wires(fault).find(|wire| !fronts.iter().any(|it| it.spec.wire == *wire));
        if let Some(wire) = missing {
            let name = wire.name();
            return Err(Failure::usage(
                format!(
                    "rule {} ({}) is about {name}, and no proxy stands there",
                    number + 1,
                    fault.name()
                ),
                format!(
                    "Name the server with --{name} (in a profile: `proxy`), or take the rule out."
                ),
            ));
        }
    }
    Ok(faults)
}

/// The wires that a rule needs, as far as it says so.
fn wires(fault: &Fault) -> impl Iterator<Item = Wire> {
    let of_step = match &fault.at {
        Trigger::Step(step) if step.step.is_some() => step.step.as_ref().map(|step| step.wire),
        Trigger::Step(step) if step.key.is_some() => Some(Wire::Redis),
        Trigger::Step(step) if step.table.is_some() || step.sql.is_some() => Some(Wire::Postgres),
        _ => None,
    };
    let of_act = match &fault.act {
        Act::Partition(cut) => Some(cut.wire),
        _ => None,
    };
    of_step.into_iter().chain(of_act)
}

pub(super) fn plan(fault: &Fault) -> FaultPlan {
    let act = fault.act.word().to_owned();
    FaultPlan { phase: PhaseId(0), name: fault.name(), act, at_least: 1 }
}

/// The rule on the wires; none where the clock alone triggers.
pub(super) fn rule(id: FaultId, fault: &Fault) -> Option<Rule> {
    let Trigger::Step(at) = &fault.at else { return None };
    let act = match &fault.act {
        Act::Hold(hold) => WireAct::Hold { limit: hold.limit },
        Act::DropRequest(loss) => WireAct::DropRequest(*loss),
        Act::DropReply(loss) => WireAct::DropReply(*loss),
        Act::Delay(time) => WireAct::Delay(*time),
        Act::Reset => WireAct::Reset,
        Act::Fail(failure) => WireAct::Fail(failure.clone()),
        Act::BlackHole => WireAct::BlackHole,
        Act::Partition(_) => WireAct::Hold { limit: BEGUN_WITHIN },
        Act::SwapUpstream { .. } | Act::Expire(_) | Act::TakeLease { .. } => return None,
    };
    Some(Rule {
        fault: id,
        at: at.clone(),
        only: None,
        ends_when_taken: false,
        act,
        seed: u64::from(id.0),
    })
}
