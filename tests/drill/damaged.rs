//! `audit` of folders that aren't what a finished drill leaves.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use dupeproof::history::SCHEMA_VERSION;

use crate::checks::Drilled;
use crate::rig::{Ended, Rig};
use crate::verdicts::SMALL;

/// A copy of a finished run, damaged, and judged.
struct Bench {
    rig: Rig,
    run: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let rig = Rig::new();
        let run = Drilled::run(&rig, SMALL, 0).folder;
        Self { rig, run }
    }

    fn judged(&self, damage: impl FnOnce(&Path)) -> Ended {
        let copy = self.rig.path().join("copy");
        let _ = fs::remove_dir_all(&copy);
        copy_folder(&self.run, &copy);
        damage(&copy);
        let ended = self.rig.run(&["audit", "copy"]);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        ended
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).expect("the folder is ours");
    for entry in fs::read_dir(from).expect("the folder is there").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}

fn says(ended: &Ended, code: i32, parts: &[&str]) {
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, Some(code), "{said}");
    for part in parts {
        assert!(said.contains(part), "no \"{part}\" in:\n{said}");
    }
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("the journal can be read");
    text.lines().map(str::to_owned).collect()
}

/// One drill serves all of them, because only its copies are damaged.
#[test]
fn every_damage_is_told_as_what_it_is() {
    let bench = Bench::new();
    let journal = |folder: &Path| folder.join("journal.jsonl");

    // As it is: the yardstick.
    says(&bench.judged(|_| {}), 0, &["PASSED"]);

    // Cut in the middle of a line: what a kill or a full disk leaves.
    let cut = bench.judged(|folder| {
        let file = File::options().write(true).open(journal(folder)).expect("it is there");
        let length = file.metadata().expect("it is there").len();
        file.set_len(length - 200).expect("it can be cut");
    });
    says(&cut, 3, &["INCONCLUSIVE", "inconclusive[G9]"]);

    // A line of garbage: nobody can say what is missing.
    let garbage = bench.judged(|folder| {
        let mut lines = lines(&journal(folder));
        lines[49] = "}{".to_owned();
        fs::write(journal(folder), lines.join("\n") + "\n").expect("the folder is ours");
    });
    says(&garbage, 4, &["error[E09]", "journal.jsonl:50", "help: "]);

    // A line that is gone: the seal has counted it.
    let gone = bench.judged(|folder| {
        let mut lines = lines(&journal(folder));
        let at = lines.iter().rposition(|line| line.starts_with(r#"{"attempt""#));
        lines.remove(at.expect("there are attempts"));
        fs::write(journal(folder), lines.join("\n") + "\n").expect("the folder is ours");
    });
    says(&gone, 4, &["error[E09]", "sealed with"]);

    let of_the_future = bench.judged(|folder| {
        let text = fs::read_to_string(journal(folder)).expect("it is there");
        let version = format!(r#""schema_version":{SCHEMA_VERSION}"#);
        let text = text.replacen(&version, r#""schema_version":999"#, 1);
        fs::write(journal(folder), text).expect("the folder is ours");
    });
    says(&of_the_future, 4, &["error[E09]", "version 999"]);

    let no_rows = bench.judged(|folder| {
        for file in ["rows/after.json", "rows/before-repair.json"] {
            fs::remove_file(folder.join(file)).expect("it is there");
        }
    });
    says(&no_rows, 3, &["INCONCLUSIVE", "inconclusive[G4]"]);

    let no_baseline = bench.judged(|folder| {
        fs::remove_file(folder.join("rows/baseline.json")).expect("it is there");
    });
    says(&no_baseline, 4, &["error[E09]", "no baseline"]);

    let half_rows = bench.judged(|folder| {
        fs::write(folder.join("rows/after.json"), "{\"orders\": [").expect("the folder is ours");
    });
    says(&half_rows, 4, &["error[E09]", "rows/after.json", "can't be read"]);

    let no_profile = bench.judged(|folder| {
        fs::remove_file(folder.join("profile.toml")).expect("it is there");
    });
    says(&no_profile, 2, &["copy is not a whole results folder", "profile.toml", "help: "]);

    let broken_profile = bench.judged(|folder| {
        fs::write(folder.join("profile.toml"), "seed = 'x'").expect("the folder is ours");
    });
    says(&broken_profile, 2, &["copy/profile.toml:1:8"]);

    let empty = bench.judged(|folder| {
        fs::remove_dir_all(folder).expect("the folder is ours");
        fs::create_dir(folder).expect("the folder is ours");
    });
    says(&empty, 2, &["copy is not a results folder", "journal.jsonl", "help: "]);

    let nothing = bench.judged(|folder| fs::remove_dir_all(folder).expect("the folder is ours"));
    says(&nothing, 2, &["there is no file or folder copy", "help: "]);

    let a_journal_that_is_a_folder = bench.judged(|folder| {
        fs::remove_file(journal(folder)).expect("it is there");
        fs::create_dir(journal(folder)).expect("the folder is ours");
    });
    says(&a_journal_that_is_a_folder, 2, &["copy is not a results folder"]);
}

#[test]
fn judging_an_old_run_again_leaves_latest_at_the_newest() {
    let rig = Rig::new();
    let old = Drilled::run(&rig, SMALL, 0).folder;
    let profile = rig.profile(SMALL);
    assert_eq!(rig.run(&["run", profile]).code, Some(0));
    let latest = rig.path().join("results/latest");
    let newest = fs::read_link(&latest).expect("it is a link");
    assert_ne!(Some(newest.as_os_str()), old.file_name());
    let name = old.to_str().expect("results folders have ASCII names");
    assert_eq!(rig.run(&["audit", name]).code, Some(0));
    assert_eq!(fs::read_link(&latest).expect("it is a link"), newest);
}
