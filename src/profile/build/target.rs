//! The target, its servers and what stands before them, and who asks it.

use std::net::SocketAddr;

use super::super::node::Node;
use super::super::target::{
    Actor, Attached, CustomCheck, Downstream, Launched, Login, Postgres, Redis, Secret, Statements,
    Target, Wires,
};
use super::burst::Ground;
use super::take::{at, count, duration, flag, maybe_text, meaning, text, texts, word};
use crate::codes::Severity;
use crate::history::Role;

pub(super) fn target(node: Option<&Node>) -> Target {
    let Some(node) = node else { return Target::Lab };
    match (node.get("urls"), node.get("launch")) {
        (Some(urls), _) => {
            Target::Attached(Attached { urls: secrets(urls), ready: maybe_text(node, "ready") })
        }
        (None, Some(launch)) => Target::Launched(launched(launch)),
        (None, None) => unreachable!("the check has found one of both"),
    }
}

fn launched(node: &Node) -> Launched {
    let env = at(node, "env").entries().iter();
    let ready = at(node, "ready");
    Launched {
        command: texts(at(node, "command")),
        instances: count(node, "instances"),
        env: env
            .filter_map(|entry| Some((entry.name.clone(), entry.node.secret()?.clone())))
            .collect(),
        folder: maybe_text(node, "folder"),
        ready: ready.word().is_none().then(|| text(node, "ready")),
        ready_within: duration(node, "ready-within"),
        proxies: flag(node, "proxies"),
    }
}

pub(super) fn postgres(node: &Node) -> Postgres {
    Postgres { url: secret(node, "url"), proxy: maybe_address(node, "proxy") }
}

pub(super) fn redis(node: Option<&Node>) -> Redis {
    let Some(node) = node else { return Redis::default() };
    Redis {
        url: node.get("url").and_then(Node::secret).cloned(),
        proxy: maybe_address(node, "proxy"),
        idempotency_keys: maybe_text(node, "idempotency-keys"),
        lock_keys: maybe_text(node, "lock-keys"),
    }
}

pub(super) fn payments(node: &Node) -> Downstream {
    let proxy = maybe_address(node, "proxy").expect("the check has found one");
    Downstream { url: secret(node, "url"), proxy }
}

pub(super) fn wires(node: Option<&Node>) -> Wires {
    let Some(node) = node else { return Wires::default() };
    let roles = at(node, "roles").entries().iter();
    Wires {
        roles: roles
            .filter_map(|entry| Some((entry.name.clone(), role(entry.node.word()?))))
            .collect(),
        listen_on: texts(at(node, "listen-on")),
    }
}

fn role(word: &str) -> Role {
    meaning(&Role::ALL, Role::name, word)
}

fn secret(node: &Node, name: &str) -> Secret {
    at(node, name).secret().expect("the description says that this is a secret").clone()
}

fn maybe_address(node: &Node, name: &str) -> Option<SocketAddr> {
    node.get(name)?.text()?.parse().ok()
}

pub(super) fn actor(node: &Node, ground: &Ground<'_>) -> Actor {
    let login = |node: &Node| Login {
        request: ground.named(&text(node, "request")),
        token_at: maybe_text(node, "token-at"),
    };
    let product = |node: &Node| node.count().and_then(|count| count.try_into().ok());
    Actor {
        login: node.get("login").map(login),
        users: node.get("users").map(secrets).unwrap_or_default(),
        products: node
            .get("products")
            .map(|list| list.items().iter().filter_map(product).collect())
            .unwrap_or_default(),
    }
}

pub(super) fn statements(node: Option<&Node>) -> Statements {
    Statements { sql: node.map(|node| texts(at(node, "sql"))).unwrap_or_default() }
}

pub(super) fn custom_check(node: &Node) -> CustomCheck {
    let severity = match word(node, "severity") {
        "critical" => Severity::Critical,
        "contract" => Severity::Contract,
        "protected" => Severity::Protected,
        _ => Severity::Efficiency,
    };
    CustomCheck { title: text(node, "title"), severity, query: text(node, "query") }
}

fn secrets(list: &Node) -> Vec<Secret> {
    list.items().iter().filter_map(Node::secret).cloned().collect()
}
