//! What changes an intent, and what may differ without changing it.

use serde_json::Value;

use super::super::body::BodyTemplate;
use super::super::mistake::{Mistake, quoted};
use super::super::node::{Entry, Node};
use super::super::template::Hole;
use super::requests::fields_of;
use super::uses::{Part, Use};
use crate::codes;

pub(super) fn compare(profile: &Node, uses: &[Use<'_>], found: &mut Vec<Mistake>) {
    for request in profile.get("request").map(Node::entries).unwrap_or_default() {
        mutations_change_something(request, uses, found);
        defaults_have_a_place(request, found);
    }
    for one in uses.iter().filter(|one| one.part == Part::Attempt) {
        let request = profile.get("request").and_then(|all| all.get(one.request));
        if let Some(request) = request {
            can_be_mutated(request, one, found);
            can_vary(request, one, found);
        }
    }
}

fn body(request: &Node) -> Option<&BodyTemplate> {
    request.get("body").and_then(Node::json)
}

fn is_broken(request: &Node, key: &str) -> bool {
    request.mentions(key) && request.get(key).is_none()
}

fn mutations_change_something(request: &Entry, uses: &[Use<'_>], found: &mut Vec<Mistake>) {
    let node = &request.node;
    if is_broken(node, "body") {
        return;
    }
    let ignored = node.get("ignored").map(Node::items).unwrap_or_default();
    for mutation in node.get("mutate").map(Node::entries).unwrap_or_default() {
        let pointer = mutation.name.as_str();
        let mut report =
            |span: &std::ops::Range<usize>, what: String, label: &str, help: String| {
                let mistake = Mistake::new(&codes::MUTATION, span.clone(), what);
                found.push(mistake.label(label).help(help));
            };
        let Some(stands) = body(node).and_then(|body| body.at(pointer)) else {
            let what = format!("{} is nowhere in the body of `{}`", quoted(pointer), request.name);
            report(&mutation.key, what, "this changes nothing", fields_of(body(node)));
            continue;
        };
        let covers = |ignored: &&Node| {
            let Some(ignored) = ignored.text() else { return false };
            pointer == ignored
                || pointer.strip_prefix(ignored).is_some_and(|rest| rest.starts_with('/'))
        };
        if let Some(ignored) = ignored.iter().find(covers) {
            let what = format!("{} is ignored, so it can't change the intent", quoted(pointer));
            let help = format!(
                "a field belongs to the intent or it doesn't: take it out of `mutate`, or {} out of `ignored`",
                quoted(ignored.text().unwrap_or_default())
            );
            report(&mutation.key, what, "stands in `ignored` too", help);
            continue;
        }
        let quantities: Vec<u64> = uses
            .iter()
            .filter(|one| one.request == request.name && matches!(one.kind, "mutated" | "mixed"))
            .filter_map(|one| super::count(one.load, "quantity"))
            .collect();
        for value in mutation.node.items() {
            let Some(json) = value.plain_json() else { continue };
            let is_quantity = stands.only_hole() == Some(Hole::Quantity)
                && json.as_u64().is_some_and(|number| quantities.contains(&number));
            if stands.literal().as_ref() == Some(json) || is_quantity {
                let what = format!("a mutation leaves {} as it is", quoted(pointer));
                let help = "every value must differ from what the request sends".to_owned();
                report(&value.span, what, "the value that it has anyway", help);
            }
        }
    }
}

/// The object that a field would stand in.
fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn defaults_have_a_place(request: &Entry, found: &mut Vec<Mistake>) {
    let node = &request.node;
    if is_broken(node, "body") {
        return;
    }
    let given = node.get("defaults").map(Node::entries).unwrap_or_default();
    let given = given.iter().filter_map(|entry| {
        Some((entry.name.as_str(), &entry.key, entry.node.plain_json()?.clone()))
    });
    let null = node.get("absent-or-null").map(Node::items).unwrap_or_default();
    let null = null.iter().filter_map(|item| Some((item.text()?, &item.span, Value::Null)));
    let mut seen = std::collections::HashSet::new();
    for (pointer, span, default) in given.chain(null) {
        let up = parent(pointer);
        let object =
            body(node).and_then(|body| if up.is_empty() { Some(body) } else { body.at(up) });
        let mut report = |what: String, label: &str, help: String| {
            let mistake = Mistake::new(&codes::DEFAULTS, span.clone(), what);
            found.push(mistake.label(label).help(help));
        };
        if !seen.insert(pointer) {
            let what = format!("{} has two defaults", quoted(pointer));
            report(what, "this field has a default already", "keep one of them".to_owned());
        } else if !matches!(object, Some(BodyTemplate::Object(_))) {
            let what = format!("{} can't stand in the body of `{}`", quoted(pointer), request.name);
            report(what, "there is no object for this field", fields_of(body(node)));
        } else if let Some(stands) = body(node).and_then(|body| body.at(pointer))
            && stands.literal() != Some(default)
        {
            let what = format!("{} is sent with another value than its default", quoted(pointer));
            let help = "send the default, or leave the field out of the body".to_owned();
            report(what, "leaving it out would change the intent", help);
        }
    }
}

fn can_be_mutated(request: &Node, one: &Use<'_>, found: &mut Vec<Mistake>) {
    let wants = match one.kind {
        "mutated" => true,
        "mixed" => {
            one.load.get("mutated-share").and_then(Node::share).is_some_and(|share| share > 0.0)
        }
        _ => false,
    };
    let has_none = request.get("mutate").is_some_and(|mutate| mutate.entries().is_empty());
    if wants && has_none {
        let what = format!("`{}` doesn't say what changes its intent", one.request);
        found.push(
            Mistake::new(&codes::NOTHING_TO_MUTATE, one.place(), what)
                .label("sends changed intents")
                .help(format!(
                    "for example `mutate = {{ \"/quantity\" = [2, 3] }}` in `[request.{}]`",
                    one.request
                )),
        );
    }
}

fn can_vary(request: &Node, one: &Use<'_>, found: &mut Vec<Mistake>) {
    let wants = match one.kind {
        "same-fingerprint" => true,
        "mixed" => {
            one.load.get("variant-share").and_then(Node::share).is_some_and(|share| share > 0.0)
        }
        "sequential" => {
            let vary = one.load.get("vary").map(Node::items).unwrap_or_default();
            vary.iter().any(|word| word.word() == Some("body"))
        }
        _ => false,
    };
    if wants && !request.mentions("body") {
        let what = format!("`{}` has no body, so nothing of it may vary", one.request);
        found.push(
            Mistake::new(&codes::NOTHING_VARIES, one.place(), what)
                .label("sends other bytes in every attempt")
                .help("give it a body, or send identical bytes: `burst.same-key`"),
        );
    }
}
