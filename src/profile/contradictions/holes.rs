//! `{order}` and `{token}`: sent only where something fills them.

use super::super::mistake::Mistake;
use super::super::node::Node;
use super::super::template::Hole;
use super::uses::{Part, Use};
use crate::codes;

pub(super) fn compare(profile: &Node, uses: &[Use<'_>], found: &mut Vec<Mistake>) {
    let login = profile.get("actor").and_then(|actor| actor.get("login"));
    let login_gives_token = login.is_some_and(|login| login.mentions("token-at"));
    for one in uses {
        let request = profile.get("request").and_then(|requests| requests.get(one.request));
        let Some(request) = request.filter(|request| is_whole(request)) else { continue };
        let mut report = |code, what: String, label: &str, help: &str| {
            found.push(Mistake::new(code, one.place(), what).label(label).help(help));
        };
        let name = one.request;
        if one.part == Part::Racer && !has(request, Hole::Order) {
            report(
                &codes::RACE,
                format!("`{name}` doesn't say at which entity it races"),
                "no `{order}` in its path, headers or body",
                "such as `post = \"/orders/{order}/pay\"`",
            );
        }
        if one.part != Part::Racer && has(request, Hole::Order) {
            report(
                &codes::HOLE_NEVER_FILLED,
                format!("nothing fills `{{order}}` of `{name}` here"),
                "only what races knows its entity",
                "name it in the `requests` of a `burst.race`, or take the hole out",
            );
        }
        let token_is_known = login_gives_token && one.part != Part::Login
            || one.kind == "submit-token" && one.part == Part::Attempt;
        if has(request, Hole::Token) && !token_is_known {
            report(
                &codes::HOLE_NEVER_FILLED,
                format!("nothing fills `{{token}}` of `{name}` here"),
                "no login and no request gives it a token",
                "add `token-at` to `actor.login`, or send it in a `burst.submit-token`",
            );
        }
        let sends_token = has(request, Hole::Token) || has(request, Hole::Key);
        if one.kind == "submit-token" && one.part == Part::Attempt && !sends_token {
            report(
                &codes::HOLE_NEVER_FILLED,
                format!("`{name}` never sends the token that it was given"),
                "neither `{token}` nor `{key}` in its path, headers or body",
                "such as `headers = { X-Submit-Token = \"{token}\" }`",
            );
        }
    }
}

/// Whether nothing of a request is broken.
pub(super) fn is_whole(request: &Node) -> bool {
    let is_sound = |node: &Node| node.entries().iter().all(|entry| !entry.node.is_broken());
    is_sound(request) && request.get("headers").is_none_or(is_sound)
}

/// Whether any part of a request has this hole.
pub(super) fn has(request: &Node, hole: Hole) -> bool {
    let headers = request.get("headers").map(Node::entries).unwrap_or_default();
    let mut templates =
        request.entries().iter().chain(headers).filter_map(|entry| entry.node.template());
    templates.any(|template| template.has(hole))
        || request.get("body").and_then(Node::json).is_some_and(|body| body.has(hole))
}
