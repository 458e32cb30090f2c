//! Writes down what a fault did, as the drill would.

use dupeproof::history::{
    FaultEvent, FaultFacts, FaultId, FaultPlan, FiredStep, Firing, FiringEnd, InstanceId, IntentId,
    LinkId, PhaseId, Proof, RunTime, StepPoint, Wire,
};
use dupeproof::profile::{
    Act, Cut, Fault, Hold, Loss, Owned, Partition, StepPattern, StepTrigger, Trigger, Until, Which,
};

use std::time::Duration;

use crate::fixture::Drill;

/// One fault of the drill, to which what became of it is added.
pub struct Hurt<'d> {
    pub drill: &'d mut Drill,
    id: FaultId,
    firings: u32,
}

/// At a step of this name; the fault's act is put in its place.
pub fn at_step(wire: Wire, verb: &str, object: Option<&str>, point: StepPoint) -> Trigger {
    Trigger::Step(StepTrigger {
        point,
        step: Some(StepPattern {
            wire,
            verb: Some(verb.to_owned()),
            object: object.map(str::to_owned),
            number: None,
        }),
        role: None,
        of: Owned::Intent,
        which: Which::Nth(1),
        instance: None,
        key: None,
        table: None,
        sql: None,
        parameter: None,
        probability: 1.0,
    })
}

pub fn hold() -> Act {
    Act::Hold(Hold { until: Until::Others, limit: Duration::from_secs(5) })
}

pub fn partition() -> Act {
    Act::Partition(Partition { wire: Wire::Redis, instance: None, how: Cut::Refuse, lasts: None })
}

pub fn commit_held() -> (Trigger, Act) {
    (at_step(Wire::Postgres, "COMMIT", None, StepPoint::Before), hold())
}

pub fn unlock_reply_lost() -> (Trigger, Act) {
    let trigger = at_step(Wire::Redis, "EVALSHA", Some("unlock"), StepPoint::After);
    (trigger, Act::DropReply(Loss::Close))
}

impl<'d> Hurt<'d> {
    /// Plans a fault and arms it at the begin.
    pub fn new(drill: &'d mut Drill, (at, act): (Trigger, Act)) -> Self {
        let mut hurt = Self::planned(drill, (at, act));
        hurt.at(0, FaultEvent::Armed);
        hurt
    }

    pub fn planned(drill: &'d mut Drill, (at, act): (Trigger, Act)) -> Self {
        let fault = Fault { at, act, armed: true };
        let plan = FaultPlan {
            phase: PhaseId(0),
            name: fault.name(),
            act: fault.act.word().to_owned(),
            at_least: 1,
        };
        let faults = &mut drill.profile.phases[0].faults;
        if !faults.contains(&fault) {
            faults.push(fault);
        }
        let is_plan = |facts: &&FaultFacts| matches!(facts.event, FaultEvent::Planned(_));
        let id = FaultId(drill.history.faults.iter().filter(is_plan).count() as u16);
        let mut hurt = Self { drill, id, firings: 0 };
        hurt.at(0, FaultEvent::Planned(plan));
        hurt
    }

    pub fn at(&mut self, at: u64, event: FaultEvent) {
        let at = RunTime(at);
        self.drill.history.faults.push(FaultFacts { fault: self.id, at, event });
    }

    /// Fires at the last step that the journal has of this name, of this intent.
    pub fn fires_at(&mut self, name: &str, intent: u32, point: StepPoint) -> RunTime {
        let steps = &self.drill.history.steps;
        let step = steps
            .iter()
            .rfind(|step| {
                step.name() == name
                    && (step.intent.is_none() || step.intent == Some(IntentId(intent)))
            })
            .unwrap();
        let fired = FiredStep {
            link: step.link,
            asked: step.asked,
            wire: step.wire,
            name: name.to_owned(),
            point,
            intent: Some(IntentId(intent)),
            among: Vec::new(),
            product: step.product,
            subject: step.subject.as_deref().map(str::to_owned),
            backend: None,
        };
        let links = &self.drill.history.links;
        let link: Option<LinkId> = Some(step.link);
        let instance = links.iter().find(|it| Some(it.id) == link).and_then(|it| it.instance);
        let at = step.asked;
        self.fires(at.0, Some(fired), instance);
        at
    }

    pub fn fires(&mut self, at: u64, step: Option<FiredStep>, instance: Option<InstanceId>) {
        self.firings += 1;
        let firing = Firing {
            number: self.firings,
            decided: RunTime(at),
            step,
            instance,
            also_hit: Vec::new(),
        };
        self.at(at, FaultEvent::Fired(firing));
    }

    /// Fires at a step that no wire has on record.
    pub fn fires_unseen(&mut self, at: u64, wire: Wire, name: &str, intent: u32, point: StepPoint) {
        let fired = FiredStep {
            link: LinkId(900),
            asked: RunTime(at),
            wire,
            name: name.to_owned(),
            point,
            intent: Some(IntentId(intent)),
            among: Vec::new(),
            product: None,
            subject: None,
            backend: None,
        };
        self.fires(at, Some(fired), None);
    }

    pub fn proves(&mut self, at: u64, proof: Proof) {
        self.at(at, FaultEvent::Effect { firing: self.firings, proof });
    }

    pub fn ends(&mut self, at: u64, how: FiringEnd) {
        self.at(at, FaultEvent::Ended { firing: self.firings, how });
    }

    pub fn heals(&mut self, at: u64) {
        self.at(at, FaultEvent::Healed);
    }
}

/// Redis is away from one moment to another, for every instance.
pub fn redis_away(drill: &mut Drill, from_ms: u64, to_ms: u64) {
    let mut hurt = Hurt::new(drill, (Trigger::Time(Duration::from_millis(from_ms)), partition()));
    hurt.fires(from_ms * 1_000, None, None);
    hurt.proves(from_ms * 1_000 + 10, Proof::Cut { links: 2, refused: 3 });
    hurt.ends(to_ms * 1_000, FiringEnd::Healed);
    hurt.heals(to_ms * 1_000);
}
