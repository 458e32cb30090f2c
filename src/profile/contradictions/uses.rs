//! Which requests are sent where: everything that names one, and in what part.

use super::super::mistake::{Mistake, quoted};
use super::super::node::{Entry, Node};
use super::super::suggest::{closest, listed};
use super::loads;
use crate::codes;

/// The part that a request plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// What the attempts of a phase send.
    Attempt,
    /// What makes the entity of a race.
    First,
    /// What races.
    Racer,
    /// What issues a submit token.
    Token,
    /// What logs a user in.
    Login,
}

/// A request that is sent somewhere.
#[derive(Clone, Debug)]
pub(super) struct Use<'a> {
    pub(super) request: &'a str,
    pub(super) part: Part,
    /// The kind of the load; empty for a login.
    pub(super) kind: &'a str,
    /// The load's table, or the login.
    pub(super) load: &'a Node,
    /// Where it is named; `None` where the first request is meant.
    pub(super) named: Option<&'a Node>,
}

impl Use<'_> {
    /// The place of the name, or of what sends the request.
    pub(super) fn place(&self) -> std::ops::Range<usize> {
        self.named.unwrap_or(self.load).span.clone()
    }
}

pub(super) fn uses(profile: &Node) -> Vec<Use<'_>> {
    let first = profile.get("request").and_then(|requests| requests.entries().first());
    let mut uses = Vec::new();
    for (kind, load) in loads(profile) {
        let mut push = |part: Part, key: &str, falls_back: bool| {
            let entry = load.entry(key);
            if entry.is_some_and(|entry| entry.node.is_broken()) {
                return;
            }
            let named = entry.map(|entry| &entry.node);
            let request = match named {
                Some(node) => node.text(),
                None if falls_back => first.map(|entry| entry.name.as_str()),
                None => None,
            };
            if let Some(request) = request {
                uses.push(Use { request, part, kind, load, named });
            }
        };
        match kind {
            "race" => push(Part::First, "first", true),
            _ => push(Part::Attempt, "request", true),
        }
        push(Part::Token, "token", false);
        push(Part::Attempt, "route", false);
        if kind == "race" {
            push(Part::Attempt, "request", false);
            for racer in load.get("requests").map(Node::items).unwrap_or_default() {
                if let Some(request) = racer.text() {
                    let named = Some(racer);
                    uses.push(Use { request, part: Part::Racer, kind, load, named });
                }
            }
        }
    }
    let login = profile.get("actor").and_then(|actor| actor.get("login"));
    if let Some(login) = login
        && let Some(named) = login.get("request")
        && let Some(request) = named.text()
    {
        uses.push(Use { request, part: Part::Login, kind: "", load: login, named: Some(named) });
    }
    uses
}

/// Every request that is named is described.
pub(super) fn names_exist(profile: &Node, uses: &[Use<'_>], found: &mut Vec<Mistake>) {
    let Some(requests) = profile.get("request") else { return };
    for one in uses {
        let Some(named) = one.named.filter(|_| !requests.mentions(one.request)) else { continue };
        let names = || requests.entries().iter().map(|Entry { name, .. }| name.as_str());
        let what = format!("there is no request {}", quoted(one.request));
        let mut mistake =
            Mistake::new(&codes::UNKNOWN_REQUEST, named.span.clone(), what).label("not described");
        if let Some(meant) = closest(one.request, names()) {
            mistake = mistake.help(format!("did you mean `{meant}`?"));
        }
        let known = listed(names(), "and");
        let add = format!("a table `[request.{}]` adds one", one.request);
        found.push(mistake.help(format!("described so far: {known}; {add}")));
    }
}
