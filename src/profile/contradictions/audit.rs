//! `[audit]` against the contract: what the verdict needs must be readable.

use super::super::mistake::Mistake;
use super::super::node::Node;
use super::counted_by;
use crate::codes;

pub(super) fn compare(profile: &Node, found: &mut Vec<Mistake>) {
    let Some(orders) = profile.get("audit").and_then(|audit| audit.get("orders")) else { return };
    for column in counted_by(profile).unwrap_or_default() {
        if !orders.mentions(column) {
            let what = format!("`audit.orders` doesn't say which column holds the {column}");
            found.push(
                Mistake::new(&codes::COLUMN_NOT_AUDITED, orders.span.clone(), what)
                    .label(format!("`{column}` is missing"))
                    .help("the contract allows one order per combination of its columns (`one-order-per`, by default user and key)")
                    .help(format!("add `{column} = \"...\"`, or count by other columns in `[contract] one-order-per`")),
            );
        }
    }
    let sold = orders.get("sold").filter(|sold| !sold.items().is_empty());
    if let Some(sold) = sold.filter(|_| !orders.mentions("status")) {
        let what = "`sold` has no column to be compared with";
        found.push(
            Mistake::new(&codes::SOLD_WITHOUT_STATUS, sold.span.clone(), what)
                .label("values of a column that isn't named")
                .help(
                    "add `status = \"status\"` beside it, or remove `sold`: then all orders count",
                ),
        );
    }
}
