//! The target, its database, and who asks it.

use super::super::node::Node;
use super::super::target::{
    Actor, Attached, CustomCheck, Launched, Login, Postgres, Secret, Statements, Target,
};
use super::burst::Ground;
use super::take::{at, count, duration, maybe_text, text, texts, word};
use crate::codes::Severity;

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
    }
}

pub(super) fn postgres(node: &Node) -> Postgres {
    Postgres { url: at(node, "url").secret().expect("the description says so").clone() }
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
