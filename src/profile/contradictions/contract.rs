//! The contract against the requests: where the key travels, and how long it may be.

use super::super::build;
use super::super::contract::KeyCarrier;
use super::super::mistake::{Mistake, quoted};
use super::super::node::Node;
use super::super::presets;
use super::super::template::Hole;
use super::holes::{has, is_whole};
use super::uses::{Part, Use};
use super::{count, loads};
use crate::codes;

/// `k-`, the run's id and `-`; a number follows.
const BEFORE_NUMBER: usize = 2 + 13 + 1;
const UUID: usize = 36;

pub(super) fn compare(profile: &Node, uses: &[Use<'_>], found: &mut Vec<Mistake>) {
    let Some(contract) = profile.get("contract") else { return };
    if let Some(key) = contract.get("key")
        && let (Some(_), Some(second)) = (key.entry("header"), key.entry("body"))
    {
        found.push(
            Mistake::new(&codes::ONE_OF, second.key.clone(), "the key has two carriers")
                .label("`header` is there already")
                .help("a header or a field of the body: take one out"),
        );
        return;
    }
    let is_sound = |node: &Node| node.entries().iter().all(|entry| !entry.node.is_broken());
    if !is_sound(contract) || contract.get("key").is_some_and(|key| !is_sound(key)) {
        return;
    }
    let Some(preset) = contract.get("preset").and_then(Node::word).and_then(presets::contract)
    else {
        return;
    };
    let rule = build::key_rule(preset.key, contract);
    let is_written = contract.writes("key") || rule.carrier != default_carrier();
    let keys = keys(profile);
    let mut told: Vec<&str> = Vec::new();
    for one in uses {
        let carries = matches!(one.part, Part::Attempt | Part::First) && one.kind != "submit-token";
        let request = profile.get("request").and_then(|requests| requests.entry(one.request));
        let Some(request) = request.filter(|request| carries && is_whole(&request.node)) else {
            continue;
        };
        if told.contains(&one.request) {
            continue;
        }
        let before = found.len();
        // Where a request has no key at all, it is for others to say whether it must.
        let is_misplaced = is_written && has(&request.node, Hole::Key);
        if is_misplaced || one.kind == "bad-keys" {
            is_carried(&rule.carrier, request.name.as_str(), &request.node, one, found);
        }
        if let Some(longest) = rule.longest {
            fits(longest, rule.syntax.word() == "uuid", keys, request, found);
        }
        if found.len() > before {
            told.push(one.request);
        }
    }
}

fn default_carrier() -> KeyCarrier {
    KeyCarrier::Header("idempotency-key".to_owned())
}

fn is_carried(
    carrier: &KeyCarrier,
    name: &str,
    request: &Node,
    one: &Use<'_>,
    found: &mut Vec<Mistake>,
) {
    let (what, help) = match carrier {
        KeyCarrier::Header(header) => {
            let headers = request.get("headers").map(Node::entries).unwrap_or_default();
            let is_it = headers
                .iter()
                .filter(|entry| entry.name.eq_ignore_ascii_case(header))
                .any(|entry| entry.node.template().is_some_and(|text| text.has(Hole::Key)));
            if is_it {
                return;
            }
            let what = format!("`{name}` doesn't send its key in the header `{header}`");
            (what, format!("add `headers = {{ {header} = \"{{key}}\" }}` to `[request.{name}]`"))
        }
        KeyCarrier::Body(pointer) => {
            let body = request.get("body").and_then(Node::json);
            if body.and_then(|body| body.at(pointer)).is_some_and(|value| value.has(Hole::Key)) {
                return;
            }
            let what = format!("`{name}` doesn't send its key at {} of its body", quoted(pointer));
            (what, format!("put `\"{{key}}\"` there, in `[request.{name}]`"))
        }
    };
    found.push(
        Mistake::new(&codes::KEY_CARRIER, one.place(), what)
            .label("the contract's key travels there")
            .help(help)
            .help("or say in `[contract] key` where it travels"),
    );
}

/// How many keys the run may make up, at most.
fn keys(profile: &Node) -> u64 {
    let of_load = |(kind, load): (&str, &Node)| {
        let users = count(load, "users").unwrap_or(1);
        match kind {
            "rate" => 5_000_000,
            "fresh-key" | "mixed" => users * count(load, "threads").unwrap_or(1),
            _ => users,
        }
    };
    loads(profile).map(of_load).fold(0, u64::saturating_add)
}

fn fits(
    longest: usize,
    is_uuid: bool,
    keys: u64,
    request: &super::super::node::Entry,
    found: &mut Vec<Mistake>,
) {
    let own = if is_uuid { UUID } else { BEFORE_NUMBER + keys.to_string().len().max(3) };
    let headers = request.node.get("headers").map(Node::entries).unwrap_or_default();
    for header in headers {
        let Some(template) = header.node.template().filter(|text| text.has(Hole::Key)) else {
            continue;
        };
        let around = template.around(Hole::Key);
        let length = own + around;
        if length > longest {
            let what =
                format!("the keys of `{}` are longer than the contract allows", request.name);
            found.push(
                Mistake::new(&codes::KEY_TOO_LONG, header.node.span.clone(), what)
                    .label(format!("up to {length} characters, the contract allows {longest}"))
                    .help(format!(
                        "a key of the run has up to {own} characters, and {around} stand around it"
                    ))
                    .help(
                        "shorten what stands around `{key}`, or correct `[contract] key.longest`",
                    ),
            );
        }
    }
}
