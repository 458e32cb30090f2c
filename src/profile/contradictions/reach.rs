//! Faults against the target: proxies where they are needed, instances and keys that there are.
//!
//! A fault that can never fire would only be found out at the end of the run.

use std::ops::Range;

use super::super::mistake::Mistake;
use super::super::node::{Entry, Node};
use super::super::target::Secret;
use super::faults::{self, Step};
use crate::codes;
use crate::history::Wire;

/// What faults can reach.
struct Ground<'a> {
    profile: &'a Node,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Lab,
    Launched,
    Attached,
}

pub(super) fn compare(profile: &Node, found: &mut Vec<Mistake>) {
    let ground = Ground::of(profile);
    for phase in profile.get("phase").map(Node::items).unwrap_or_default() {
        for fault in phase.get("fault").map(Node::items).unwrap_or_default() {
            faults::compare(fault, found);
            is_somebodys(fault, found);
            if let Some(ground) = &ground {
                ground.reaches(fault, found);
            }
        }
    }
}

/// S06: a step that is nobody's may be anybody's, of this run or not.
fn is_somebodys(fault: &Node, found: &mut Vec<Mistake>) {
    let of = fault.get("at").and_then(|at| at.get("step")?.get("of"));
    if let Some(of) = of.filter(|of| of.word() == Some("anyone")) {
        let what = "in a drill a step that is nobody's is left alone".to_owned();
        found.push(
            never(&of.span, what, "it may be somebody else's")
                .help("write `intent`, or `product` for steps that name only a product")
                .help("`dupeproof proxy --rules FILE` has no intents, and takes everybody's"),
        );
    }
}

fn never(span: &Range<usize>, what: String, label: &str) -> Mistake {
    Mistake::new(&codes::FAULT_NEVER_FIRES, span.clone(), what).label(label)
}

impl<'a> Ground<'a> {
    /// None where the profile contradicts itself about its target.
    fn of(profile: &'a Node) -> Option<Self> {
        let kind = match profile.entry("target").map(|target| &target.node) {
            None => Kind::Lab,
            Some(target) => match (target.mentions("urls"), target.mentions("launch")) {
                (true, false) => Kind::Attached,
                (false, true) => Kind::Launched,
                _ => return None,
            },
        };
        Some(Self { profile, kind })
    }

