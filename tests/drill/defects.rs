//! Each defect of the shop is found by its small drill, by an audit that doesn't know which one is on;
//! the correct shop passes the same drills.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::checks::Drilled;
use crate::defect_drills::DEFECT_DRILLS;
use crate::rig::Rig;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/defects")
}

fn drill(name: &str, arguments: &[&str], exit: i32) -> Drilled {
    let path = folder().join(name).with_extension("toml");
    let rig = Rig::new();
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut command = vec!["run", rig.profile(&text), "--format", "json"];
    command.extend(arguments);
    Drilled::of(&rig, &rig.run(&command), exit)
}

#[test]
fn every_drill_of_a_defect_is_listed() {
    let files = fs::read_dir(folder()).expect("the folder is in the repository").flatten();
    let stem = |path: PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let files: BTreeSet<String> = files.filter_map(|entry| stem(entry.path())).collect();
    let listed = DEFECT_DRILLS.map(|(name, _)| name.to_owned());
    assert_eq!(files, BTreeSet::from(listed));
}

/// Those that no experiment finds by holding a step; `make soak` has them all, many times.
fn found_by_bursts_alone() -> impl Iterator<Item = (&'static str, &'static str)> {
    let experiments = folder().with_file_name("experiments");
    let files = fs::read_dir(experiments).expect("the folder is in the repository").flatten();
    let held: BTreeSet<String> = files
        .filter_map(|file| Some(file.file_name().to_str()?.split('-').nth(1)?.to_owned()))
        .collect();
    let is_left = move |(name, _): &(&str, &str)| {
        name.split('-').next().is_some_and(|defect| !held.contains(defect))
    };
    DEFECT_DRILLS.into_iter().filter(is_left)
}

#[test]
fn each_defect_is_found_with_its_invariant() {
    for (name, code) in found_by_bursts_alone() {
        let drilled = drill(name, &[], 1);
        let found: Vec<_> =
            ["critical", "contract"].iter().flat_map(|it| drilled.findings(it)).collect();
        assert!(found.contains(&code), "{name}: {found:?} without {code}\n{}", drilled.text);
    }
}

#[test]
fn a_correct_shop_passes_the_drill_of_each_defect() {
    for (name, _) in found_by_bursts_alone() {
        let drilled = drill(name, &["--defects", ""], 0);
        assert_eq!(drilled.result["findings"], serde_json::json!([]), "{name}\n{}", drilled.text);
    }
}
