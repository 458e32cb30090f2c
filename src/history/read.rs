//! A run read back from its journal.
//!
//! A journal without its seal is what a killed run leaves: everything up to the last whole line is
//! read, and [`History::sealed`] says that there may have been more.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::strings::Written;
use super::{
    Attempt, Body, BodyId, BurstFacts, ClockFacts, CounterFacts, Doubt, DrainFacts, Exit, Fact,
    FaultFacts, InstanceFacts, Intent, IntentId, LinkFacts, PhaseFacts, PhaseId, RunFacts, RunTime,
    SCHEMA_VERSION, StatementFacts, Step, Strings, Variant, WireFacts,
};

/// What can go wrong when a journal is read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read the journal {path}")]
    Open { path: PathBuf, source: std::io::Error },
    #[error("{path}:{line}: this line of the journal cannot be read")]
    Line { path: PathBuf, line: u64, source: serde_json::Error },
    #[error("{path}: the journal does not begin with the facts of a run")]
    NoRun { path: PathBuf },
    #[error("{path}:{line}: intent {intent} is named before it is described")]
    UnknownIntent { path: PathBuf, line: u64, intent: IntentId },
    #[error(
        "{path}: the journal has version {found}, this dupeproof reads version {SCHEMA_VERSION}"
    )]
    Version { path: PathBuf, found: u32 },
    #[error("{path}: the journal is sealed with {sealed} facts, but {found} can be read")]
    Count { path: PathBuf, sealed: u64, found: u64 },
}

/// The line of an attempt, which most lines are: its texts are shared before they take any memory.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AttemptLine<'a> {
    #[serde(borrow)]
    attempt: Attempt<Written<'a>>,
}

/// The line of a step, of which there are even more.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepLine<'a> {
    #[serde(borrow)]
    step: Step<Written<'a>>,
}

fn read_line(text: &str, strings: &mut Strings) -> serde_json::Result<Fact> {
    if text.starts_with("{\"attempt\":") {
        let AttemptLine { attempt } = serde_json::from_str(text)?;
        return Ok(Fact::Attempt(attempt.with_texts(|text| strings.shared(&text))));
    }
    if text.starts_with("{\"step\":") {
        let StepLine { step } = serde_json::from_str(text)?;
        return Ok(Fact::Step(step.with_texts(|text| strings.shared(text))));
    }
    serde_json::from_str(text)
}

/// Everything a run wrote down.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    pub run: RunFacts,
    pub instances: Vec<InstanceFacts>,
    pub phases: Vec<PhaseFacts>,
    pub ended: HashMap<PhaseId, RunTime>,
    /// By id: `intents[id]`.
    pub intents: Vec<Intent>,
    /// By id: `variants[id]`.
    pub variants: Vec<Variant>,
    /// In the order in which they ended.
    pub attempts: Vec<Attempt>,
    pub bodies: HashMap<BodyId, Body>,
    /// Connections through the proxies, in the order in which they were known.
    pub links: Vec<LinkFacts>,
    /// By id: `statements[id]`.
    pub statements: Vec<StatementFacts>,
    /// In the order in which they ended; on one link that is the order in which they began.
    pub steps: Vec<Step>,
    /// One for each wire that had proxies.
    pub wires: Vec<WireFacts>,
    /// In the order in which they happened, as far as one thread saw them.
    pub faults: Vec<FaultFacts>,
    pub bursts: Vec<BurstFacts>,
    pub exits: Vec<Exit>,
    pub drains: Vec<DrainFacts>,
    pub counters: Vec<CounterFacts>,
    pub clock: Option<ClockFacts>,
    pub doubts: Vec<Doubt>,
    pub interrupted: Option<RunTime>,
    pub sealed: bool,
}

impl History {
    /// A history of nothing yet; for reading and for tests.
    pub fn new(run: RunFacts) -> Self {
        Self {
            run,
            instances: Vec::new(),
            phases: Vec::new(),
            ended: HashMap::new(),
            intents: Vec::new(),
            variants: Vec::new(),
            attempts: Vec::new(),
            bodies: HashMap::new(),
            links: Vec::new(),
            statements: Vec::new(),
            steps: Vec::new(),
            wires: Vec::new(),
            faults: Vec::new(),
            bursts: Vec::new(),
            exits: Vec::new(),
            drains: Vec::new(),
            counters: Vec::new(),
            clock: None,
            doubts: Vec::new(),
            interrupted: None,
            sealed: false,
        }
    }

