//! Every act at every point of every wire, each now and then.

use std::collections::BTreeMap;
use std::time::Duration;

use dupeproof::history::{FaultId, StepPoint, Wire};
use dupeproof::profile::{Failure, Loss, Which};
use dupeproof::wire::{Rule, WireAct};

use crate::armed::rule;

/// All rules that a profile can have, and their names.
pub fn every() -> (Vec<Rule>, BTreeMap<FaultId, String>) {
    let mut rules = Vec::new();
    let mut names = BTreeMap::new();
    for wire in Wire::ALL {
        for point in StepPoint::ALL {
            for act in acts().into_iter().filter(|act| is_sensible(wire, point, act)) {
                let name = format!("{wire:?} {point:?} {act:?}");
                let mut rule = rule(point, wire, "", act);
                rule.fault = FaultId(u16::try_from(rules.len()).unwrap());
                rule.seed = u64::from(rule.fault.0);
                rule.at.step.as_mut().unwrap().verb = None;
                rule.at.which = Which::Every;
                // What isn't stopped before it is asked can be after.
                rule.at.probability = if point == StepPoint::After { 0.02 } else { 0.01 };
                names.insert(rule.fault, name);
                rules.push(rule);
            }
        }
    }
    (rules, names)
}

fn acts() -> Vec<WireAct> {
    let losses = [Loss::Close, Loss::Reset, Loss::Stall];
    let postgres = |sqlstate: &str| Failure::Postgres {
        sqlstate: sqlstate.to_owned(),
        message: "injected".to_owned(),
    };
    let error = "READONLY no".to_owned();
    let failures = [
        postgres("40001"),
        postgres("57P01"),
        Failure::Redis { error },
        Failure::Http { status: 503 },
    ];
    let limits = [Duration::from_millis(5), Duration::from_secs(60)];
    let mut acts = vec![WireAct::Reset, WireAct::BlackHole, WireAct::Delay(limits[0])];
    acts.extend(limits.map(|limit| WireAct::Hold { limit }));
    acts.extend(losses.map(WireAct::DropRequest));
    acts.extend(losses.map(WireAct::DropReply));
    acts.extend(failures.map(WireAct::Fail));
    acts
}

fn is_sensible(wire: Wire, point: StepPoint, act: &WireAct) -> bool {
    match act {
        WireAct::Reset | WireAct::BlackHole => true,
        WireAct::Hold { .. } | WireAct::Delay(_) => point != StepPoint::InBuffer,
        WireAct::DropRequest(_) => point == StepPoint::Before,
        WireAct::DropReply(_) => point == StepPoint::After,
        WireAct::Fail(failure) => {
            point == StepPoint::Before
                && wire
                    == match failure {
                        Failure::Postgres { .. } => Wire::Postgres,
                        Failure::Redis { .. } => Wire::Redis,
                        Failure::Http { .. } => Wire::Http,
                    }
        }
    }
}
