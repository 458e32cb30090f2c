//! Every pair of strategies in some combination, small bursts, three seeds, idle and loaded: no
//! finding that fails a gate.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::measured;
use crate::verdicts::{BusyCores, drill_file, findings};

const SEEDS: [u64; 3] = [42, 7, 2_026];

/// What the shop can be built from; the first of each is the default.
const STRATEGIES: [(&str, &[&str]); 6] = [
    ("lock", &["redis", "postgres-advisory", "none"]),
    ("lock-per", &["product", "user", "global"]),
    ("lease-kind", &["plain", "reentrant"]),
    ("stock", &["conditional", "version", "select-for-update"]),
    ("idempotency", &["redis+postgres", "postgres", "token", "none"]),
    ("isolation", &["read-committed", "repeatable-read", "serializable"]),
];

/// A value of each strategy.
type Combination = [&'static str; STRATEGIES.len()];

/// Two strategies and their values.
type Pair = (usize, &'static str, usize, &'static str);

/// As the shop itself judges: what it would refuse isn't tried.
fn is_possible(combination: &Combination) -> bool {
    let [lock, lock_per, lease_kind, _, idempotency, _] = *combination;
    (lock == "redis" || lease_kind == "plain")
        && (lock != "none" || (lock_per == "product" && idempotency != "none"))
}

fn possible() -> Vec<Combination> {
    let mut all = vec![[""; STRATEGIES.len()]];
    for (place, (_, values)) in STRATEGIES.iter().enumerate() {
        all = all
            .iter()
            .flat_map(|begun| {
                values.iter().map(|value| {
                    let mut next = *begun;
                    next[place] = value;
                    next
                })
            })
            .collect();
    }
    all.retain(is_possible);
    all
}

fn pairs(combination: &Combination) -> impl Iterator<Item = Pair> {
    (0..STRATEGIES.len())
        .flat_map(|one| (one + 1..STRATEGIES.len()).map(move |other| (one, other)))
        .map(|(one, other)| (one, combination[one], other, combination[other]))
}

/// Greedy: whichever covers most of the pairs that are left, the default first.
fn pairwise() -> Vec<Combination> {
    let possible = possible();
    let mut left: BTreeSet<Pair> = possible.iter().flat_map(pairs).collect();
    let mut chosen = vec![possible[0]];
    left.retain(|pair| pairs(&possible[0]).all(|covered| covered != *pair));
    while !left.is_empty() {
        let gain = |combination: &&Combination| {
            pairs(combination).filter(|pair| left.contains(pair)).count()
        };
        // The first of the best, so that the set is the same every time.
        let best = *possible.iter().rev().max_by_key(gain).expect("there are combinations");
        for pair in pairs(&best) {
            left.remove(&pair);
        }
        chosen.push(best);
    }
    chosen
}

fn profile(combination: &Combination) -> String {
    let mut text = String::from("title = 'strategies'\n[lab]\n");
    for ((name, _), value) in STRATEGIES.iter().zip(combination) {
        let _ = writeln!(text, "{name} = '{value}'");
    }
    text.push_str(if combination.contains(&"token") { TOKENS } else { KEYS });
    text
}

const KEYS: &str = "
[[phase]]
name = 'double click'
burst.same-key = { users = 20, threads = 5 }
[[phase]]
name = 'other bytes'
burst.same-fingerprint = { users = 20, threads = 5 }
[[phase]]
name = 'other quantity'
burst.mutated = { users = 20, threads = 5, mutated-share = 0.4 }
[[phase]]
name = 'last units'
burst.last-unit = { users = 20, threads = 5, stock = 5 }
[[phase]]
name = 'one after the other'
burst.sequential = { users = 20, repeats = 3 }
";

const TOKENS: &str = r#"
[contract]
key = { header = "X-Submit-Token" }
in-progress = { status = [202, 409], code = ["IN_PROGRESS", "BUSY", "TOKEN_USED"] }
other-parameters = { status = [409], code = ["FINGERPRINT_MISMATCH"] }
hint = "none"
[request.place]
post = "/orders"
headers = { X-Submit-Token = "{token}", X-User-Id = "{user}" }
body = { userId = "{user}", productId = "{product}", quantity = "{quantity}", traceId = "{uuid}" }
ignored = ["/traceId"]
[request.token]
post = "/tokens"
headers = { X-User-Id = "{user}" }
[[phase]]
name = "one token, five clicks"
burst.submit-token = { users = 20, threads = 5, token = "token", token-at = "/token" }
"#;

/// The runs of one combination: how many passed, and what was counted without failing them.
fn runs(combination: &Combination, folder: &Path) -> (usize, BTreeSet<String>, Vec<String>) {
    let path = folder.join("profile.toml");
    std::fs::write(&path, profile(combination)).expect("the folder is ours");
    let (mut passed, mut counted, mut wrong) = (0, BTreeSet::new(), vec![]);
    for seed in SEEDS {
        for is_loaded in [false, true] {
            let busy = is_loaded.then(BusyCores::start);
            let result: Value = drill_file(&path, &["--seed", &seed.to_string()], folder);
            drop(busy);
            counted.extend(findings(&result, false).map(|(code, _)| code));
            if result["verdict"] == "passed" {
                passed += 1;
            } else {
                let codes: Vec<_> = findings(&result, true).collect();
                wrong.push(format!(
                    "{combination:?} seed {seed}: {} {codes:?} {}",
                    result["verdict"], result["doubts"]
                ));
            }
        }
    }
    (passed, counted, wrong)
}

#[test]
#[ignore = "minutes long: make soak"]
fn no_combination_of_strategies_is_ever_accused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let heads: Vec<_> = STRATEGIES.iter().map(|(name, _)| *name).collect();
    let mut page = format!(
        "Every possible pair of values is in one of these combinations.\n\n\
         | {} | passed | counted, not failed |\n|{}\n",
        heads.join(" | "),
        "---|".repeat(heads.len() + 2)
    );
    let mut wrong = vec![];
    for combination in pairwise() {
        let (passed, counted, misses) = runs(&combination, folder.path());
        let counted: Vec<_> = counted.into_iter().collect();
        let _ = writeln!(
            page,
            "| {} | {passed} of {} | {} |",
            combination.join(" | "),
            SEEDS.len() * 2,
            counted.join(" ")
        );
        wrong.extend(misses);
        measured::write("strategies.md", "Strategies in combination", &page);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
