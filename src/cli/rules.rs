//! `dupeproof proxy --rules FILE`: rules are armed, told of as they fire, and taken back in the end.
//!
//! Rules act at steps by themselves. What is left to be done here is what a rule can't: a partition is
//! begun while the step that asked for it is held, or when its time has come, and ends when it has lasted.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::Format;
use super::fronts::Front;
use super::profile;
use crate::history::{
    Clock, Fact, FaultEvent, FaultFacts, FaultId, FaultPlan, FiredStep, Firing, FiringEnd, PhaseId,
    Proof, Recorder, Secrets, Wire,
};
use crate::profile::{Act, Fault, LoadProfileError, Partition, Trigger, parse_rules};
use crate::report::format::{counted, thousands};
use crate::ui::{self, Failure};
use crate::wire::{Armed, Notice, Proxies, Rule, WireAct, WireError};

/// A file with more is a mistake of another kind.
const MOST_RULES: usize = 1_000;
/// A partition begins at once; a step that waits for it is let go at the latest then.
const BEGUN_WITHIN: Duration = Duration::from_secs(5);

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

fn plan(fault: &Fault) -> FaultPlan {
    let act = fault.act.word().to_owned();
    FaultPlan { phase: PhaseId(0), name: fault.name(), act, at_least: 1 }
}

/// The rule on the wires; none where the clock alone triggers.
fn rule(id: FaultId, fault: &Fault) -> Option<Rule> {
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
    Some(Rule { fault: id, at: at.clone(), only: None, act, seed: u64::from(id.0) })
}
