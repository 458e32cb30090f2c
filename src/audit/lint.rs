//! What the lints of the trace have in common: each looks at one request after the other, and what it
//! finds is shown with its steps.
//!
//! Judged where a request was alone with its intent, so that its steps are its own, and where no step is
//! missing. What was found in many requests is one finding, since it is one place in the code.

use crate::codes::{Code, Severity};
use crate::history::{Attempt, AttemptId, RunTime};

use super::bench::Bench;
use super::ruling::Ruling;
use super::steps::Placed;
use super::trace::Request;
use super::words::{plural, thousands, times};
use super::{Evidence, Finding, Seen, Witness};

/// The most attempts that a witness names.
const WITNESSES: usize = 3;

/// One way in which the requests of a run are weak.
pub(super) struct Lint {
    pub code: &'static Code,
    /// What was seen, in a sentence to which a number of times can be added.
    pub what: &'static str,
    pub help: &'static str,
}

/// What was seen once.
#[derive(Debug)]
pub(super) struct Sight<'a> {
    pub attempts: Vec<&'a Attempt>,
    /// What it was about: a key of Redis, a table.
    pub subject: String,
    pub steps: Vec<Placed<'a>>,
    /// A conclusion with its reason.
    pub because: String,
}

impl<'a> Sight<'a> {
    pub fn of(
        request: &Request<'a>,
        subject: &str,
        steps: &[&Placed<'a>],
        because: String,
    ) -> Self {
        Self {
            attempts: vec![request.attempt],
            subject: subject.to_owned(),
            steps: steps.iter().map(|at| **at).collect(),
            because,
        }
    }
}

impl Lint {
    /// Looks at every request that was alone.
    pub fn judge<'a>(
        &self,
        bench: &Bench<'a>,
        look: impl Fn(&Request<'a>) -> Option<Sight<'a>>,
    ) -> Ruling {
        match self.not_judged(bench) {
            Some(ruling) => ruling,
            None => {
                let sights: Vec<Sight<'a>> = bench.trace.requests.iter().filter_map(look).collect();
                self.rule(bench, &sights)
            }
        }
    }

    /// Why there is nothing to look at, if so. A run without proxies has no line for it at all.
    fn not_judged(&self, bench: &Bench<'_>) -> Option<Ruling> {
        let trace = &bench.trace;
        if !trace.is_watched() {
            return Some(Ruling::default());
        }
        if !trace.has_every_step() {
            return Some(Ruling::not_judged(self.code, "steps or attempts may be missing"));
        }
        let is_empty = trace.requests.is_empty();
        is_empty.then(|| Ruling::not_judged(self.code, "no request was alone on the wires"))
    }

    fn rule<'a>(&self, bench: &Bench<'a>, sights: &[Sight<'a>]) -> Ruling {
        let requests = bench.trace.requests.len() as u64;
        let of = plural(requests, "single request", "single requests");
        let detail = match sights.len() {
            0 => format!("not seen in {of}"),
            seen => format!("seen in {} of {of}", thousands(seen as u64)),
        };
        Ruling::of(self.code, detail, self.finding(bench, sights).into_iter().collect())
    }

    pub fn finding<'a>(&self, bench: &Bench<'a>, sights: &[Sight<'a>]) -> Option<Finding> {
        let first = sights.first()?;
        let mut evidence =
            Evidence::of(&["key", "attempt", "subject", "step", "sent", "answered", "answer"]);
        for sight in sights {
            evidence.rows.extend(sight.steps.iter().map(|at| row(bench, sight, at)));
        }
        let attempts: Vec<AttemptId> = first.attempts.iter().map(|attempt| attempt.id).collect();
        Some(Finding {
            code: self.code,
            severity: self.code.severity.unwrap_or(Severity::Protected),
            title: format!("{}{}", self.what, times(sights.len() as u64)),
            count: sights.len() as u64,
            evidence,
            witness: Witness {
                heading: format!("what was done to {}", first.subject),
                attempts: attempts.into_iter().take(WITNESSES).collect(),
                steps: first.steps.iter().map(Seen::of).collect(),
                ..Witness::default()
            },
            therefore: vec![first.because.clone()],
            help: self.help.to_owned(),
        })
    }
}

fn row(bench: &Bench<'_>, sight: &Sight<'_>, at: &Placed<'_>) -> Vec<String> {
    let time = |time: Option<RunTime>| time.map_or_else(|| "-".to_owned(), |time| time.to_string());
    let intent = at.intent.map(|id| bench.case.history.intent(id));
    let key = intent.map_or("-", |it| if it.key.is_empty() { &it.user } else { &it.key });
    let attempt = at.attempt.map_or_else(|| "-".to_owned(), |it| bench.index.name_of(it));
    vec![
        key.to_owned(),
        attempt,
        sight.subject.clone(),
        at.name(),
        time(at.step.forwarded),
        time(at.step.answered),
        at.step.answer.as_deref().unwrap_or("-").to_owned(),
    ]
}
