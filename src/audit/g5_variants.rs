//! G5: equivalent variants differ in bytes and agree in canonical form; changed requests differ in
//! canonical form.
//!
//! Two intents of one user, key and request are there because they should differ; if they have one
//! fingerprint, the change changed nothing.

use std::collections::{HashMap, HashSet};

use crate::codes::G5;
use crate::history::Intent;

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{list, plural};

const CURE: &str = "give the request more to vary (`ignored`, `defaults`, `number-forms`), and `mutate` \
                    values that differ from the original";

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let history = bench.case.history;
    let used: HashSet<_> = history.attempts.iter().filter_map(|attempt| attempt.variant).collect();
    let variants: Vec<_> = history.variants.iter().filter(|it| used.contains(&it.id)).collect();
    let changed = bench.index.keys.iter().filter(|key| key.variants.len() > 1).count();
    let equal = equal_changes(bench);
    if variants.is_empty() && changed == 0 && equal.is_empty() {
        return Ruling::not_judged(&G5, "no variants and no changed requests");
    }
    let same_bytes = variants.iter().filter(|it| it.sha256 == it.original_sha256);
    let same_bytes: Vec<&str> = same_bytes.map(|it| it.how.as_str()).collect();
    let other_meaning =
        variants.iter().filter(|it| it.fingerprint != history.intent(it.intent).fingerprint);
    let other_meaning: Vec<&str> = other_meaning.map(|it| it.how.as_str()).collect();
    let mut troubles = Vec::new();
    for (found, one, many) in [
        (&same_bytes, "variant has the original's bytes", "variants have the original's bytes"),
        (&other_meaning, "variant means something else", "variants mean something else"),
    ] {
        if let Some(how) = found.first() {
            let count = plural(found.len() as u64, one, many);
            troubles.push(format!("{count} (such as `{how}`)"));
        }
    }
    if let Some(intent) = equal.first() {
        let count = plural(equal.len() as u64, "changed request means", "changed requests mean");
        troubles.push(format!("{count} the same as the original (such as {})", intent.key));
    }
    if troubles.is_empty() {
        return Ruling::held(
            &G5,
            format!(
                "{}, {} with changed requests",
                plural(variants.len() as u64, "variant", "variants"),
                plural(changed as u64, "key", "keys")
            ),
        );
    }
    Ruling::missed(&G5, list(&troubles, 3), CURE)
}

/// Intents that repeat another one of the same user, key and request.
fn equal_changes<'a>(bench: &Bench<'a>) -> Vec<&'a Intent> {
    let mut seen: HashMap<(u32, u32, &str, &str), u32> = HashMap::new();
    let several = |group: u32| bench.index.keys[group as usize].is_keyed;
    let mut equal = Vec::new();
    for (intent, &(group, variant)) in bench.case.history.intents.iter().zip(&bench.index.seats) {
        let is_first =
            bench.index.keys[group as usize].variants[variant as usize].intent.id == intent.id;
        if is_first || !several(group) {
            continue;
        }
        let first = bench.index.keys[group as usize].variants[variant as usize].intent;
        let count = seen.entry((group, variant, &intent.user, &intent.request)).or_default();
        let is_twin = first.user == intent.user && first.request == intent.request;
        if is_twin || *count > 0 {
            equal.push(intent);
        }
        *count += 1;
    }
    equal
}
