//! Mistakes that only show when values are compared with each other.
//!
//! Whatever is broken in itself is left out of the comparison, so every mistake told here is one
//! more, and none is a consequence.

mod audit;
mod bursts;
mod requests;

use super::mistake::Mistake;
use super::node::Node;

/// All contradictions of a profile whose single values were checked.
pub(super) fn contradictions(profile: &Node) -> Vec<Mistake> {
    let mut found = Vec::new();
    requests::compare(profile, &mut found);
    bursts::compare(profile, &mut found);
    audit::compare(profile, &mut found);
    found
}

/// The columns that the contract counts orders by; `None` if they can't be told.
fn counted_by(profile: &Node) -> Option<Vec<&'static str>> {
    let columns = profile.get("contract")?.get("one-order-per")?.items();
    let words: Option<Vec<_>> = columns.iter().map(Node::word).collect();
    words.map(|words| if words.is_empty() { vec!["user", "key"] } else { words })
}
