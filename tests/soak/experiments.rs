//! Every experiment, many times: its defect is found at the first try, the correct shop passes, and with the
//! fault disarmed nothing is proved.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::measured;
use super::verdicts::{BusyCores, drill_file, findings, range, tenths};
use crate::table::{Found, Pair, all};

/// Of each pair, each way.
const RUNS: usize = 20;

/// Of the one that a reader tries first, and how long each may take, the lab's start included.
const COMMIT_HELD_RUNS: usize = 100;
const COMMIT_HELD_LIMIT: Duration = Duration::from_secs(3);

/// Of the experiments whose names begin with one of these only, separated by commas.
const ONLY: &str = "DUPEPROOF_SOAK_DRILLS";

const LEGEND: &str = "\nRanges are lowest - median - highest, from the command to its end. Half of the runs \
                      had both cores kept busy by two endless loops.\n";

/// The runs of one kind: how many came to what they should, and what they took.
#[derive(Default)]
struct Tally {
    right: usize,
    took: Vec<u64>,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, run: usize, (result, took): &(Value, Duration), is_right: bool) {
        self.took.push(took.as_millis() as u64 / 100);
        if is_right {
            self.right += 1;
        } else {
            let all: Vec<_> = findings(result, true).chain(findings(result, false)).collect();
            let verdict = &result["verdict"];
            self.wrong.push(format!("run {run}: {verdict} {all:?} {}", result["doubts"]));
        }
    }
}

fn timed(profile: &Path, arguments: &[&str], results: &Path) -> (Value, Duration) {
    let begin = Instant::now();
    let result = drill_file(profile, arguments, results);
    (result, begin.elapsed())
}

fn is_found(pair: Pair, result: &Value) -> bool {
    let verdict = if pair.found == Found::Violated { "violated" } else { "passed" };
    let severities = pair.found.severities();
    let all = result["findings"].as_array().into_iter().flatten();
    let mut own = all.filter(|it| it["code"] == pair.code);
    result["verdict"] == verdict
        && own.any(|it| severities.iter().any(|severity| it["severity"] == *severity))
}

/// The rows that are on the page already: a campaign may be run in pieces.
fn rows_on_record() -> BTreeMap<String, String> {
    let rows = measured::read("experiments.md");
    let rows = rows.lines().filter(|line| line.starts_with("| x"));
    rows.filter_map(|row| Some((row.split(' ').nth(1)?.to_owned(), row.to_owned()))).collect()
}

