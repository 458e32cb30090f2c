//! What the wires saw: the steps of a witness, each with what matters of it and what it was answered.
//!
//! A line stands where its step began; a COMMIT, which holds only once it is answered, says when that
//! was. Who made a step is said where that is known, and where it makes a
//! difference. A lock that was asked for again and again is one line.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::audit::{Case, Scene, Seen, Struck, Witness, plural, thousands};
use crate::history::{AttemptId, Role, RunTime, Step, StepEnd, Wire};

use super::{Need, client, postgres};

/// From here on a way through the proxy is told to have taken long.
const LATE: Duration = Duration::from_millis(1);

pub(super) fn scenes(
    case: &Case<'_>,
    witness: &Witness,
    is_about_stock: bool,
) -> Vec<(Need, Scene)> {
    let makers = Makers::new(case, witness);
    let mut lines: Vec<Line<'_>> = Vec::new();
    let has_rows = !postgres::unseen_rows(case, witness).is_empty();
    let is_told_by_row = |seen: &&Seen| has_rows && seen.order.is_none() && is_order(seen);
    for seen in witness.steps.iter().filter(|seen| !is_told_by_row(seen)) {
        let step = &seen.step;
        match lines.iter_mut().find(|line| line.repeats(step)) {
            Some(line) => (line.times, line.last) = (line.times + 1, step.asked),
            None => lines.push(Line { step, seen, times: 1, last: step.asked }),
        }
    }
    let marks = &witness.faults;
    lines.iter().map(|line| line.scene(case, marks, &makers, is_about_stock)).collect()
}

/// Whether a step of a witness inserted an order.
pub(super) fn is_order(seen: &Seen) -> bool {
    seen.step.role == Some(Role::OrderInsert) && seen.step.is_done()
}

struct Line<'a> {
    step: &'a Step,
    seen: &'a Seen,
    times: u64,
    /// When the last one of its kind began.
    last: RunTime,
}

impl Line<'_> {
    /// Whether a step asks again for the same lock, with the same token, and gets the same answer.
    fn repeats(&self, step: &Step) -> bool {
        let asks = |it: &Step| it.role == Some(Role::Lock) && it.token.is_some();
        asks(step)
            && asks(self.step)
            && (step.link, step.token, &step.verb)
                == (self.step.link, self.step.token, &self.step.verb)
            && (&step.subject, &step.answer) == (&self.step.subject, &self.step.answer)
    }

    fn scene(
        &self,
        case: &Case<'_>,
        marks: &[Struck],
        makers: &Makers,
        is_about_stock: bool,
    ) -> (Need, Scene) {
        let step = self.step;
        let mut what = match step.wire {
            Wire::Redis => redis(step),
            Wire::Postgres => sql(case, step),
            Wire::Http => subject(step),
        };
        what.push_str(&match &self.seen.order {
            Some(order) if step.role == Some(Role::Commit) => format!(" of order {order}"),
            Some(order) => format!(" order {order}"),
            None => String::new(),
        });
        let is_marked = marks.iter().any(|mark| is_at(mark, step));
        if is_marked {
            what.push_str(&passed_on(step));
        }
        what.push_str(&ending(step));
        if is_marked {
            what.push_str(&told(step));
        }
        if self.times > 1 {
            what.push_str(&format!(", {} times until {}", thousands(self.times), self.last));
        }
        // The order says enough.
        if self.seen.order.is_none() {
            what.push_str(&makers.maker(case, self.seen));
        }
        let scene = Scene { at: Some(step.asked), seen_by: step.wire.name().to_owned(), what };
        let is_key = if is_about_stock { moves_stock(step) } else { turns(step) };
        let is_key = is_key && self.times == 1 || step.end == StepEnd::Failed;
        (if is_key { Need::Key } else { Need::Telling }, scene)
    }
}

/// Whether a case turns on a step. Who asks for a lock in vain has to wait; who looks for an order and
/// finds none goes on as if it were the first.
fn turns(step: &Step) -> bool {
    let answer = step.answer.as_deref().unwrap_or_default();
    match step.role {
        Some(Role::Lock) => answer == "OK" || answer.parse::<i64>().is_ok_and(|it| it > 0),
        Some(Role::Unlock | Role::StockWrite | Role::OrderInsert | Role::Commit | Role::Pay) => {
            true
        }
        _ => answer == "SELECT 0",
    }
}

/// The same where the case is about what is left of a product.
fn moves_stock(step: &Step) -> bool {
    matches!(step.role, Some(Role::StockRead | Role::StockWrite | Role::OrderInsert | Role::Commit))
}

/// `SET lock:stock:42 NX PX 3000`, `EVAL unlock lock:stock:42`.
fn redis(step: &Step) -> String {
    let mut what = subject(step);
    let is_set = &*step.verb == "SET";
    if is_set && step.role == Some(Role::Lock) {
        what.push_str(" NX");
    }
    if let Some(lease) = step.lease_ms {
        match &*step.verb {
            "SET" => what.push_str(&format!(" PX {lease}")),
            "PEXPIRE" => what.push_str(&format!(" {lease}")),
            _ => {}
        }
    }
    what
}

