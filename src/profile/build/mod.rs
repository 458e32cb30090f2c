//! From checked values to the types that everybody else works with.
//!
//! Nothing can be wrong any more: keys with defaults are there, numbers fit. What the description
//! and this file disagree about is a bug, and every profile of the tests would meet it.

mod burst;
mod contract;
mod fault;
mod take;
mod target;

use std::path::Path;

use super::contract::{BusinessColumn, Contract};
use super::model::{
    AuditTables, Budget, ClientSettings, LabSettings, Limits, MovementsTable, OrdersTable,
    PaymentsSettings, Products, Profile, Published, Request, Retries, StockTable,
};
use super::node::{Entry, Node};
use super::target::Target;
use burst::Ground;
use take::{at, count, duration, flag, maybe_duration, maybe_text, share, text, texts, word};

pub(super) use contract::{key_rule, preset};
pub(super) use fault::rule;

/// The profile, given that neither the check nor the comparison found anything.
pub(super) fn profile(path: &Path, head: Vec<String>, node: &Node) -> Profile {
    let requests: Vec<Request> = at(node, "request").entries().iter().map(request).collect();
    let target = target::target(node.get("target"));
    let contract = promised(at(node, "contract"), &target, at(node, "lab"));
    let may_freeze = !matches!(target, Target::Attached(_));
    let ground = Ground { requests: &requests, may_freeze };
    let phases = at(node, "phase").items().iter().map(|node| ground.phase(node)).collect();
    let actor = target::actor(at(node, "actor"), &ground);
    Profile {
        path: path.to_owned(),
        head,
        title: maybe_text(node, "title"),
        seed: count(node, "seed"),
        lab: lab(at(node, "lab")),
        target,
        postgres: node.get("postgres").map(target::postgres),
        redis: target::redis(node.get("redis")),
        payments: node.get("payments").map(target::payments),
        wires: target::wires(node.get("wires")),
        allow_hosts: texts(at(node, "allow-hosts")),
        setup: target::statements(node.get("setup")),
        teardown: target::statements(node.get("teardown")),
        products: Products {
            // A list of products that exist is all that there is.
            count: match actor.products.len() {
                0 => count(at(node, "products"), "count"),
                listed => u32::try_from(listed).expect("a profile is too short for more"),
            },
            stock: count(at(node, "products"), "stock"),
        },
        actor,
        contract,
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

/// The contract; where it doesn't say what there is one order for, the lab's shop does.
fn promised(node: &Node, target: &Target, lab: &Node) -> Contract {
    let mut contract = contract::contract(node);
    let is_per_user = *target == Target::Lab && word(lab, "one-order-per") == "user";
    if is_per_user && contract.one_order_per.is_empty() {
        contract.one_order_per.push(BusinessColumn::User);
    }
    contract
}

fn lab(node: &Node) -> LabSettings {
    LabSettings {
        instances: count(node, "instances"),
        defects: texts(at(node, "defects")),
        idempotency: word(node, "idempotency"),
        redis_down: word(node, "redis-down"),
        lock: word(node, "lock"),
        lock_per: word(node, "lock-per"),
        lease_kind: word(node, "lease-kind"),
        begin: word(node, "begin"),
        isolation: word(node, "isolation"),
        one_order_per: word(node, "one-order-per"),
        pool_size: count(node, "pool-size"),
        stock: word(node, "stock"),
        lock_poll: duration(node, "lock-poll"),
        lock_wait: duration(node, "lock-wait"),
        lease: duration(node, "lease"),
        processing_lease: maybe_duration(node, "processing-lease"),
        owners_at_most: count(node, "owners-at-most"),
        record_ttl: duration(node, "record-ttl"),
        token_ttl: duration(node, "token-ttl"),
        redis_timeout: duration(node, "redis-timeout"),
        work_time: duration(node, "work-time"),
        order_window: maybe_duration(node, "order-window"),
        proxies: flag(node, "proxies"),
        payments: node.get("payments").map(payments),
    }
}

fn payments(node: &Node) -> PaymentsSettings {
    PaymentsSettings {
        delay: duration(node, "delay"),
        fail_share: share(node, "fail-share"),
        fail_after_share: share(node, "fail-after-share"),
        drop_share: share(node, "drop-share"),
        decline_share: share(node, "decline-share"),
        shop_timeout: duration(node, "shop-timeout"),
        paying_limit: duration(node, "paying-limit"),
        reconcile_every: duration(node, "reconcile-every"),
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
        mutate: at(node, "mutate").entries().iter().map(values).collect(),
        defaults: defaults(node),
        number_forms: flag(node, "number-forms"),
    }
}

fn values(entry: &Entry) -> (String, Vec<serde_json::Value>) {
    let values = entry.node.items().iter().filter_map(Node::plain_json).cloned();
    (entry.name.clone(), values.collect())
}

/// Defaults as they stand, then those that are null.
fn defaults(node: &Node) -> Vec<(String, serde_json::Value)> {
    let given = at(node, "defaults").entries().iter();
    let given =
        given.filter_map(|entry| Some((entry.name.clone(), entry.node.plain_json()?.clone())));
    let null = texts(at(node, "absent-or-null"));
    given.chain(null.into_iter().map(|pointer| (pointer, serde_json::Value::Null))).collect()
}

fn audit(node: &Node, takes_stock: bool) -> AuditTables {
    let orders = at(node, "orders");
    // Checks of one's own, and no word about tables: they are the lab's.
    let of_the_lab = !["orders", "stock", "movements"].iter().any(|table| node.writes(table));
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
            paid_at: maybe_text(orders, "paid-at"),
            closed_at: maybe_text(orders, "closed-at"),
        },
        stock: node
            .get("stock")
            .map(|stock| StockTable {
                table: text(stock, "table"),
                product: text(stock, "product"),
                available: text(stock, "available"),
                fence: maybe_text(stock, "fence"),
            })
            .or_else(|| of_the_lab.then(StockTable::of_the_lab))
            .filter(|_| takes_stock),
        movements: node
            .get("movements")
            .map(|movements| MovementsTable {
                table: text(movements, "table"),
                order: text(movements, "order"),
                product: text(movements, "product"),
                delta: text(movements, "delta"),
            })
            .or_else(|| of_the_lab.then(MovementsTable::of_the_lab))
            .filter(|_| takes_stock),
        sql: at(node, "sql").items().iter().map(target::custom_check).collect(),
    }
}
