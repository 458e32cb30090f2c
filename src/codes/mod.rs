//! The registry of everything that dupeproof can hold against something: broken invariants, history
//! rules, weak schemas, checks of the user's own, gates that a run must pass to prove anything, profile
//! mistakes, troubles of the environment. One entry tells its reader what it means and what to do.

mod environment;
mod faults;
mod finders;
mod gates;
mod invariants;
mod lint;
mod mistakes;
mod own;
mod reference;
mod rules;

pub use environment::*;
pub use faults::*;
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

/// The entry whose id or slug somebody may have meant.
pub fn like(typed: &str) -> Option<&'static Code> {
    let typed = typed.to_ascii_lowercase();
    let parts = |id: &str| {
        let digit = id.find(|letter: char| letter.is_ascii_digit())?;
        Some((id[..digit].to_ascii_lowercase(), id[digit..].parse::<u32>().ok()?))
    };
    // `I2` is `I02`, and not one of those that begin with it.
    if let Some(typed) = parts(&typed)
        && let Some(code) = all().find(|code| parts(code.id).is_some_and(|code| code == typed))
    {
        return Some(code);
    }
    let likeness = |code: &Code| {
        let id = strsim::jaro_winkler(&code.id.to_ascii_lowercase(), &typed);
        id.max(strsim::jaro_winkler(code.slug, &typed))
    };
    all()
        .map(|code| (likeness(code), code))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, code)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_is_nearly_right_is_recognized_and_nonsense_is_not() {
        for (typed, meant) in [("I2", "I02"), ("i002", "I02"), ("e5", "E05"), ("bad-keys", "I26")] {
            assert_eq!(like(typed).map(|code| code.id), Some(meant), "{typed}");
        }
        assert_eq!(like("xyzzy"), None);
    }

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
