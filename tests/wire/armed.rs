//! Proxies with rules, and what is heard of them.

use std::time::Duration;

use dupeproof::history::{FaultEvent, FaultId, Firing, FiringEnd, Proof, StepPoint, Wire};
use dupeproof::profile::{Owned, StepPattern, StepTrigger, Which};
use dupeproof::wire::{Armed, Notice, Rule, WireAct};
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

use crate::ends::LIMIT;
use crate::watched::Watched;

/// What stands until it is released.
pub const HOLD: WireAct = WireAct::Hold { limit: Duration::from_secs(60) };

/// A rule for the first step of this name, whoever it belongs to.
pub fn rule(point: StepPoint, wire: Wire, verb: &str, act: WireAct) -> Rule {
    Rule {
        fault: FaultId(0),
        at: StepTrigger {
            point,
            step: Some(StepPattern {
                wire,
                verb: Some(verb.to_owned()),
                object: None,
                number: None,
            }),
            role: None,
            of: Owned::Anyone,
            which: Which::Nth(1),
            instance: None,
            key: None,
            table: None,
            sql: None,
            parameter: None,
            probability: 1.0,
        },
        only: None,
        ends_when_taken: false,
        act,
        seed: 7,
    }
}

/// What happens to faults, one after the other.
pub struct Notices(Receiver<Notice>);

impl Notices {
    pub async fn of(watched: &mut Watched, rules: Vec<Rule>) -> (Self, Armed) {
        let notices = watched.proxies().notices().unwrap();
        let armed = watched.proxies().arm(rules).await.unwrap();
        (Self(notices), armed)
    }

    pub async fn next(&mut self) -> Notice {
        timeout(LIMIT, self.0.recv()).await.expect("something happens").unwrap()
    }

    pub async fn fired(&mut self) -> (Notice, Firing) {
        let notice = self.next().await;
        match notice.facts.event.clone() {
            FaultEvent::Fired(firing) => (notice, firing),
            other => panic!("{other:?}"),
        }
    }

    pub async fn effect(&mut self) -> Proof {
        match self.next().await.facts.event {
            FaultEvent::Effect { proof, .. } => proof,
            other => panic!("{other:?}"),
        }
    }

    pub async fn ended(&mut self) -> FiringEnd {
        match self.next().await.facts.event {
            FaultEvent::Ended { how, .. } => how,
            other => panic!("{other:?}"),
        }
    }

    /// Whether nothing more can come.
    pub fn is_closed(&self) -> bool {
        self.0.is_empty() && self.0.is_closed()
    }

    pub fn is_silent(&mut self) -> bool {
        self.0.try_recv().is_err()
    }
}
