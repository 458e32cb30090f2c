//! A request against itself and the contract.

use std::collections::HashMap;

use super::super::body::BodyTemplate;
use super::super::mistake::{Mistake, quoted};
use super::super::node::{Entry, Node};
use super::super::template::{Hole, TextTemplate};
use super::counted_by;
use super::holes::{has, is_whole};
use super::uses::{Part, Use};
use crate::codes;

pub(super) fn compare(profile: &Node, uses: &[Use<'_>], found: &mut Vec<Mistake>) {
    let counts_by_key = counted_by(profile).is_some_and(|columns| columns.contains(&"key"));
    for request in profile.get("request").map(Node::entries).unwrap_or_default() {
        ignored_is_in_body(request, found);
        headers_differ(request, found);
        if carries_a_key(&request.name, uses) {
            key_is_sent(request, counts_by_key, found);
        }
        secrets_are_not_stored(request, found);
    }
    users_fit_into_headers(profile, uses, found);
}

/// Servers read the bytes of a header as Latin-1, as UTF-8 or not at all: the user that one stores
/// need not be the one that was sent, and its orders would look like somebody else's.
fn users_fit_into_headers(profile: &Node, uses: &[Use<'_>], found: &mut Vec<Mistake>) {
    let users = profile.get("actor").and_then(|actor| actor.get("users")).map(Node::items);
    let mut headers = uses.iter().filter_map(|one| {
        let headers = profile.get("request")?.get(one.request)?.get("headers")?.entries();
        let has_user =
            |entry: &&Entry| entry.node.template().is_some_and(|template| template.has(Hole::User));
        Some((one.request, headers.iter().find(has_user)?.name.as_str()))
    });
    let Some((request, header)) = headers.next() else { return };
    for user in users.unwrap_or_default() {
        let Some(secret) = user.secret().filter(|secret| !secret.reveal().is_ascii()) else {
            continue;
        };
        let what = format!("user {} can't travel in a header", quoted(secret.written()));
        found.push(
            Mistake::new(&codes::MALFORMED_TEXT, user.span.clone(), what)
                .label(format!("not ASCII, and `{header}` of `{request}` has `{{user}}`"))
                .help("servers read such bytes differently: send the user in the body, or name others"),
        );
    }
}

/// The target stores users, keys, products and quantities with its orders, and from there they come
/// into the rows and the evidence of a run. A secret beside one of them would come along.
fn secrets_are_not_stored(request: &Entry, found: &mut Vec<Mistake>) {
    let stored = [Hole::User, Hole::Key, Hole::Token, Hole::Product, Hole::Quantity];
    let leaks = |text: &TextTemplate| text.is_secret() && stored.iter().any(|&hole| text.has(hole));
    let in_body = |body: &BodyTemplate| body.texts().into_iter().any(leaks);
    let headers = request.node.get("headers").map(Node::entries).unwrap_or_default();
    let body = request.node.entries().iter().filter(|entry| entry.node.json().is_some());
    for entry in headers.iter().chain(body) {
        let leaks =
            entry.node.template().is_some_and(leaks) || entry.node.json().is_some_and(in_body);
        if leaks {
            let what = format!(
                "{} puts a secret beside something that the target stores with its orders",
                quoted(&entry.name)
            );
            found.push(
                Mistake::new(&codes::VARIABLE, entry.node.span.clone(), what)
                    .label("rows and evidence of the run would show it")
                    .help("give the secret a header of its own, such as Authorization"),
            );
        }
    }
}

fn ignored_is_in_body(request: &Entry, found: &mut Vec<Mistake>) {
    let body = request.node.get("body").and_then(Node::json);
    if body.is_none() && request.node.mentions("body") {
        return;
    }
    for pointer in request.node.get("ignored").map(Node::items).unwrap_or_default() {
        let Some(text) = pointer.text() else { continue };
        if body.and_then(|body| body.at(text)).is_none() {
            let what = format!("{} is nowhere in the body of `{}`", quoted(text), request.name);
            found.push(
                Mistake::new(&codes::IGNORED_NOT_IN_BODY, pointer.span.clone(), what)
                    .label("this ignores nothing")
                    .help(fields_of(body)),
            );
        }
    }
}

/// What a body has, for whoever pointed beside it.
pub(super) fn fields_of(body: Option<&BodyTemplate>) -> String {
    let fields: Vec<String> = match body {
        Some(BodyTemplate::Object(fields)) => {
            fields.iter().take(12).map(|(name, _)| quoted(&format!("/{name}"))).collect()
        }
        _ => Vec::new(),
    };
    match fields.as_slice() {
        [] => "it has no body with fields: take the pointer out".to_owned(),
        fields => format!("its body has {}", fields.join(", ")),
    }
}

/// Whether a request stands for an intent somewhere. Those that only log in, issue a token or race at
/// an entity don't, and a burst with submit tokens may send the token in the key's place.
fn carries_a_key(name: &str, uses: &[Use<'_>]) -> bool {
    uses.iter().filter(|one| one.request == name).any(|one| match one.part {
        Part::Attempt => one.kind != "submit-token",
        Part::First => true,
        Part::Racer | Part::Token | Part::Login => false,
    })
}

fn headers_differ(request: &Entry, found: &mut Vec<Mistake>) {
    let headers = request.node.get("headers").map(Node::entries).unwrap_or_default();
    let mut seen = HashMap::new();
    for header in headers {
        if let Some(first) = seen.insert(header.name.to_ascii_lowercase(), &header.name) {
            let what = format!("{} and {} are one header", quoted(first), quoted(&header.name));
            found.push(
                Mistake::new(&codes::GIVEN_TWICE, header.key.clone(), what)
                    .label("given before")
                    .help("capitals make no difference in a header's name: keep one of them"),
            );
        }
    }
}

/// Without its key a burst is many intents. Services without keys count by other columns, and then
/// only a header that is meant to carry one is looked at.
fn key_is_sent(request: &Entry, counts_by_key: bool, found: &mut Vec<Mistake>) {
    let node = &request.node;
    let headers = node.get("headers").map(Node::entries).unwrap_or_default();
    if !is_whole(node) {
        return;
    }
    let carrier = headers.iter().find(|header| header.name.eq_ignore_ascii_case("idempotency-key"));
    if has(node, Hole::Key) || (carrier.is_none() && !counts_by_key) {
        return;
    }
    let is_fresh =
        carrier.and_then(|header| header.node.template()).is_some_and(|text| text.has(Hole::Uuid));
    let (span, label) = match carrier {
        Some(header) if is_fresh => (header.node.span.clone(), "`{uuid}` is new in each attempt"),
        Some(header) => (header.node.span.clone(), "the same for all users"),
        None => (request.key.clone(), "no `{key}` in its path, headers or body"),
    };
    let what = format!("`{}` never sends its key", request.name);
    found.push(
        Mistake::new(&codes::KEY_NEVER_SENT, span, what).label(label).help(
            "attempts of one intent share `{key}`: `headers = { Idempotency-Key = \"{key}\" }`",
        ),
    );
}
