//! Does the stock last? Every kind of load is counted with the most that it may sell.

use super::super::body::BodyTemplate;
use super::super::check::thousands;
use super::super::mistake::Mistake;
use super::super::node::Node;
use super::super::template::Hole;
use super::{count, loads};
use crate::codes;

/// The forms of bad keys, at most, that a service may take for good ones.
const BAD_FORMS: u64 = 8;

/// What a load may take from one product.
struct Demand<'a> {
    load: &'a Node,
    orders: u64,
    quantity: u64,
}

impl Demand<'_> {
    fn units(&self) -> u64 {
        self.orders.saturating_mul(self.quantity)
    }
}

/// Users are dealt out over the products in turn, so the first product is ordered most.
pub(super) fn compare(profile: &Node, found: &mut Vec<Mistake>) {
    let Some(products) = profile.get("products") else { return };
    let (Some(of), Some(stock)) = (count(products, "count"), count(products, "stock")) else {
        return;
    };
    let demands: Vec<Demand<'_>> = loads(profile)
        .filter_map(|(kind, load)| {
            let orders = orders_of_one_product(kind, load, of)?;
            Some(Demand { load, orders, quantity: most_units(profile, kind, load)? })
        })
        .collect();
    let needed = demands.iter().fold(0_u64, |sum, demand| sum.saturating_add(demand.units()));
    let Some(largest) = demands.iter().max_by_key(|demand| demand.units()) else { return };
    if needed <= stock {
        return;
    }
    let place = products.get("stock").filter(|_| products.writes("stock"));
    let what = format!(
        "a product sells out: {} units are ordered, the stock is {}",
        thousands(needed),
        thousands(stock)
    );
    let dealt = if of == 1 { "one product".to_owned() } else { format!("{of} products") };
    let terms: Vec<String> =
        demands.iter().map(|demand| format!("{} x {}", demand.orders, demand.quantity)).collect();
    let sum = match terms.len() {
        ..=4 => terms.join(" + "),
        several => format!("{several} phases"),
    };
    found.push(
        Mistake::new(
            &codes::STOCK_TOO_SMALL,
            place.unwrap_or(largest.load).span.clone(),
            what,
        )
        .label(format!("too little for {sum} = {}", thousands(needed)))
        .help(format!(
            "users are dealt out over {dealt}; each phase counts its buyers of one product x its quantity"
        ))
        .help(format!("set `[products] stock = {needed}` or more, or raise `count`")),
    );
}

/// Orders that a load may make of the product that it orders most; `None` for a product of its own.
fn orders_of_one_product(kind: &str, load: &Node, products: u64) -> Option<u64> {
    if kind == "rate" {
        let seconds = load.get("for")?.duration()?.as_secs_f64();
        let fresh = 1.0 - load.get("duplicate-share")?.share()?;
        let intents = (count(load, "per-second")? as f64 * seconds * fresh).ceil();
        return Some((intents as u64).div_ceil(products));
    }
    let buyers = count(load, "users")?.div_ceil(products);
    let each = match kind {
        "last-unit" => return None,
        "fresh-key" => count(load, "threads")?,
        "mixed" if load.get("fresh-share")?.share()? > 0.0 => count(load, "threads")?,
        "bad-keys" => BAD_FORMS,
        _ => 1,
    };
    Some(buyers.saturating_mul(each))
}

/// The most units of one order: a changed intent may ask for more.
fn most_units(profile: &Node, kind: &str, load: &Node) -> Option<u64> {
    let quantity = count(load, "quantity")?;
    if !matches!(kind, "mutated" | "mixed") {
        return Some(quantity);
    }
    let requests = profile.get("request")?;
    let request = match load.get("request") {
        Some(named) => requests.get(named.text()?)?,
        None => &requests.entries().first()?.node,
    };
    let body = request.get("body").and_then(Node::json);
    let is_quantity = |pointer: &str| {
        body.and_then(|body| body.at(pointer)).and_then(BodyTemplate::only_hole)
            == Some(Hole::Quantity)
    };
    let mutations = request.get("mutate").map(Node::entries).unwrap_or_default();
    let changed = mutations
        .iter()
        .filter(|mutation| is_quantity(&mutation.name))
        .flat_map(|mutation| mutation.node.items())
        .filter_map(|value| value.plain_json()?.as_u64());
    changed.chain([quantity]).max()
}
