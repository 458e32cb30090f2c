//! `dupeproof proxy --rules FILE`: rules are armed, told of as they fire, and taken back in the end.
//!
//! Rules act at steps by themselves. What is left to be done here is what a rule can't: a partition is
//! begun while the step that asked for it is held, or when its time has come, and ends when it has lasted.

use std::collections::HashSet;

use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::Format;
use super::rule_file::{plan, rule};
use crate::history::{
    Clock, Fact, FaultEvent, FaultFacts, FaultId, FiredStep, Firing, FiringEnd, Proof, Recorder,
    Secrets,
};
use crate::profile::{Act, Fault, Partition, Trigger};
use crate::report::format::{counted, thousands};
use crate::ui;
use crate::wire::{Armed, Notice, Proxies, Rule, WireError};

/// Where what happens to rules is told.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) clock: Clock,
    pub(super) format: Format,
    pub(super) secrets: Secrets,
    pub(super) recorder: Option<Recorder>,
}

/// Rules that are armed.
#[derive(Debug)]
pub(super) struct Rules {
    rules: Vec<Counted>,
    /// None where there are no rules.
    armed: Option<Armed>,
    notices: mpsc::Receiver<Notice>,
    /// What is to be done by the clock.
    due: Vec<(Instant, Due)>,
    /// Partitions that stand, by when they were begun.
    cuts: Vec<Option<Armed>>,
    told: Told,
}

/// A rule, and what it has done.
#[derive(Debug)]
struct Counted {
    fault: Fault,
    fired: u64,
    /// Firings that the other side has shown to have had their effect.
    proven: HashSet<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Due {
    Cut(FaultId, Partition),
    /// The partition at this place is over.
    Mend(usize),
}

/// Something that has to be seen to.
#[derive(Debug)]
pub(super) enum Happened {
    Noticed(Box<Notice>),
    /// What is due at this place.
    Due(usize),
}

impl Rules {
    /// Arms them all, before anybody is told where the proxies listen.
    pub(super) async fn arm(
        proxies: &mut Proxies,
        faults: Vec<Fault>,
        told: Told,
    ) -> Result<Self, WireError> {
        let notices = proxies.notices().expect("nobody else has taken them");
        let numbered = || (0_u16..).map(FaultId).zip(&faults);
        let rules: Vec<Rule> = numbered().filter_map(|(id, fault)| rule(id, fault)).collect();
        let armed = match rules.is_empty() {
            true => None,
            false => Some(proxies.arm(rules).await?),
        };
        let due = numbered().filter_map(|(id, fault)| match (&fault.at, &fault.act) {
            (Trigger::Time(time), Act::Partition(cut)) => {
                Some((Instant::now() + *time, Due::Cut(id, *cut)))
            }
            _ => None,
        });
        let due = due.collect();
        for (id, fault) in numbered() {
            for event in [FaultEvent::Planned(plan(fault)), FaultEvent::Armed] {
                told.record(FaultFacts { fault: id, at: told.clock.now(), event }).await;
            }
        }
        let rules = faults
            .into_iter()
            .map(|fault| Counted { fault, fired: 0, proven: HashSet::new() })
            .collect();
        Ok(Self { rules, armed, notices, due, cuts: Vec::new(), told })
    }

