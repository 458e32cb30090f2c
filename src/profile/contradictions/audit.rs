//! `[audit]` against the contract: what the verdict needs must be readable.

use std::collections::HashSet;

use super::super::mistake::{Mistake, quoted};
use super::super::node::Node;
use super::counted_by;
use crate::codes;

pub(super) fn compare(profile: &Node, found: &mut Vec<Mistake>) {
    queries_are_checks(profile, found);
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

/// Cheap signs that a query isn't one SELECT; PostgreSQL has the last word, in a transaction that can
/// only read.
fn queries_are_checks(profile: &Node, found: &mut Vec<Mistake>) {
    let checks = profile.get("audit").and_then(|audit| audit.get("sql"));
    let mut titles = HashSet::new();
    for check in checks.map(Node::items).unwrap_or_default() {
        if let Some(title) = check.get("title")
            && let Some(text) = title.text()
            && !titles.insert(text)
        {
            let what = format!("two checks are called {}", quoted(text));
            found.push(
                Mistake::new(&codes::GIVEN_TWICE, title.span.clone(), what)
                    .label("an earlier check has this title")
                    .help("findings are told by their title: give it one of its own"),
            );
        }
        let Some(query) = check.get("query") else { continue };
        let Some(text) = query.text() else { continue };
        let bare = without_quotes(text);
        let first: String =
            bare.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
        let is_select = ["select", "with"].contains(&first.to_ascii_lowercase().as_str());
        let is_one = !bare.trim().trim_end_matches(';').contains(';');
        if !is_select || !is_one {
            let what = "a check of your own is one SELECT";
            let label =
                if is_select { "more than one statement" } else { "begins with another word" };
            found.push(
                Mistake::new(&codes::NOT_ONE_SELECT, query.span.clone(), what).label(label).help(
                    "begin with SELECT or WITH, and write one `[[audit.sql]]` for each query",
                ),
            );
        }
    }
}

/// SQL without the insides of its quotes, and without comments.
fn without_quotes(sql: &str) -> String {
    let mut out = String::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let end = match rest {
            _ if rest.starts_with("--") => rest.find('\n'),
            _ if rest.starts_with("/*") => rest.find("*/").map(|at| at + 2),
            _ if matches!(first, '\'' | '"') => rest[1..].find(first).map(|at| at + 2),
            _ => {
                out.push(first);
                Some(first.len_utf8())
            }
        };
        rest = &rest[end.unwrap_or(rest.len())..];
    }
    out
}
