//! The presets of contracts, one file each: clauses as a profile writes them, and where the facts
//! come from.
//!
//! They are read with the description of `[contract]`, so a preset can say nothing that a profile
//! can't override.

use std::sync::LazyLock;

use toml::de::DeTable;

use super::build;
use super::check::Check;
use super::contract::Contract;
use super::keys::CONTRACT;

/// The table of contents: a new preset is a file and a line here.
macro_rules! presets {
    ($count:literal: $($name:literal),+ $(,)?) => {
        /// Their names, as profiles write them.
        pub const NAMES: [&str; $count] = [$($name),+];

        const TEXTS: [&str; $count] = [$(include_str!(concat!("presets/", $name, ".toml"))),+];
    };
}

presets!(13:
    "order-strict",
    "ietf-07",
    "stripe-v1",
    "stripe-v2",
    "adyen",
    "paypal",
    "square",
    "shopify",
    "brandur",
    "zalando",
    "powertools",
    "ripple",
    "aip-155",
);

static CONTRACTS: LazyLock<Vec<Contract>> =
    LazyLock::new(|| NAMES.into_iter().zip(TEXTS).map(|(name, text)| read(name, text)).collect());

/// The contract of a preset.
pub fn contract(name: &str) -> Option<Contract> {
    CONTRACTS.iter().find(|contract| contract.preset == name).cloned()
}

/// Name, prose and clauses of each, for the documentation.
pub fn pages() -> impl Iterator<Item = (&'static str, String, &'static str)> {
    NAMES.into_iter().zip(TEXTS).map(|(name, text)| {
        let (comment, clauses) = text.split_once("\n\n").expect("a test reads every preset");
        let prose: Vec<&str> =
            comment.lines().map(|line| line.trim_start_matches('#').trim_start()).collect();
        let prose = prose.join("\n");
        let named = prose.strip_prefix(name).and_then(|rest| rest.strip_prefix(": "));
        (name, named.unwrap_or(&prose).to_owned(), clauses)
    })
}

fn read(name: &'static str, text: &str) -> Contract {
    let toml = DeTable::parse(text).expect("a test reads every preset");
    let mut check = Check::new(text, &|_| None);
    let node = check.table(&CONTRACT, toml.get_ref(), 0..0);
    assert_eq!(check.into_mistakes(), [], "the preset {name}");
    build::preset(name, &node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_says_every_clause_and_where_it_comes_from() {
        for (name, text) in NAMES.into_iter().zip(TEXTS) {
            let contract = contract(name).unwrap();
            assert_eq!(contract.preset, name);
            assert!(text.starts_with(&format!("# {name}: ")), "{name}");
            assert!(text.contains("\n# Source: "), "{name} names no source");
            let toml = DeTable::parse(text).unwrap();
            for field in CONTRACT.fields.iter().filter(|field| field.name != "preset") {
                assert!(toml.get_ref().contains_key(field.name), "{name}: {}", field.name);
            }
            assert!(contract.longest_wait.as_secs() > 0 && !contract.first.is_empty(), "{name}");
        }
    }
}
