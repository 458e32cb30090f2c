//! What one check hands back: its line of the gate table, its findings, its doubts.

use crate::codes::Code;
use crate::history::Doubt;

use super::{Evidence, Finding, Gate, GateState};

#[derive(Debug, Default)]
pub(super) struct Ruling {
    /// Absent where the check adds to another one's line.
    pub gate: Option<Gate>,
    pub findings: Vec<Finding>,
    pub doubts: Vec<Doubt>,
}

impl Ruling {
    fn new(code: &'static Code, state: GateState, detail: String) -> Self {
        Self { gate: Some(Gate { code, state, detail }), ..Self::default() }
    }

    pub fn held(code: &'static Code, detail: impl Into<String>) -> Self {
        Self::new(code, GateState::Held, detail.into())
    }

    pub fn not_judged(code: &'static Code, detail: impl Into<String>) -> Self {
        Self::new(code, GateState::NotJudged, detail.into())
    }

    /// A claim that would rest on the lack of an attempt, where attempts may be missing.
    pub fn not_known(code: &'static Code) -> Self {
        Self::not_judged(code, "attempts may be missing from the journal")
    }

    /// Broken if there is a finding that fails the gate, held otherwise.
    pub fn of(code: &'static Code, detail: impl Into<String>, findings: Vec<Finding>) -> Self {
        let broken = findings.iter().any(|finding| finding.severity.fails_the_gate());
        let state = if broken { GateState::Broken } else { GateState::Held };
        Self { findings, ..Self::new(code, state, detail.into()) }
    }

    /// What held because the run had nothing of its kind isn't judged: `of` is how much there was.
    pub fn unless_none(self, of: usize, why: &str) -> Self {
        match self.gate {
            Some(Gate { code, .. }) if of == 0 && self.findings.is_empty() => {
                Self { doubts: self.doubts, ..Self::not_judged(code, why) }
            }
            _ => self,
        }
    }

    /// A vacuity gate that was missed: the run is inconclusive.
    pub fn missed(code: &'static Code, what: impl Into<String>, cure: impl Into<String>) -> Self {
        let what = what.into();
        Self::new(code, GateState::Broken, what.clone()).doubting(code, what, cure)
    }

    /// Adds a reason why less is proven.
    pub fn doubting(
        mut self,
        code: &'static Code,
        what: impl Into<String>,
        cure: impl Into<String>,
    ) -> Self {
        let (what, cure) = (what.into(), cure.into());
        self.doubts.push(Doubt { code: code.id.to_owned(), what, cure });
        self
    }
}

impl Evidence {
    pub(super) fn of(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }
}