#[test]
#[ignore = "minutes long: make soak"]
fn each_experiment_finds_its_defect_every_time_and_never_accuses_a_correct_shop() {
    let head = "| experiment | found with | of runs | seconds | correct shop passes | seconds | \
                disarmed is inconclusive | date |\n|---|---|---|---|---|---|---|---|\n";
    let mut rows = rows_on_record();
    rows.retain(|name, _| all().any(|pair| pair.profile == name));
    let only = std::env::var(ONLY).unwrap_or_default();
    let is_wanted =
        |name: &str| only.is_empty() || only.split(',').any(|begin| name.starts_with(begin));
    let results = tempfile::tempdir().expect("a temporary folder");
    let mut wrong = Vec::new();
    for pair in all().filter(|pair| is_wanted(pair.profile)) {
        let path = format!("profiles/experiments/{}.toml", pair.profile);
        let run = |arguments: &[&str]| timed(Path::new(&path), arguments, results.path());
        let (mut found, mut passed, mut unproved) =
            (Tally::default(), Tally::default(), Tally::default());
        for number in 0..RUNS {
            let busy = (number >= RUNS / 2).then(BusyCores::start);
            let ran = run(&[]);
            found.add(number, &ran, is_found(pair, &ran.0));
            let ran = run(&["--defects", ""]);
            passed.add(number, &ran, ran.0["verdict"] == "passed");
            let ran = run(&["--defects", "", "--disarm"]);
            unproved.add(number, &ran, ran.0["verdict"] == "inconclusive");
            drop(busy);
        }
        let row = format!(
            "| {} | {} | {} of {RUNS} | {} | {} of {RUNS} | {} | {} of {RUNS} | {} |",
            pair.profile,
            pair.code,
            found.right,
            tenths(&mut found.took),
            passed.right,
            tenths(&mut passed.took),
            unproved.right,
            measured::today(),
        );
        rows.insert(pair.profile.to_owned(), row);
        let misses = [found, passed, unproved].into_iter().flat_map(|tally| tally.wrong);
        wrong.extend(misses.map(|miss| format!("{}: {miss}", pair.profile)));
        // Written after each pair: what has run is on record, also when the next one fails.
        let page = rows.values().fold(head.to_owned(), |page, row| page + row + "\n");
        measured::write("experiments.md", "Every experiment, many times", &(page + LEGEND));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Holds in a crowd: 200 users with 20 requests each at 40 connections.
const CROWD_RUNS: usize = 10;

#[test]
#[ignore = "minutes long: make soak"]
fn no_hold_is_lost_and_none_blocks_for_ever_in_a_crowd() {
    let mut page =
        "| commit-held-crowd | as it should be | holds with effect | users with two orders | \
                    users whose requests met | holds that ended by their limit | seconds |\n\
                    |---|---|---|---|---|---|---|\n"
            .to_owned();
    let results = tempfile::tempdir().expect("a temporary folder");
    let mut wrong = Vec::new();
    for (name, arguments, verdict) in
        [("D01", &[][..], "violated"), ("the correct shop", &["--defects", ""][..], "passed")]
    {
        let mut tally = Tally::default();
        let (mut held, mut more, mut met, mut late) = (vec![], vec![], vec![], vec![]);
        for number in 0..CROWD_RUNS {
            let ran =
                timed(Path::new("profiles/commit-held-crowd.toml"), arguments, results.path());
            let fault = &ran.0["faults"][0];
            held.extend(fault["with_effect"].as_u64());
            late.push(fault["ended"]["its time was over"].as_u64().unwrap_or(0));
            met.extend(ran.0["bursts"][0]["reached"].as_u64());
            more.extend(ran.0["accounting"]["intents_with_more"].as_u64());
            let all_held = held.last() == Some(&200) && late.last() == Some(&0);
            tally.add(number, &ran, ran.0["verdict"] == verdict && all_held);
        }
        page += &format!(
            "| {name} | {} of {CROWD_RUNS} | {} | {} | {} | {} | {} |\n",
            tally.right,
            range(&mut held),
            range(&mut more),
            range(&mut met),
            range(&mut late),
            tenths(&mut tally.took),
        );
        wrong.extend(tally.wrong.into_iter().map(|miss| format!("{name}: {miss}")));
        measured::write("commit-held-crowd.md", "Holds in a crowd of 200 x 20", &page);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "minutes long: make soak"]
fn commit_held_finds_the_lock_released_before_commit_every_time_within_three_seconds() {
    let results = tempfile::tempdir().expect("a temporary folder");
    let (mut found, mut slow) = (Tally::default(), 0);
    let (mut took, mut sent) = (Vec::new(), Vec::new());
    for number in 0..COMMIT_HELD_RUNS {
        let ran = timed(Path::new("profiles/commit-held.toml"), &[], results.path());
        let codes: Vec<_> = findings(&ran.0, true).map(|(code, _)| code).collect();
        let is_right = ran.0["verdict"] == "violated" && codes.iter().any(|code| code == "I02");
        slow += usize::from(ran.1 >= COMMIT_HELD_LIMIT);
        took.push(ran.1.as_millis() as u64 / 100);
        sent.extend(ran.0["accounting"]["burst_attempts"].as_u64());
        found.add(number, &ran, is_right);
    }
    let page = format!(
        "| profile | found with | of runs | requests in the burst | seconds | 3 s or longer |\n\
         |---|---|---|---|---|---|\n\
         | commit-held | I02 | {} of {COMMIT_HELD_RUNS} | {} | {} | {slow} |\n",
        found.right,
        range(&mut sent),
        tenths(&mut took),
    );
    measured::write("commit-held.md", "One pair of requests, a hundred times", &page);
    assert!(found.wrong.is_empty(), "{}", found.wrong.join("\n"));
    assert_eq!(slow, 0, "runs of 3 s or longer: {took:?} tenths of a second");
}
