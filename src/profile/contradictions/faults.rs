//! Each fault by itself: an act at a point that it can have, at steps that there are.

use std::ops::Range;

use super::super::fault::StepPattern;
use super::super::mistake::{Mistake, quoted};
use super::super::node::{Entry, Node};
use super::super::pattern;
use super::super::suggest::listed;
use crate::codes::{self, Code};
use crate::history::{StepPoint, Wire};

/// Acts that mean nothing without a step.
const AT_STEPS: [&str; 8] =
    ["hold", "drop-request", "drop-reply", "delay", "reset", "fail", "black-hole", "expire"];

/// Keys that tell which of the steps that fit, and whether `*` alone leaves anything out.
const NARROWING: [&str; 5] = ["role", "key", "table", "sql", "parameter"];

/// The points that an act can have.
fn points(act: &str) -> &'static [StepPoint] {
    use StepPoint::{After, Before};
    match act {
        "hold" | "delay" | "black-hole" | "expire" => &[Before, After],
        "drop-request" | "fail" => &[Before],
        "drop-reply" => &[After],
        _ => &StepPoint::ALL,
    }
}

/// Why an act has its points.
fn reason(act: &str) -> &'static str {
    match act {
        "drop-request" => "a request that the server has can't be taken back",
        "drop-reply" => "there is a reply only after the step",
        "fail" => "what the server has done can't be told to have failed",
        _ => "a step that is under way can't be stopped: it waits on one side of the server",
    }
}

/// A step at which something is done: its point with the pattern, and the keys beside it.
pub(super) struct Step<'a> {
    pub(super) node: &'a Node,
    pub(super) point: StepPoint,
    pub(super) named: &'a Entry,
    /// None: any step.
    pub(super) pattern: Option<StepPattern>,
}

impl<'a> Step<'a> {
    /// The step of a fault whose point and pattern are sound.
    pub(super) fn of(fault: &'a Node) -> Option<Self> {
        let node = fault.get("at")?.get("step")?;
        let given = |point: &StepPoint| node.mentions(point.word());
        let [point] = StepPoint::ALL.into_iter().filter(given).collect::<Vec<_>>()[..] else {
            return None;
        };
        let named = node.entry(point.word())?;
        Some(Self { node, point, named, pattern: pattern::read(named.node.text()?) })
    }

    /// The wire that its name or one of the keys beside it tells, with the place that does.
    pub(super) fn wire(&self) -> Option<(Wire, &Range<usize>)> {
        let named = self.pattern.as_ref().map(|pattern| (pattern.wire, &self.named.node.span));
        named.or_else(|| {
            let of_keys =
                [("key", Wire::Redis), ("table", Wire::Postgres), ("sql", Wire::Postgres)];
            of_keys.iter().find_map(|(key, wire)| Some((*wire, &self.node.get(key)?.span)))
        })
    }
}

/// The one act of a fault.
pub(super) fn act(fault: &Node) -> Option<&Entry> {
    match fault.get("do")?.entries() {
        [act] => Some(act),
        _ => None,
    }
}

pub(super) fn compare(fault: &Node, found: &mut Vec<Mistake>) {
    let act = act(fault);
    if let (Some(act), Some(at)) = (act, fault.get("at")) {
        has_a_step(act, at, found);
    }
    let Some(node) = fault.get("at").and_then(|at| at.get("step")) else { return };
    counts_in_one_way(node, found);
    can_happen(node, found);
    let Some(step) = Step::of(fault) else { return };
    is_told_apart(&step, found);
    has_what_its_wire_has(&step, found);
    if let Some(act) = act {
        has_its_point(act, &step, found);
        if act.name == "fail" {
            fails_as_its_wire(&act.node, &step, found);
        }
    }
}

/// Rules know no intents: what counts them never fires.
pub(super) fn is_anyone_s(rule: &Node, found: &mut Vec<Mistake>) {
    let Some(step) = Step::of(rule) else { return };
    let mut never = |span: &Range<usize>, what: &str, help: &str| {
        let label = "proxies alone know no intents";
        let told = mistake(&codes::FAULT_NEVER_FIRES, span, what.to_owned(), label);
        found.push(told.help(help));
    };
    let first = step.node.entry("first-of-each").filter(|it| it.node.flag() == Some(true));
    if let Some(entry) = first {
        let help = "write `nth = 1` for the first of all, or `every = true`";
        never(&entry.key, "there is no first step of each intent", help);
    }
    if step.pattern.as_ref().is_some_and(|pattern| pattern.number.is_some()) {
        let help = "leave the number out, and count all steps that fit with `nth`";
        never(&step.named.node.span, "a step's number counts those of its intent", help);
    }
    let cuts = act(rule).is_some_and(|act| act.name == "partition");
    if cuts && step.point == StepPoint::InBuffer {
        let what = "a partition of a rule can't begin `in-buffer` a step".to_owned();
        let label = "the step waits until the server is cut off";
        let told = mistake(&codes::FAULT_POINT, &step.named.key, what, label);
        found.push(told.help("write `before` or `after` in its place"));
    }
}

fn mistake(code: &'static Code, span: &Range<usize>, what: String, label: &str) -> Mistake {
    Mistake::new(code, span.clone(), what).label(label)
}

fn has_a_step(act: &Entry, at: &Node, found: &mut Vec<Mistake>) {
    let Some(time) = at.entry("time").filter(|_| !at.mentions("step")) else { return };
    if AT_STEPS.contains(&act.name.as_str()) {
        let what = format!("`{}` is done to a step, and this is a time", act.name);
        found.push(
            mistake(&codes::FAULT_POINT, &time.key, what, "at this time there is no step")
                .help("name the step: `at.step = { after = \"postgres COMMIT\" }`"),
        );
    }
}

