//! The tables of a profile, in the order in which one reads about a drill.

use std::fmt::Write;

use serde_json::Value;

use super::super::body::BodyTemplate;
use super::super::model::{LabSettings, PaymentsSettings, Profile, Request};
use super::super::target::Target;
use super::values::{body, duration, inline, key, list, size, template, text, texts};
use super::{bursts, contract, target};
use crate::codes::Severity;

pub(super) fn profile(out: &mut String, profile: &Profile) {
    line(out, "title", profile.title.as_deref().map(text));
    line(out, "seed", Some(profile.seed.to_string()));
    let hosts = &profile.allow_hosts;
    line(out, "allow-hosts", (!hosts.is_empty()).then(|| texts(hosts)));
    target::target(out, profile);
    lab(out, profile);
    contract::contract(out, &profile.contract);
    client(out, profile);
    for request in &profile.requests {
        self::request(out, request);
    }
    audit(out, profile);
    for phase in &profile.phases {
        bursts::phase(out, phase, &profile.requests);
    }
    header(out, "[budget]");
    line(out, "p99-latency", profile.budget.p99_latency.map(duration));
    header(out, "[limits]");
    line(out, "drain", Some(duration(profile.limits.drain)));
    line(out, "quiet", Some(duration(profile.limits.quiet)));
    if let Some(published) = &profile.published {
        header(out, "[published]");
        line(out, "figure", Some(text(&published.figure)));
    }
}

fn lab(out: &mut String, profile: &Profile) {
    let lab = &profile.lab;
    if profile.target == Target::Lab {
        header(out, "[lab]");
        settings(out, lab);
    }
    header(out, "[products]");
    line(out, "count", Some(profile.products.count.to_string()));
    line(out, "stock", Some(profile.products.stock.to_string()));
}

fn settings(out: &mut String, lab: &LabSettings) {
    line(out, "instances", Some(lab.instances.to_string()));
    line(out, "defects", Some(texts(&lab.defects)));
    line(out, "idempotency", Some(text(lab.idempotency)));
    line(out, "redis-down", Some(text(lab.redis_down)));
    line(out, "lock", Some(text(lab.lock)));
    line(out, "lock-per", Some(text(lab.lock_per)));
    line(out, "lease-kind", Some(text(lab.lease_kind)));
    line(out, "begin", Some(text(lab.begin)));
    line(out, "isolation", Some(text(lab.isolation)));
    line(out, "one-order-per", Some(text(lab.one_order_per)));
    line(out, "pool-size", Some(lab.pool_size.to_string()));
    line(out, "stock", Some(text(lab.stock)));
    line(out, "lock-poll", Some(duration(lab.lock_poll)));
    line(out, "lock-wait", Some(duration(lab.lock_wait)));
    line(out, "lease", Some(duration(lab.lease)));
    line(out, "processing-lease", lab.processing_lease.map(duration));
    line(out, "owners-at-most", Some(lab.owners_at_most.to_string()));
    line(out, "record-ttl", Some(duration(lab.record_ttl)));
    line(out, "token-ttl", Some(duration(lab.token_ttl)));
    line(out, "redis-timeout", Some(duration(lab.redis_timeout)));
    line(out, "work-time", Some(duration(lab.work_time)));
    line(out, "order-window", lab.order_window.map(duration));
    line(out, "proxies", Some(lab.proxies.to_string()));
    if let Some(payments) = &lab.payments {
        self::payments(out, payments);
    }
}

fn payments(out: &mut String, payments: &PaymentsSettings) {
    header(out, "[lab.payments]");
    line(out, "delay", Some(duration(payments.delay)));
    line(out, "fail-share", bursts::share(payments.fail_share));
    line(out, "fail-after-share", bursts::share(payments.fail_after_share));
    line(out, "drop-share", bursts::share(payments.drop_share));
    line(out, "decline-share", bursts::share(payments.decline_share));
    line(out, "shop-timeout", Some(duration(payments.shop_timeout)));
    line(out, "paying-limit", Some(duration(payments.paying_limit)));
    line(out, "reconcile-every", Some(duration(payments.reconcile_every)));
}