/// Verb, the word for what a script does, and what it is done to.
fn subject(step: &Step) -> String {
    let subject = step.subject.as_ref().or(step.object.as_ref());
    let Some(subject) = subject else { return step.verb.to_string() };
    let is_script = step.wire == Wire::Redis && step.verb.starts_with("EVAL");
    let script = step.object.as_deref().and_then(|it| it.split_once(' ')).filter(|_| is_script);
    match script {
        Some((word, _)) => format!("{} {word} {subject}", step.verb),
        None => format!("{} {subject}", step.verb),
    }
}

/// `INSERT INTO orders ...`, `SELECT ... FROM product_stock FOR UPDATE`.
fn sql(case: &Case<'_>, step: &Step) -> String {
    let Some(object) = &step.object else { return step.verb.to_string() };
    let text = step.statement.and_then(|id| case.history.statements.get(id.0 as usize));
    let text = text.map_or_else(String::new, |text| text.sql.to_ascii_uppercase());
    match &*step.verb {
        "SELECT" if text.contains("FOR UPDATE") => format!("SELECT ... FROM {object} FOR UPDATE"),
        "SELECT" => format!("SELECT ... FROM {object}"),
        "INSERT" => format!("INSERT INTO {object} ..."),
        "UPDATE" => format!("UPDATE {object} ..."),
        "DELETE" => format!("DELETE FROM {object} ..."),
        verb => format!("{verb} {object}"),
    }
}

/// What it was answered, where that says more than that it was done.
fn ending(step: &Step) -> String {
    let answer = step.answer.as_deref().unwrap_or_default();
    match step.end {
        StepEnd::Unanswered => return " -> no answer was seen".to_owned(),
        StepEnd::Skipped => return " -> skipped, after an error before it".to_owned(),
        StepEnd::Failed => return format!(" -> error {answer}"),
        StepEnd::Done => {}
    }
    if step.wire != Wire::Postgres {
        return if answer.is_empty() { String::new() } else { format!(" -> {answer}") };
    }
    let rows = answer.rsplit(' ').next().and_then(|rows| rows.parse::<u64>().ok());
    match (&*step.verb, rows) {
        ("INSERT", Some(1)) => String::new(),
        (_, Some(rows)) => format!(" -> {}", plural(rows, "row", "rows")),
        ("COMMIT" | "END", None) if answer == "COMMIT" => {
            step.answered.map_or_else(String::new, |at| format!(", answered at {at}"))
        }
        (verb, None) if answer.is_empty() || answer == verb => String::new(),
        (_, None) => format!(" -> {answer}"),
    }
}

/// Whether a fault fired at a step.
fn is_at(mark: &Struck, step: &Step) -> bool {
    mark.step.as_ref().is_some_and(|fired| (fired.link, fired.asked) == (step.link, step.asked))
}

/// When its request was passed on, where that took long.
fn passed_on(step: &Step) -> String {
    let late = step.forwarded.filter(|&sent| sent.since(step.asked) >= LATE);
    late.map_or_else(String::new, |sent| format!(", passed on at {sent}"))
}

/// When its reply was passed on, where that took long or never happened.
fn told(step: &Step) -> String {
    match (step.answered, step.delivered) {
        (Some(answered), Some(told)) if told.since(answered) >= LATE => format!(", told at {told}"),
        (Some(_), None) => ", and nobody was told".to_owned(),
        _ => String::new(),
    }
}

/// Who can have made the steps of a witness.
struct Makers {
    /// Names of its attempts, where there are several.
    attempts: Vec<(AttemptId, String)>,
    has_several_instances: bool,
}

impl Makers {
    fn new(case: &Case<'_>, witness: &Witness) -> Self {
        let named = client::named(case, witness);
        let attempts = named.into_iter().map(|(attempt, name)| (attempt.id, name)).collect();
        let instances: BTreeSet<_> =
            witness.steps.iter().filter_map(|seen| seen.instance).collect();
        Self { attempts, has_several_instances: instances.len() > 1 }
    }

    fn maker(&self, case: &Case<'_>, seen: &Seen) -> String {
        let is_one = self.attempts.len() < 2;
        let attempt = self.attempts.iter().find(|(id, _)| Some(*id) == seen.attempt);
        if let Some((_, name)) = attempt.filter(|_| !is_one) {
            return format!(" ({name})");
        }
        let instances = &case.history.instances;
        let instance = instances.iter().find(|it| Some(it.id) == seen.instance);
        match instance.filter(|_| self.has_several_instances) {
            Some(instance) => format!(" ({})", instance.name),
            None => String::new(),
        }
    }
}