fn has_its_point(act: &Entry, step: &Step<'_>, found: &mut Vec<Mistake>) {
    let points = points(&act.name);
    if points.contains(&step.point) {
        return;
    }
    let can = listed(points.iter().map(|point| point.word()), "or");
    let what = format!("`{}` can't be done `{}` a step", act.name, step.point.word());
    found.push(
        mistake(&codes::FAULT_POINT, &step.named.key, what, reason(&act.name))
            .help(format!("write {can} in its place")),
    );
}

fn counts_in_one_way(step: &Node, found: &mut Vec<Mistake>) {
    let is_said = |entry: &&Entry| match entry.name.as_str() {
        "nth" => true,
        "every" | "first-of-each" => entry.node.flag() == Some(true),
        _ => false,
    };
    let said: Vec<&Entry> = step.entries().iter().filter(is_said).collect();
    if let [first, second, ..] = said.as_slice() {
        let what = format!("a step has `{}` and `{}`", first.name, second.name);
        let label = format!("`{}` says which already", first.name);
        found.push(
            mistake(&codes::ONE_OF, &second.key, what, &label)
                .help("at most one of `nth`, `every` and `first-of-each`: take one out"),
        );
    }
}

fn can_happen(step: &Node, found: &mut Vec<Mistake>) {
    if let Some(probability) = step.get("probability").filter(|node| node.share() == Some(0.0)) {
        let what = "a fault with probability 0 never fires".to_owned();
        found.push(
            mistake(&codes::FAULT_NEVER_FIRES, &probability.span, what, "never")
                .help("a probability above 0; `armed = false` runs the load without the fault"),
        );
    }
}

fn is_told_apart(step: &Step<'_>, found: &mut Vec<Mistake>) {
    let is_open = step.pattern.as_ref().is_none_or(|pattern| {
        pattern.verb.is_none() && pattern.object.is_none() && pattern.number.is_none()
    });
    if is_open && !NARROWING.iter().any(|key| step.node.mentions(key)) {
        let what = match &step.pattern {
            Some(pattern) => format!("this is any step of `{}`", pattern.wire.name()),
            None => "this is any step at all".to_owned(),
        };
        found.push(
            mistake(&codes::STEP_PATTERN, &step.named.node.span, what, "nothing tells which")
                .help(format!("add {} beside it", listed(NARROWING, "or")))
                .help("or name the step: `postgres COMMIT`, `redis EVAL unlock`"),
        );
    }
}

/// Which wire has what a key beside the step asks for.
fn has_what_its_wire_has(step: &Step<'_>, found: &mut Vec<Mistake>) {
    let Some((wire, told_by)) = step.wire() else { return };
    let asked: [(&str, &[Wire], &str); 4] = [
        ("key", &[Wire::Redis], "only steps of Redis have keys"),
        ("table", &[Wire::Postgres], "only steps of PostgreSQL have tables"),
        ("sql", &[Wire::Postgres], "only steps of PostgreSQL have SQL"),
        (
            "parameter",
            &[Wire::Redis, Wire::Postgres],
            "only steps of Redis and PostgreSQL have parameters",
        ),
    ];
    for (key, wires, why) in asked {
        let Some(entry) = step.node.entry(key).filter(|entry| entry.node.span != *told_by) else {
            continue;
        };
        if !wires.contains(&wire) {
            let what = format!("`{key}` fits no step of `{}`", wire.name());
            found.push(
                mistake(&codes::FAULT_NEVER_FIRES, &entry.key, what, why)
                    .help(format!("take `{key}` out, or name a step of another wire")),
            );
        }
    }
}

fn fails_as_its_wire(failure: &Node, step: &Step<'_>, found: &mut Vec<Mistake>) {
    if let Some(message) = failure.entry("message").filter(|entry| failure.is_written(entry))
        && !failure.mentions("sqlstate")
    {
        let what = "only errors of PostgreSQL have a message of their own".to_owned();
        found.push(
            mistake(&codes::FAILURE, &message.key, what, "nobody would be given it")
                .help("take it out; an error of Redis is one line, code and message together"),
        );
    }
    let kinds = [
        ("sqlstate", Wire::Postgres, "sqlstate = \"40001\""),
        ("redis", Wire::Redis, "redis = \"READONLY You can't write against a read only replica.\""),
        ("status", Wire::Http, "status = 503"),
    ];
    let mut given = kinds.iter().filter(|(kind, ..)| failure.mentions(kind));
    let (Some((kind, of, _)), None) = (given.next(), given.next()) else { return };
    let Some((wire, _)) = step.wire() else {
        let what = "an error is made for one wire, and this step may be on any".to_owned();
        let help = format!("name the wire: `{} *`", of.name());
        let at = &step.named.node.span;
        found.push(mistake(&codes::FAILURE, at, what, "on which wire?").help(help));
        return;
    };
    if wire == *of {
        return;
    }
    let Some(entry) = failure.entry(kind) else { return };
    let name = step.named.node.text().unwrap_or_default();
    let what = format!("{} can't be given a `{kind}`", quoted(name));
    let right = kinds.iter().find(|(_, of, _)| *of == wire).map_or("", |(.., sample)| sample);
    let label = format!("this is an error of `{}`", of.name());
    found.push(
        mistake(&codes::FAILURE, &entry.key, what, &label).help(format!("such as `{right}`")),
    );
}