fn client(out: &mut String, profile: &Profile) {
    let client = &profile.client;
    let retries = inline([
        ("at-most", Some(client.retries.at_most.to_string())),
        ("first-wait", Some(duration(client.retries.first_wait))),
        ("longest-wait", Some(duration(client.retries.longest_wait))),
    ]);
    header(out, "[client]");
    line(out, "timeout", Some(duration(client.timeout)));
    line(out, "connect-timeout", Some(duration(client.connect_timeout)));
    line(out, "longest-reply", Some(size(client.longest_reply)));
    line(out, "retries", Some(retries));
}

fn request(out: &mut String, request: &Request) {
    let headers = request.headers.iter().map(|(name, value)| (name, Some(template(value))));
    header(out, &format!("[request.{}]", key(&request.name)));
    line(out, &request.method.to_ascii_lowercase(), Some(template(&request.path)));
    line(out, "headers", Some(inline(headers)));
    line(out, "body", request.body.as_ref().map(body));
    line(out, "order-id", Some(text(&request.order_id)));
    line(out, "ignored", Some(texts(&request.ignored)));
    let values = |values: &[Value]| list(values.iter().map(json));
    let mutate = request.mutate.iter().map(|(at, to)| (at, Some(values(to))));
    line(out, "mutate", (!request.mutate.is_empty()).then(|| inline(mutate)));
    let (null, given): (Vec<_>, Vec<_>) =
        request.defaults.iter().partition(|(_, default)| default.is_null());
    let defaults = given.iter().map(|(at, default)| (at, Some(json(default))));
    line(out, "defaults", (!given.is_empty()).then(|| inline(defaults)));
    let null = null.iter().map(|(at, _)| text(at));
    line(out, "absent-or-null", (null.len() > 0).then(|| list(null)));
    line(out, "number-forms", request.number_forms.then(|| "true".to_owned()));
}

/// A value as it stands, in a place where texts are templates.
fn json(value: &Value) -> String {
    body(&BodyTemplate::of(value))
}

fn audit(out: &mut String, profile: &Profile) {
    let column = |name: &Option<String>| name.as_deref().map(text);
    let orders = &profile.audit.orders;
    let sold = (!orders.sold.is_empty()).then(|| texts(&orders.sold));
    header(out, "[audit]");
    let columns = inline([
        ("table", Some(text(&orders.table))),
        ("id", Some(text(&orders.id))),
        ("user", column(&orders.user)),
        ("key", column(&orders.key)),
        ("product", column(&orders.product)),
        ("quantity", column(&orders.quantity)),
        ("fingerprint", column(&orders.fingerprint)),
        ("status", column(&orders.status)),
        ("created", column(&orders.created)),
        ("paid-at", column(&orders.paid_at)),
        ("closed-at", column(&orders.closed_at)),
        ("sold", sold),
    ]);
    line(out, "orders", Some(columns));
    let stock = profile.audit.stock.as_ref().map(|stock| {
        inline([
            ("table", Some(text(&stock.table))),
            ("product", Some(text(&stock.product))),
            ("available", Some(text(&stock.available))),
            ("fence", column(&stock.fence)),
        ])
    });
    line(out, "stock", stock);
    let movements = profile.audit.movements.as_ref().map(|movements| {
        inline(
            [
                ("table", text(&movements.table)),
                ("order", text(&movements.order)),
                ("product", text(&movements.product)),
                ("delta", text(&movements.delta)),
            ]
            .map(|(name, value)| (name, Some(value))),
        )
    });
    line(out, "movements", movements);
    for check in &profile.audit.sql {
        header(out, "[[audit.sql]]");
        line(out, "title", Some(text(&check.title)));
        let severity = match check.severity {
            Severity::Critical => "critical",
            Severity::Contract => "contract",
            Severity::Protected => "protected",
            Severity::Efficiency => "efficiency",
        };
        line(out, "severity", Some(text(severity)));
        line(out, "query", Some(text(&check.query)));
    }
}

pub(super) fn header(out: &mut String, name: &str) {
    writeln!(out, "\n{name}").expect("a String takes everything");
}

/// A line, if there is a value.
pub(super) fn line(out: &mut String, key: &str, value: Option<String>) {
    if let Some(value) = value {
        writeln!(out, "{key} = {value}").expect("a String takes everything");
    }
}