    fn get(&self, table: &str, key: &str) -> Option<&'a Node> {
        self.profile.get(table)?.get(key)
    }

    fn mentions(&self, table: &str, key: &str) -> bool {
        self.profile.entry(table).is_some_and(|table| table.node.mentions(key))
    }

    fn reaches(&self, fault: &Node, found: &mut Vec<Mistake>) {
        let Some(act) = faults::act(fault) else { return };
        let step = Step::of(fault);
        let told = step.as_ref().map(|step| (step.wire(), &step.named.node.span));
        match told {
            Some((Some((wire, span)), _)) => self.has_proxy(wire, span, found),
            Some((None, span)) => self.has_any_proxy(span, found),
            None => {}
        }
        if let Some(place) = act.node.get("wire") {
            let wire = Wire::ALL.into_iter().find(|wire| Some(wire.name()) == place.word());
            let told = told.and_then(|(told, _)| Some(told?.0));
            if let Some(wire) = wire.filter(|wire| told != Some(*wire)) {
                let span = if act.node.writes("wire") { &place.span } else { &act.key };
                self.has_proxy(wire, span, found);
            }
        }
        let of_step = step.and_then(|step| step.node.get("instance"));
        for instance in [of_step, act.node.get("instance")].into_iter().flatten() {
            self.has_instance(instance, found);
        }
        self.knows_keys(act, found);
    }

    fn has_proxy(&self, wire: Wire, span: &Range<usize>, found: &mut Vec<Mistake>) {
        if let Some((why, cure)) = self.no_proxy(wire) {
            let what = format!("no proxy stands on the wire `{}`", wire.name());
            found.push(never(span, what, why).help(cure));
        }
    }

    fn has_any_proxy(&self, span: &Range<usize>, found: &mut Vec<Mistake>) {
        let missing: Vec<_> =
            Wire::ALL.into_iter().filter_map(|wire| self.no_proxy(wire)).collect();
        if let ([(why, cure), ..], 3) = (missing.as_slice(), missing.len()) {
            let what = "no proxy stands between the target and its servers".to_owned();
            found.push(never(span, what, why).help(*cure));
        }
    }

    /// Why there is no proxy on a wire, and what to do.
    fn no_proxy(&self, wire: Wire) -> Option<(&'static str, &'static str)> {
        let off = |table, key| {
            let proxies = self.get(table, key)?;
            let proxies = proxies.get("proxies").unwrap_or(proxies);
            (proxies.flag() == Some(false)).then_some(())
        };
        match (self.kind, wire) {
            (Kind::Lab, _) if off("lab", "proxies").is_some() => {
                Some(("`lab.proxies` is `false`", "take `proxies = false` out of `[lab]`"))
            }
            (Kind::Lab, Wire::Http) if !self.mentions("lab", "payments") => {
                Some(("the shop has no payment provider", "add `[lab.payments]`"))
            }
            (Kind::Launched, _) if off("target", "launch").is_some() => {
                Some(("`launch.proxies` is `false`", "take `proxies = false` out of `launch`"))
            }
            (Kind::Launched, Wire::Http) => Some((
                "a launched target has proxies in front of PostgreSQL and Redis alone",
                "attach the service, and name its provider: `[target] urls`, `[payments] proxy`",
            )),
            (Kind::Launched, wire) if !self.is_told_of(wire) => Some((
                "the command isn't told where this server is",
                "pass `{redis.url}` or `{postgres.url}` to it, in `command` or `env`",
            )),
            (Kind::Attached, Wire::Redis) if !self.mentions("redis", "proxy") => Some((
                "`[redis]` has no `proxy`",
                "say where one listens: `[redis] proxy = \"127.0.0.1:16379\"`, beside its `url`",
            )),
            (Kind::Attached, Wire::Postgres) if !self.mentions("postgres", "proxy") => Some((
                "`[postgres]` has no `proxy`",
                "say where one listens: `[postgres] proxy = \"127.0.0.1:16432\"`",
            )),
            (Kind::Attached, Wire::Http) if !self.profile.mentions("payments") => Some((
                "there is no `[payments]`",
                "name the provider and its proxy: `[payments]` with `url` and `proxy`",
            )),
            _ => None,
        }
    }

    /// A launched command that isn't told of a server has no proxy in front of it.
    fn is_told_of(&self, wire: Wire) -> bool {
        let Some(launch) = self.get("target", "launch") else { return true };
        let hole = format!("{{{}.url}}", wire.name());
        let command = launch.get("command").map(Node::items).unwrap_or_default();
        let env = launch.get("env").map(Node::entries).unwrap_or_default();
        let mut texts = command.iter().map(Node::text);
        let mut values = env.iter().map(|entry| entry.node.secret().map(Secret::reveal));
        // What is broken is told where it stands.
        texts.any(|text| text.is_none_or(|text| text.contains(&hole)))
            || values.any(|text| text.is_none_or(|text| text.contains(&hole)))
            || !launch.mentions("command")
    }

    fn has_instance(&self, instance: &Node, found: &mut Vec<Mistake>) {
        let Some(number) = instance.count() else { return };
        let there = match self.kind {
            Kind::Lab => self.get("lab", "instances"),
            Kind::Launched => self.get("target", "launch").and_then(|it| it.get("instances")),
            Kind::Attached => {
                let what = "the instances of an attached target share their proxies".to_owned();
                found.push(
                    never(&instance.span, what, "nobody can tell which instance it is")
                        .help("leave `instance` out"),
                );
                return;
            }
        };
        let Some(there) = there.and_then(Node::count).filter(|there| number >= *there) else {
            return;
        };
        let what = format!("there is no instance {number}");
        let last = there.saturating_sub(1);
        let label = match there {
            1 => "there is only instance 0".to_owned(),
            _ => format!("the last of {there} is {last}"),
        };
        found.push(never(&instance.span, what, &label).help("instances are counted from 0"));
    }

    /// Leases and records are found by their names.
    fn knows_keys(&self, act: &Entry, found: &mut Vec<Mistake>) {
        let of_record = act.node.get("what").and_then(Node::word) == Some("record");
        let (needed, key) = match (act.name.as_str(), of_record) {
            ("expire", true) => ("record", "idempotency-keys"),
            ("expire", false) if !act.node.mentions("what") => return,
            ("expire" | "take-lease", _) => ("lease", "lock-keys"),
            _ => return,
        };
        let mut report = |what: String, label: &str, help: String| {
            found.push(never(&act.key, what, label).help(help));
        };
        if self.kind == Kind::Lab {
            let (setting, away): (_, &[&str]) = match of_record {
                true => ("idempotency", &["postgres", "none"]),
                false => ("lock", &["postgres-advisory", "none"]),
            };
            let word = self.get("lab", setting).and_then(Node::word);
            if let Some(word) = word.filter(|word| away.contains(word)) {
                let what = format!("the shop has no {needed} in Redis");
                let label = format!("`lab.{setting}` is `{word}`");
                report(what, &label, format!("leave `{setting}` out of `[lab]`"));
            }
            return;
        }
        if !self.mentions("redis", key) {
            let such = if of_record { "idem:orders:{user}:{key}" } else { "lock:stock:{product}" };
            let what = format!("nothing says how the target names a {needed}");
            let label = format!("`redis.{key}` is missing");
            report(what, &label, format!("add `[redis] {key} = \"{such}\"`"));
        }
        if self.kind == Kind::Attached && !self.mentions("redis", "url") {
            let what = "nothing says where the target's Redis is".to_owned();
            let help = "add `[redis] url = \"redis://127.0.0.1:6379\"`".to_owned();
            report(what, "`redis.url` is missing", help);
        }
    }
}
