//! From checked values to the types that everybody else works with.
//!
//! Nothing can be wrong any more: keys with defaults are there, numbers fit. What the description
//! and this file disagree about is a bug, and every profile of the tests would meet it.

use std::path::Path;
use std::time::Duration;

use super::burst::{Arrival, Burst, Crowd, Release};
use super::contract::{
    Answer, BodyCode, BusinessColumn, Contract, Hint, MissingKey, OtherParameters, ReplayBody,
};
use super::model::{
    AuditTables, Budget, ClientSettings, LabSettings, Limits, OrdersTable, Phase, Products,
    Profile, Published, Request, Retries, StockTable,
};
use super::node::{Entry, Node};
use super::target::{Actor, Statements, Target};

/// The profile, given that neither the check nor the comparison found anything.
pub(super) fn profile(path: &Path, head: Vec<String>, node: &Node) -> Profile {
    let requests: Vec<Request> = at(node, "request").entries().iter().map(request).collect();
    let phases = at(node, "phase").items().iter().map(|node| phase(node, &requests)).collect();
    Profile {
        path: path.to_owned(),
        head,
        title: maybe_text(node, "title"),
        seed: count(node, "seed"),
        lab: lab(at(node, "lab")),
        target: Target::default(),
        postgres: None,
        actor: Actor::default(),
        allow_hosts: Vec::new(),
        setup: Statements::default(),
        teardown: Statements::default(),
        products: Products {
            count: count(at(node, "products"), "count"),
            stock: count(at(node, "products"), "stock"),
        },
        contract: contract(at(node, "contract")),
        client: client(at(node, "client")),
        requests,
        audit: audit(at(node, "audit"), word(at(node, "lab"), "stock") != "none"),
        phases,
        budget: Budget { p99_latency: maybe_duration(at(node, "budget"), "p99-latency") },
        limits: Limits {
            drain: duration(at(node, "limits"), "drain"),
            quiet: duration(at(node, "limits"), "quiet"),
        },
        published: node.get("published").map(|node| Published { figure: text(node, "figure") }),
    }
}

fn lab(node: &Node) -> LabSettings {
    LabSettings {
        instances: count(node, "instances"),
        defects: texts(at(node, "defects")),
        idempotency: word(node, "idempotency"),
        lock_per: word(node, "lock-per"),
        begin: word(node, "begin"),
        isolation: word(node, "isolation"),
        one_order_per: word(node, "one-order-per"),
        pool_size: count(node, "pool-size"),
        stock: word(node, "stock"),
        lock_poll: duration(node, "lock-poll"),
        lock_wait: duration(node, "lock-wait"),
        lease: duration(node, "lease"),
    }
}

fn client(node: &Node) -> ClientSettings {
    let retries = at(node, "retries");
    ClientSettings {
        timeout: duration(node, "timeout"),
        connect_timeout: duration(node, "connect-timeout"),
        longest_reply: count(node, "longest-reply"),
        retries: Retries {
            at_most: count(retries, "at-most"),
            first_wait: duration(retries, "first-wait"),
            longest_wait: duration(retries, "longest-wait"),
        },
    }
}

/// The preset, with every clause that the profile gives in place of the preset's.
fn contract(node: &Node) -> Contract {
    let mut contract = match word(node, "preset") {
        "order-strict" => Contract::order_strict(),
        other => unreachable!("the description has no preset `{other}`"),
    };
    contract.one_order_per = at(node, "one-order-per")
        .items()
        .iter()
        .filter_map(Node::word)
        .map(|word| meaning(&BusinessColumn::ALL, BusinessColumn::word, word))
        .collect();
    replace(&mut contract.recovery_limit, maybe_duration(node, "recovery-limit"));
    replace(&mut contract.first, node.get("first").map(statuses));
    if let Some(replay) = node.get("replay") {
        let status = replay.get("status").map(statuses);
        contract.replay.statuses = status.or(contract.replay.statuses);
        let body = replay.get("body").and_then(Node::word);
        replace(
            &mut contract.replay.body,
            body.map(|word| meaning(&ReplayBody::ALL, ReplayBody::word, word)),
        );
    }
    let marker = maybe_text(node, "replay-marker").map(|name| name.to_ascii_lowercase());
    contract.replay_marker = marker.or(contract.replay_marker);
    replace(&mut contract.in_progress, node.get("in-progress").map(answer));
    let rejected = |answer| OtherParameters::Rejected { answer, while_in_progress: true };
    replace(&mut contract.other_parameters, node.get("other-parameters").map(answer).map(rejected));
    replace(
        &mut contract.missing_key,
        node.get("missing-key").map(answer).map(MissingKey::Rejected),
    );
    replace(&mut contract.business_rejection, node.get("business-rejection").map(answer));
    replace(&mut contract.shed, node.get("shed").map(answer));
    contract.parked = node.get("parked").map(answer).or(contract.parked);
    let hint = node.get("hint").and_then(Node::word);
    replace(&mut contract.hint, hint.map(|word| meaning(&Hint::ALL, Hint::word, word)));
    contract
}

