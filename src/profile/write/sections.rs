//! The tables of a profile, in the order in which one reads about a drill.

use std::fmt::Write;

use super::super::burst::Burst;
use super::super::contract::Contract;
use super::super::model::{Profile, Request};
use super::values::{
    answer, body, duration, inline, key, list, numbers, size, template, text, texts,
};

pub(super) fn profile(out: &mut String, profile: &Profile) {
    line(out, "title", profile.title.as_deref().map(text));
    line(out, "seed", Some(profile.seed.to_string()));
    lab(out, profile);
    contract(out, &profile.contract);
    client(out, profile);
    for request in &profile.requests {
        self::request(out, request);
    }
    audit(out, profile);
    for phase in &profile.phases {
        header(out, "[[phase]]");
        line(out, "name", Some(text(&phase.name)));
        burst(out, &phase.burst, &profile.requests);
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
    header(out, "[lab]");
    line(out, "instances", Some(lab.instances.to_string()));
    line(out, "defects", Some(texts(&lab.defects)));
    line(out, "idempotency", Some(text(lab.idempotency)));
    line(out, "lock-per", Some(text(lab.lock_per)));
    line(out, "begin", Some(text(lab.begin)));
    line(out, "isolation", Some(text(lab.isolation)));
    line(out, "one-order-per", Some(text(lab.one_order_per)));
    line(out, "pool-size", Some(lab.pool_size.to_string()));
    line(out, "stock", Some(text(lab.stock)));
    line(out, "lock-poll", Some(duration(lab.lock_poll)));
    line(out, "lock-wait", Some(duration(lab.lock_wait)));
    line(out, "lease", Some(duration(lab.lease)));
    header(out, "[products]");
    line(out, "count", Some(profile.products.count.to_string()));
    line(out, "stock", Some(profile.products.stock.to_string()));
}

fn contract(out: &mut String, contract: &Contract) {
    let replay = inline([
        ("status", contract.replay.statuses.as_deref().map(numbers)),
        ("body", Some(text(contract.replay.body.word()))),
    ]);
    header(out, "[contract]");
    line(out, "preset", Some(text(contract.preset)));
    let columns = contract.one_order_per.iter().map(|column| text(column.word()));
    line(out, "one-order-per", Some(list(columns)));
    line(out, "recovery-limit", Some(duration(contract.recovery_limit)));
    line(out, "first", Some(numbers(&contract.first)));
    line(out, "replay", Some(replay));
    line(out, "replay-marker", contract.replay_marker.as_deref().map(text));
    line(out, "in-progress", Some(answer(&contract.in_progress)));
    line(out, "other-parameters", contract.mismatch().map(answer));
    line(out, "missing-key", contract.rejects_missing_key().map(answer));
    line(out, "business-rejection", Some(answer(&contract.business_rejection)));
    line(out, "shed", Some(answer(&contract.shed)));
    line(out, "parked", contract.parked.as_ref().map(answer));
    line(out, "hint", Some(text(contract.hint.word())));
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
}

fn burst(out: &mut String, burst: &Burst, requests: &[Request]) {
    let Some(burst) = burst.crowd() else { return };
    let entries = inline([
        ("users", Some(burst.users.to_string())),
        ("threads", Some(burst.threads.to_string())),
        ("quantity", Some(burst.quantity.to_string())),
        ("request", requests.get(burst.request).map(|request| text(&request.name))),
        ("release", Some(text(burst.release.word()))),
        ("overlap-share", Some(format!("{:?}", burst.overlap_share))),
    ]);
    line(out, "burst.same-key", Some(entries));
}

fn header(out: &mut String, name: &str) {
    writeln!(out, "\n{name}").expect("a String takes everything");
}

/// A line, if there is a value.
fn line(out: &mut String, key: &str, value: Option<String>) {
    if let Some(value) = value {
        writeln!(out, "{key} = {value}").expect("a String takes everything");
    }
}