    /// Reads `journal.jsonl`.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Self::read_sharing(path, &mut Strings::default())
    }

    /// The same, with texts shared with whatever else goes through `strings`.
    pub fn read_sharing(path: &Path, strings: &mut Strings) -> Result<Self, ReadError> {
        let open = |source| ReadError::Open { path: path.to_owned(), source };
        let mut lines = BufReader::with_capacity(256 * 1024, File::open(path).map_err(open)?);
        let mut history = None;
        let mut text = String::new();
        let mut line = 0;
        loop {
            text.clear();
            line += 1;
            if lines.read_line(&mut text).map_err(open)? == 0 {
                break;
            }
            if !text.ends_with('\n') {
                break; // The last line of a killed run: never whole, never counted.
            }
            let fact = read_line(&text, strings).map_err(|source| ReadError::Line {
                path: path.to_owned(),
                line,
                source,
            })?;
            match (&mut history, fact) {
                (None, Fact::Run(run)) if run.schema_version != SCHEMA_VERSION => {
                    return Err(ReadError::Version {
                        path: path.to_owned(),
                        found: run.schema_version,
                    });
                }
                (None, Fact::Run(run)) => history = Some(Self::new(*run)),
                (None, _) => return Err(ReadError::NoRun { path: path.to_owned() }),
                (Some(history), Fact::Sealed { facts }) => {
                    if facts != line - 1 {
                        let path = path.to_owned();
                        return Err(ReadError::Count { path, sealed: facts, found: line - 1 });
                    }
                    history.sealed = true;
                }
                (Some(history), fact) => {
                    history.add(fact).map_err(|intent| ReadError::UnknownIntent {
                        path: path.to_owned(),
                        line,
                        intent,
                    })?;
                }
            }
        }
        history.ok_or_else(|| ReadError::NoRun { path: path.to_owned() })
    }

    /// Adds one fact; an attempt of an intent that nobody described is handed back.
    fn add(&mut self, fact: Fact) -> Result<(), IntentId> {
        match fact {
            Fact::Run(_) | Fact::Sealed { .. } => {}
            Fact::Instance(instance) => self.instances.push(instance),
            Fact::PhaseStarted(phase) => self.phases.push(phase),
            Fact::PhaseEnded { phase, at } => {
                self.ended.insert(phase, at);
            }
            Fact::Intent(intent) if intent.id.0 as usize != self.intents.len() => {
                return Err(intent.id);
            }
            Fact::Intent(intent) => self.intents.push(intent),
            Fact::Variant(variant) => self.variants.push(variant),
            Fact::Body(body) => {
                self.bodies.insert(body.id, body);
            }
            Fact::Attempt(attempt) if attempt.intent.0 as usize >= self.intents.len() => {
                return Err(attempt.intent);
            }
            Fact::Attempt(attempt) => self.attempts.push(attempt),
            Fact::Link(link) => self.links.push(link),
            Fact::Statement(statement) => self.statements.push(statement),
            Fact::Step(step) => self.steps.push(step),
            Fact::Wire(wire) => self.wires.push(wire),
            Fact::Fault(fault) => self.faults.push(fault),
            Fact::Burst(burst) => self.bursts.push(burst),
            Fact::Exit(exit) => self.exits.push(exit),
            Fact::Drain(drain) => self.drains.push(drain),
            Fact::Counter(counter) => self.counters.push(counter),
            Fact::Clock(clock) => self.clock = Some(clock),
            Fact::Doubt(doubt) => self.doubts.push(doubt),
            Fact::Interrupted { at } => self.interrupted = Some(at),
        }
        Ok(())
    }

    /// The intent with this id.
    pub fn intent(&self, id: IntentId) -> &Intent {
        &self.intents[id.0 as usize]
    }
}