fn answer(node: &Node) -> Answer {
    let code = node
        .get("code")
        .map(|values| BodyCode { pointer: text(node, "code-at"), values: texts(values) });
    Answer { statuses: statuses(at(node, "status")), code }
}

fn request(entry: &Entry) -> Request {
    let node = &entry.node;
    let method = |name: &'static str, key: &str| Some((name, node.get(key)?.template()?.clone()));
    let (method, path) = method("POST", "post")
        .or_else(|| method("PUT", "put"))
        .or_else(|| method("PATCH", "patch"))
        .or_else(|| method("DELETE", "delete"))
        .expect("the check has found one method");
    let header = |entry: &Entry| Some((entry.name.clone(), entry.node.template()?.clone()));
    Request {
        name: entry.name.clone(),
        method,
        path,
        headers: at(node, "headers").entries().iter().filter_map(header).collect(),
        body: node.get("body").and_then(Node::json).cloned(),
        order_id: text(node, "order-id"),
        ignored: texts(at(node, "ignored")),
        mutate: Vec::new(),
        defaults: Vec::new(),
        number_forms: false,
    }
}

fn audit(node: &Node, takes_stock: bool) -> AuditTables {
    let orders = at(node, "orders");
    AuditTables {
        orders: OrdersTable {
            table: text(orders, "table"),
            id: text(orders, "id"),
            user: maybe_text(orders, "user"),
            key: maybe_text(orders, "key"),
            product: maybe_text(orders, "product"),
            quantity: maybe_text(orders, "quantity"),
            fingerprint: maybe_text(orders, "fingerprint"),
            status: maybe_text(orders, "status"),
            created: maybe_text(orders, "created"),
            sold: texts(at(orders, "sold")),
            paid_at: None,
            closed_at: None,
        },
        stock: node.get("stock").filter(|_| takes_stock).map(|stock| StockTable {
            table: text(stock, "table"),
            product: text(stock, "product"),
            available: text(stock, "available"),
            fence: maybe_text(stock, "fence"),
        }),
        movements: None,
        sql: Vec::new(),
    }
}

fn phase(node: &Node, requests: &[Request]) -> Phase {
    let burst = at(at(node, "burst"), "same-key");
    let wanted = maybe_text(burst, "request");
    let request = wanted.map_or(0, |name| {
        let named = requests.iter().position(|request| request.name == name);
        named.expect("the comparison has found it")
    });
    Phase {
        name: text(node, "name"),
        burst: Burst::SameKey(Crowd {
            users: count(burst, "users"),
            threads: count(burst, "threads"),
            quantity: count(burst, "quantity"),
            request,
            release: meaning(&Release::ALL, Release::word, word(burst, "release")),
            arrival: Arrival::AtOnce,
            overlap_share: at(burst, "overlap-share").share().expect("a share"),
        }),
    }
}

fn at<'a>(node: &'a Node, name: &str) -> &'a Node {
    node.get(name).expect("the check has put a value where one is required or has a default")
}

fn count<T: TryFrom<u64>>(node: &Node, name: &str) -> T {
    let count = at(node, name).count().and_then(|count| T::try_from(count).ok());
    count.expect("the description's range fits the type")
}

fn duration(node: &Node, name: &str) -> Duration {
    at(node, name).duration().expect("the description says that this is a duration")
}

fn maybe_duration(node: &Node, name: &str) -> Option<Duration> {
    node.get(name).and_then(Node::duration)
}

fn word(node: &Node, name: &str) -> &'static str {
    at(node, name).word().expect("the description says that this is a word")
}

fn text(node: &Node, name: &str) -> String {
    at(node, name).text().expect("the description says that this is a text").to_owned()
}

fn maybe_text(node: &Node, name: &str) -> Option<String> {
    node.get(name).and_then(Node::text).map(str::to_owned)
}

fn texts(list: &Node) -> Vec<String> {
    list.items().iter().filter_map(Node::text).map(str::to_owned).collect()
}

fn statuses(list: &Node) -> Vec<u16> {
    list.items()
        .iter()
        .filter_map(Node::count)
        .filter_map(|status| status.try_into().ok())
        .collect()
}

/// Which of `all` the word stands for.
fn meaning<T: Copy>(all: &[T], word_of: fn(T) -> &'static str, word: &str) -> T {
    let meant = all.iter().copied().find(|&one| word_of(one) == word);
    meant.expect("the description lists the words of the type")
}

fn replace<T>(clause: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *clause = given;
    }
}
