//! The registry of everything that dupeproof can hold against something: broken invariants, history
//! rules, weak schemas, checks of the user's own, gates that a run must pass to prove anything, profile
//! mistakes, troubles of the environment. One entry tells its reader what it means and what to do.

mod environment;
mod finders;
mod gates;
mod invariants;
mod lint;
mod mistakes;
mod own;
mod reference;
mod rules;

pub use environment::*;
pub use gates::*;
pub use invariants::*;
pub use lint::*;
pub use mistakes::*;
pub use own::*;
pub use reference::reference;
pub use rules::*;

use serde::{Deserialize, Serialize};

/// How loudly to shout.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A defence did its work at a price. Counted; doesn't fail the gate.
    Efficiency,
    /// A line of defence broke and the next one held. Counted; doesn't fail the gate.
    Protected,
    /// The data are right, the caller was misled. Fails the gate.
    Contract,
    /// Past the last line of defence. Fails the gate.
    Critical,
}

impl Severity {
    pub const fn fails_the_gate(self) -> bool {
        matches!(self, Self::Contract | Self::Critical)
    }
}

/// An entry of the registry.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// `I02`.
    pub id: &'static str,
    /// `one-order-per-key`.
    pub slug: &'static str,
    /// What holds when all is well, as the gate table says it: `one order per key`.
    pub title: &'static str,
    /// For invariants and rules, how loud a break is; `None` for gates, mistakes and troubles.
    pub severity: Option<Severity>,
    /// What it means, in a sentence or two.
    pub what: &'static str,
    /// How it is found out.
    pub checked: &'static str,
    /// What usually causes it.
    pub causes: &'static [&'static str],
    /// What to do.
    pub cure: &'static str,
}

/// Every entry, in the order of their ids within each family.
pub fn all() -> impl Iterator<Item = &'static Code> {
    [
        INVARIANTS.as_slice(),
        RULES.as_slice(),
        LINTS.as_slice(),
        OWN.as_slice(),
        GATES.as_slice(),
        MISTAKES.as_slice(),
        TROUBLES.as_slice(),
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The entry with this id, in any case.
pub fn find(id: &str) -> Option<&'static Code> {
    all().find(|code| code.id.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_and_slug_is_used_once() {
        let mut seen = std::collections::HashSet::new();
        for code in all() {
            assert!(seen.insert(code.id), "{} twice", code.id);
            assert!(seen.insert(code.slug), "{} twice", code.slug);
        }
    }

    #[test]
    fn every_entry_says_what_and_what_to_do() {
        for code in all() {
            for text in [code.title, code.what, code.checked, code.cure, code.found_by()] {
                assert!(!text.is_empty(), "{} leaves something unsaid", code.id);
            }
            let is_licence = code.id == "R7";
            assert!(is_licence || !code.causes.is_empty(), "{} has no cause", code.id);
        }
    }
}
