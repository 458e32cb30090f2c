//! Phases against each other and against what they need: names, requests, connections, stock.

use std::collections::HashSet;

use super::super::check::thousands;
use super::super::mistake::{Mistake, quoted};
use super::super::node::{Entry, Node};
use super::super::suggest::{closest, listed};
use crate::codes;

const MOST_ATTEMPTS: u64 = 50_000;

pub(super) fn compare(profile: &Node, found: &mut Vec<Mistake>) {
    let phases = profile.get("phase").map(Node::items).unwrap_or_default();
    names_differ(phases, found);
    for burst in phases.iter().filter_map(same_key) {
        request_exists(profile, burst, found);
        burst_fits(burst, found);
    }
    stock_lasts(profile, phases, found);
}

fn same_key(phase: &Node) -> Option<&Node> {
    phase.get("burst")?.get("same-key")
}

fn count(node: &Node, name: &str) -> Option<u64> {
    node.get(name)?.count()
}

fn names_differ(phases: &[Node], found: &mut Vec<Mistake>) {
    let names: Vec<&Node> = phases.iter().filter_map(|phase| phase.get("name")).collect();
    let mut seen = HashSet::new();
    for name in names {
        let Some(text) = name.text() else { continue };
        if !seen.insert(text) {
            let what = format!("two phases are called {}", quoted(text));
            found.push(
                Mistake::new(&codes::GIVEN_TWICE, name.span.clone(), what)
                    .label("an earlier phase has this name")
                    .help("results are found by the name of their phase: give it one of its own"),
            );
        }
    }
}

fn request_exists(profile: &Node, burst: &Node, found: &mut Vec<Mistake>) {
    let (Some(wanted), Some(requests)) = (burst.get("request"), profile.get("request")) else {
        return;
    };
    let Some(text) = wanted.text() else { return };
    if requests.mentions(text) {
        return;
    }
    let names = || requests.entries().iter().map(|Entry { name, .. }| name.as_str());
    let what = format!("there is no request {}", quoted(text));
    let mut mistake =
        Mistake::new(&codes::UNKNOWN_REQUEST, wanted.span.clone(), what).label("not described");
    if let Some(meant) = closest(text, names()) {
        mistake = mistake.help(format!("did you mean `{meant}`?"));
    }
    let known = listed(names(), "and");
    found.push(
        mistake.help(format!("described so far: {known}; a table `[request.{text}]` adds one")),
    );
}

fn burst_fits(burst: &Node, found: &mut Vec<Mistake>) {
    let (Some(users), Some(threads)) = (count(burst, "users"), count(burst, "threads")) else {
        return;
    };
    let attempts = users * threads;
    if attempts > MOST_ATTEMPTS {
        let what = format!("a burst of {} attempts is too large", thousands(attempts));
        let sum =
            format!("{} x {} = {}", thousands(users), thousands(threads), thousands(attempts));
        found.push(
            Mistake::new(&codes::BURST_TOO_LARGE, burst.span.clone(), what)
                .label(format!("{sum}, limit {}", thousands(MOST_ATTEMPTS)))
                .help("each attempt has a connection of its own; 200 users x 20 threads find duplicates well"),
        );
    }
}

/// Users are dealt out over the products in turn, so the first product is ordered most.
fn stock_lasts(profile: &Node, phases: &[Node], found: &mut Vec<Mistake>) {
    let Some(products) = profile.get("products") else { return };
    let (Some(of), Some(stock)) = (count(products, "count"), count(products, "stock")) else {
        return;
    };
    let orders: Vec<(u64, u64, &Node)> = phases
        .iter()
        .filter_map(same_key)
        .filter_map(|burst| {
            let users = count(burst, "users")?.div_ceil(of);
            Some((users, count(burst, "quantity")?, burst))
        })
        .collect();
    let needed: u64 = orders.iter().map(|(users, quantity, _)| users * quantity).sum();
    let Some((_, _, largest)) = orders
        .iter()
        .max_by_key(|(users, quantity, _)| users * quantity)
        .filter(|_| needed > stock)
    else {
        return;
    };
    let place = products
        .get("stock")
        .filter(|stock| stock.span != profile.span && stock.span != products.span);
    let terms: Vec<String> =
        orders.iter().map(|(users, quantity, _)| format!("{users} x {quantity}")).collect();
    let what = format!(
        "a product sells out: {} units are ordered, the stock is {}",
        thousands(needed),
        thousands(stock)
    );
    let products = if of == 1 { "one product".to_owned() } else { format!("{of} products") };
    let sum = match terms.as_slice() {
        [.., _] if terms.len() > 4 => format!("{} phases", terms.len()),
        _ => terms.join(" + "),
    };
    found.push(
        Mistake::new(&codes::STOCK_TOO_SMALL, place.unwrap_or(largest).span.clone(), what)
            .label(format!("too little for {sum} = {}", thousands(needed)))
            .help(format!(
                "users are dealt out over {products}; each phase counts its buyers of one product x its quantity"
            ))
            .help(format!("set `[products] stock = {needed}` or more, or raise `count`")),
    );
}
