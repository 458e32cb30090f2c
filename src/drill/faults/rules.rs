//! A fault of the profile as a rule on the wires.

use std::time::Duration;

use crate::history::{FaultId, IntentId, Role, StepPoint};
use crate::profile::{
    Act, Expire, Fault, Hold, Owned, Passing, StepTrigger, Trigger, Until, Which,
};
use crate::wire::{Rule, WireAct};

/// How long keys are waited for where time really passes (S01).
pub(super) const REPLAY_LIMIT: Duration = Duration::from_secs(30);
/// How long a step waits while something is done to the target that doesn't happen on its wire.
const MEANWHILE: Duration = Duration::from_secs(10);

/// The rule of a fault that fires at a step, or by its time at the next one.
pub(super) fn rule(fault: FaultId, spec: &Fault, seed: u64) -> Rule {
    let act = act(&spec.act);
    let at = match &spec.at {
        Trigger::Step(step) => step.clone(),
        Trigger::Time(_) => any_step(point(&act)),
    };
    let seed = seed ^ u64::from(fault.0).rotate_left(32);
    let ends_when_taken =
        matches!(&spec.act, Act::Hold(Hold { until: Until::TakenOver | Until::LeaseOver, .. }));
    Rule { fault, at, only: None, act, ends_when_taken, seed }
}

/// Holds every renewal of an intent.
pub(super) fn renewals(fault: FaultId, intent: IntentId, limit: Duration) -> Rule {
    let at =
        StepTrigger { role: Some(Role::Renew), which: Which::Every, ..any_step(StepPoint::Before) };
    let act = WireAct::Hold { limit };
    Rule { fault, at, only: Some(intent), act, ends_when_taken: false, seed: 0 }
}

fn act(act: &Act) -> WireAct {
    match act {
        Act::Hold(Hold { limit, .. }) => WireAct::Hold { limit: *limit },
        Act::Expire(Expire { how: Passing::Delete, hold, .. }) => {
            WireAct::Hold { limit: hold.limit }
        }
        Act::Expire(Expire { how: Passing::Wait, hold, .. }) => {
            WireAct::Hold { limit: hold.limit + REPLAY_LIMIT }
        }
        Act::DropRequest(loss) => WireAct::DropRequest(*loss),
        Act::DropReply(loss) => WireAct::DropReply(*loss),
        Act::Delay(time) => WireAct::Delay(*time),
        Act::Reset => WireAct::Reset,
        Act::Fail(failure) => WireAct::Fail(failure.clone()),
        Act::BlackHole => WireAct::BlackHole,
        Act::Partition(_) | Act::SwapUpstream { .. } | Act::TakeLease { .. } => {
            WireAct::Hold { limit: MEANWHILE }
        }
    }
}

const fn point(act: &WireAct) -> StepPoint {
    match act {
        WireAct::DropReply(_) => StepPoint::After,
        _ => StepPoint::Before,
    }
}

const fn any_step(point: StepPoint) -> StepTrigger {
    StepTrigger {
        point,
        step: None,
        role: None,
        of: Owned::Intent,
        which: Which::Nth(1),
        instance: None,
        key: None,
        table: None,
        sql: None,
        parameter: None,
        probability: 1.0,
    }
}
