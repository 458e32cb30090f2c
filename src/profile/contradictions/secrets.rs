//! Credentials that stand in the file as they are.

use std::ops::Range;

use super::super::mistake::{Mistake, quoted};
use super::super::node::Node;
use super::super::target::Secret;
use super::super::urls::literal_password;
use crate::codes;

/// Headers that carry credentials, in lower case.
const CREDENTIALS: [&str; 8] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "api-key",
    "apikey",
    "x-auth-token",
    "x-access-token",
];

pub(super) fn compare(profile: &Node, found: &mut Vec<Mistake>) {
    for request in profile.get("request").map(Node::entries).unwrap_or_default() {
        for header in request.node.get("headers").map(Node::entries).unwrap_or_default() {
            let is_credential = CREDENTIALS.contains(&header.name.to_ascii_lowercase().as_str());
            let is_literal = header
                .node
                .template()
                .is_some_and(|value| !value.is_secret() && !value.has_holes());
            if is_credential && is_literal {
                let what = format!("{} stands in the profile as it is", quoted(&header.name));
                report(&header.node.span, what, found);
            }
        }
    }
    let target = profile.get("target");
    let urls = target.and_then(|target| target.get("urls")).map(Node::items).unwrap_or_default();
    let launch = target.and_then(|target| target.get("launch"));
    let command = launch.and_then(|launch| launch.get("command")).map(Node::items);
    let env = launch.and_then(|launch| launch.get("env")).map(Node::entries).unwrap_or_default();
    let servers = ["postgres", "redis", "payments"];
    let servers = servers.iter().filter_map(|name| profile.get(name)?.get("url"));
    let nodes = urls
        .iter()
        .chain(command.unwrap_or_default())
        .chain(env.iter().map(|entry| &entry.node))
        .chain(servers);
    for node in nodes {
        let written = node.secret().map(Secret::written).or_else(|| node.text());
        if written.is_some_and(|written| literal_password(written).is_some()) {
            report(&node.span, "a password stands in the profile as it is".to_owned(), found);
        }
    }
}

fn report(span: &Range<usize>, what: String, found: &mut Vec<Mistake>) {
    found.push(
        Mistake::new(&codes::LITERAL_SECRET, span.clone(), what)
            .label("secrets come from the environment")
            .help("write `${NAME}` in its place, and export `NAME` before the run"),
    );
}
