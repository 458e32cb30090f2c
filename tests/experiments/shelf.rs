//! The profiles of faults that everybody is given: as they stand the correct shop passes them, and each finds
//! the defect that its head names.

use std::fs;
use std::path::Path;

use crate::checks::Drilled;
use crate::rig::Rig;
use crate::table::{Pair, efficiency, protected, violated};

/// A profile under `profiles/`, the defects that its head says how to switch on, and what they come to.
const SHELF: &[(Pair, &str)] = &[
    (efficiency("unlock-reply-lost", "L11"), "unlock-error-swallowed"),
    (protected("unlock-reply-lost", "I29"), "unlock-retry-blind,unlock-plain-del"),
    (violated("commit-reply-lost", "I02"), "delete-record-on-exception,no-unique-constraint"),
    (violated("get-reply-held", "I02"), "claim-get-then-set,no-unique-constraint"),
    (violated("redis-failover", "I17"), "fence-from-volatile-redis"),
    (violated("payment-reply-lost", "I14"), "new-payment-id-per-try"),
    (violated("redis-partitioned-instance", "I24"), "redis-down-skips-guards,no-unique-constraint"),
];

fn text(pair: Pair) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let path = folder.join(pair.profile).with_extension("toml");
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{pair:?}: {error}"))
}

fn drill(pair: Pair, arguments: &[&str], exit: i32) -> Drilled {
    let rig = Rig::new();
    let mut command = vec!["run", rig.profile(&text(pair)), "--format", "json"];
    command.extend(arguments);
    Drilled::of(&rig, &rig.run(&command), exit)
}

#[test]
fn each_profile_of_faults_passes_the_correct_shop() {
    let mut profiles: Vec<Pair> = SHELF.iter().map(|(pair, _)| *pair).collect();
    profiles.dedup_by_key(|pair| pair.profile);
    for pair in profiles {
        let drilled = drill(pair, &[], 0);
        assert_eq!(drilled.result["findings"], serde_json::json!([]), "{pair:?}\n{}", drilled.text);
        assert_eq!(drilled.gate("G2"), "held", "{pair:?}\n{}", drilled.text);
    }
}

#[test]
fn each_profile_of_faults_finds_the_defect_that_its_head_names() {
    for (pair, defects) in SHELF.iter().copied() {
        let line = format!("profiles/{}.toml --defects {defects}", pair.profile);
        assert!(text(pair).contains(&line), "{pair:?}: its head doesn't say `{line}`");
        let drilled = drill(pair, &["--defects", defects], pair.found.exit());
        let severities = pair.found.severities().iter();
        let found: Vec<_> = severities.flat_map(|it| drilled.findings(it)).collect();
        assert!(found.contains(&pair.code), "{pair:?}: {found:?}\n{}", drilled.text);
    }
}
