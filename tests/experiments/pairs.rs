//! Each pair three times: with its defect, with the correct shop, and with its fault disarmed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::checks::Drilled;
use crate::rig::Rig;
use crate::table::{Pair, all};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/experiments")
}

fn drill(pair: Pair, arguments: &[&str], exit: i32) -> Drilled {
    let path = folder().join(pair.profile).with_extension("toml");
    let rig = Rig::new();
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{pair:?}: {error}"));
    let mut command = vec!["run", rig.profile(&text), "--format", "json"];
    command.extend(arguments);
    Drilled::of(&rig, &rig.run(&command), exit)
}

/// Does it for all of them, two at a time: most of a small drill is waiting.
pub fn two_at_a_time<T: Send>(all: impl Iterator<Item = T> + Send, what: impl Fn(T) + Sync) {
    let left = Mutex::new(all);
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        let workers = [(); 2].map(|()| {
            scope.spawn(|| {
                while let Some(one) = next() {
                    what(one);
                }
            })
        });
        for worker in workers {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

#[test]
fn every_experiment_is_listed_once() {
    let files = fs::read_dir(folder()).expect("the folder is in the repository").flatten();
    let stem = |path: PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let files: BTreeSet<String> = files.filter_map(|entry| stem(entry.path())).collect();
    let listed: Vec<String> = all().map(|pair| pair.profile.to_owned()).collect();
    assert_eq!(files, listed.iter().cloned().collect());
    assert_eq!(files.len(), listed.len(), "each once");
}

#[test]
fn each_defect_is_found_by_its_experiment() {
    two_at_a_time(all(), |pair| {
        let drilled = drill(pair, &[], pair.found.exit());
        let severities = pair.found.severities().iter();
        let found: Vec<_> = severities.flat_map(|it| drilled.findings(it)).collect();
        assert!(found.contains(&pair.code), "{pair:?}: {found:?}\n{}", drilled.text);
    });
}

#[test]
fn a_correct_shop_passes_each_experiment() {
    two_at_a_time(all(), |pair| {
        let drilled = drill(pair, &["--defects", ""], 0);
        assert_eq!(drilled.result["findings"], serde_json::json!([]), "{pair:?}\n{}", drilled.text);
        assert_eq!(drilled.gate("G2"), "held", "{pair:?}\n{}", drilled.text);
    });
}

#[test]
fn an_experiment_whose_fault_is_disarmed_proves_nothing() {
    two_at_a_time(all(), |pair| {
        let drilled = drill(pair, &["--defects", "", "--disarm"], 3);
        // Without the hold those of a staggered burst may not even meet (G1).
        let doubts = drilled.doubts();
        assert!(doubts.contains(&"G2"), "{pair:?}\n{}", drilled.text);
        let others: Vec<_> = doubts.iter().filter(|code| !["G1", "G2"].contains(code)).collect();
        assert!(others.is_empty(), "{pair:?}: {others:?}\n{}", drilled.text);
    });
}