    /// What happens next. Nothing is lost where nobody waits for the answer any more.
    pub(super) async fn next(&mut self) -> Happened {
        let due = self.due.iter().enumerate().min_by_key(|(_, (at, _))| *at);
        let due = due.map(|(place, (at, _))| (place, *at));
        let sleeping = async {
            match due {
                Some((place, at)) => {
                    sleep_until(at).await;
                    place
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(notice) = self.notices.recv() => Happened::Noticed(Box::new(notice)),
            place = sleeping => Happened::Due(place),
        }
    }

    /// Sees to it, and tells of it.
    pub(super) async fn meet(
        &mut self,
        happened: Happened,
        proxies: &Proxies,
    ) -> Result<(), WireError> {
        match happened {
            Happened::Noticed(notice) => {
                let hold = notice.hold;
                let begins = self.begins(&notice.facts);
                self.tell(notice.facts).await;
                if let Some((fault, cut)) = begins {
                    self.cut(fault, cut, proxies).await?;
                    if let Some(hold) = hold {
                        proxies.release(hold, FiringEnd::AtOnce).await?;
                    }
                }
            }
            Happened::Due(place) => match self.due.swap_remove(place).1 {
                Due::Cut(fault, cut) => self.cut(fault, cut, proxies).await?,
                Due::Mend(place) => {
                    if let Some(armed) = self.cuts.get_mut(place).and_then(Option::take) {
                        proxies.heal(armed).await?;
                    }
                }
            },
        }
        Ok(())
    }

    /// The partition that a step has just asked for.
    fn begins(&self, facts: &FaultFacts) -> Option<(FaultId, Partition)> {
        let FaultEvent::Fired(Firing { step: Some(_), .. }) = &facts.event else { return None };
        match self.rules.get(usize::from(facts.fault.0))?.fault.act {
            Act::Partition(cut) => Some((facts.fault, cut)),
            _ => None,
        }
    }

    async fn cut(
        &mut self,
        fault: FaultId,
        cut: Partition,
        proxies: &Proxies,
    ) -> Result<(), WireError> {
        let armed = proxies.partition(fault, cut.wire, None, cut.how).await?;
        if let Some(lasts) = cut.lasts {
            self.due.push((Instant::now() + lasts, Due::Mend(self.cuts.len())));
        }
        self.cuts.push(Some(armed));
        Ok(())
    }

    /// Takes all rules back; what they hold or silence is over then.
    pub(super) async fn disarm(&mut self, proxies: &Proxies) -> Result<(), WireError> {
        for armed in self.cuts.drain(..).flatten().chain(self.armed.take()) {
            proxies.heal(armed).await?;
        }
        Ok(())
    }

    /// What came in meanwhile, and what each rule has done; none where there are no rules.
    pub(super) async fn finish(mut self) -> Option<String> {
        while let Ok(notice) = self.notices.try_recv() {
            self.tell(notice.facts).await;
        }
        for (id, _) in (0_u16..).map(FaultId).zip(&self.rules) {
            let healed = FaultEvent::Healed;
            let at = self.told.clock.now();
            self.told.record(FaultFacts { fault: id, at, event: healed }).await;
        }
        let line = |(number, rule): (usize, &Counted)| {
            format!("rule {} ({}) {}", number + 1, rule.fault.name(), rule.summary())
        };
        let lines: Vec<String> = self.rules.iter().enumerate().map(line).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    async fn tell(&mut self, facts: FaultFacts) {
        let number = usize::from(facts.fault.0);
        let Some(rule) = self.rules.get_mut(number) else { return };
        let name = rule.fault.name();
        // A partition that a step asked for fires with the step, and a second time by itself.
        let is_partition = matches!(rule.fault.act, Act::Partition(_));
        let at_step = matches!(rule.fault.at, Trigger::Step(_));
        match &facts.event {
            FaultEvent::Fired(firing) if firing.step.is_some() || !at_step => {
                rule.fired += 1;
                let line =
                    format!("{}  rule {} ({name}) fired{}", facts.at, number + 1, place(firing));
                ui::note(&self.told.secrets.redact(&line));
            }
            FaultEvent::Effect { firing, proof }
                if !is_partition || matches!(proof, Proof::Cut { .. }) =>
            {
                rule.proven.insert(*firing);
            }
            _ => {}
        }
        if self.told.format == Format::Json {
            let line = json!({
                "rule": number + 1,
                "name": name,
                "at-us": facts.at.0,
                "event": facts.event,
            });
            ui::result(&format!("{}\n", self.told.secrets.redact(&line.to_string())));
        }
        self.told.record(facts).await;
    }
}

impl Counted {
    fn summary(&self) -> String {
        let proven = self.proven.len() as u64;
        match (self.fired, proven) {
            (0, _) => "never fired".to_owned(),
            (1, 1) => "fired once, as the other side shows".to_owned(),
            (fired, proven) if fired == proven => {
                format!("fired {}, each shown by the other side", counted(fired, "time", "times"))
            }
            (fired, proven) => {
                let fired = counted(fired, "time", "times");
                format!("fired {fired}, {} shown by the other side", thousands(proven))
            }
        }
    }
}

impl Told {
    async fn record(&self, facts: FaultFacts) {
        if let Some(recorder) = &self.recorder {
            recorder.record(Fact::Fault(facts)).await;
        }
    }
}

/// At which step, for people.
fn place(firing: &Firing) -> String {
    let Some(FiredStep { name, subject, .. }) = &firing.step else { return String::new() };
    match subject.as_deref().filter(|subject| !name.ends_with(subject)) {
        Some(subject) => format!(" at {name} ({subject})"),
        None => format!(" at {name}"),
    }
}
