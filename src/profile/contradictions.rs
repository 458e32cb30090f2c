//! Mistakes that only show when values are compared with each other.
//!
//! Whatever is broken in itself is left out of the comparison, so every mistake told here is one
//! more, and none is a consequence.

mod audit;
mod bursts;
mod contract;
mod faults;
mod holes;
mod mutations;
mod payments;
mod reach;
mod requests;
mod secrets;
mod stock;
mod target;
mod uses;
mod wires;

use super::mistake::Mistake;
use super::node::Node;

/// All contradictions of a profile whose single values were checked.
pub(super) fn contradictions(profile: &Node) -> Vec<Mistake> {
    let mut found = Vec::new();
    let uses = uses::uses(profile);
    uses::names_exist(profile, &uses, &mut found);
    requests::compare(profile, &uses, &mut found);
    mutations::compare(profile, &uses, &mut found);
    holes::compare(profile, &uses, &mut found);
    bursts::compare(profile, &mut found);
    payments::compare(profile, &mut found);
    stock::compare(profile, &mut found);
    contract::compare(profile, &uses, &mut found);
    target::compare(profile, &mut found);
    wires::compare(profile, &mut found);
    reach::compare(profile, &mut found);
    secrets::compare(profile, &mut found);
    audit::compare(profile, &mut found);
    found
}

/// All contradictions of rules whose single values were checked.
pub(super) fn of_rules(rules: &Node) -> Vec<Mistake> {
    let mut found = Vec::new();
    for rule in rules.get("rule").map(Node::items).unwrap_or_default() {
        faults::compare(rule, &mut found);
        faults::is_anyone_s(rule, &mut found);
    }
    found
}

/// The columns that the contract counts orders by; `None` if they can't be told.
fn counted_by(profile: &Node) -> Option<Vec<&'static str>> {
    let contract = profile.get("contract")?;
    let columns = match contract.entry("one-order-per") {
        Some(entry) if entry.node.is_broken() => return None,
        Some(entry) => entry.node.items(),
        None => &[],
    };
    let words: Option<Vec<_>> = columns.iter().map(Node::word).collect();
    words.map(|words| match words.as_slice() {
        [] if is_per_user_in_the_lab(profile) => vec!["user"],
        [] => vec!["user", "key"],
        _ => words,
    })
}

/// Where the contract is silent, it is what the lab's shop does.
fn is_per_user_in_the_lab(profile: &Node) -> bool {
    let per = profile.get("lab").and_then(|lab| lab.get("one-order-per")?.word());
    profile.get("target").is_none() && per == Some("user")
}

/// The kind of a phase's load with its table; `rate` is one of them.
fn load(phase: &Node) -> Option<(&str, &Node)> {
    if let Some(rate) = phase.get("rate") {
        return Some(("rate", rate));
    }
    let kinds = phase.get("burst")?.entries();
    kinds.iter().find(|kind| !kind.node.is_broken()).map(|kind| (kind.name.as_str(), &kind.node))
}

/// The loads of all phases.
fn loads(profile: &Node) -> impl Iterator<Item = (&str, &Node)> {
    profile.get("phase").map(Node::items).unwrap_or_default().iter().filter_map(load)
}

fn count(node: &Node, name: &str) -> Option<u64> {
    node.get(name)?.count()
}
