//! The same drill, many times: a defect is found every time, a correct service never accused.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::measured;
use crate::defect_drills::DEFECT_DRILLS;

/// One repeated drill and what must come of every single run.
struct Campaign {
    profile: &'static str,
    runs: usize,
    verdict: &'static str,
    /// The invariant that must be named; empty for a correct service.
    code: &'static str,
    /// Users with two orders or more that each run must at least show.
    at_least: u64,
}

const CAMPAIGNS: [Campaign; 10] = [
    Campaign {
        profile: "lock-outside-transaction",
        runs: 20,
        verdict: "passed",
        code: "",
        at_least: 0,
    },
    Campaign {
        profile: "lock-inside-with-unique-key",
        runs: 20,
        verdict: "passed",
        code: "",
        at_least: 0,
    },
    Campaign { profile: "small", runs: 40, verdict: "passed", code: "", at_least: 0 },
    Campaign { profile: "checkout", runs: 20, verdict: "passed", code: "", at_least: 0 },
    Campaign { profile: "pay-vs-close", runs: 20, verdict: "passed", code: "", at_least: 0 },
    Campaign {
        profile: "pay-vs-close-unconditional",
        runs: 20,
        verdict: "violated",
        code: "I10",
        at_least: 0,
    },
    Campaign { profile: "lost-update", runs: 20, verdict: "violated", code: "I03", at_least: 0 },
    Campaign {
        profile: "check-then-insert",
        runs: 20,
        verdict: "violated",
        code: "I02",
        at_least: 1,
    },
    Campaign {
        profile: "lock-inside-transaction",
        runs: 20,
        verdict: "violated",
        code: "I02",
        at_least: 5,
    },
    Campaign {
        profile: "lock-inside-snapshot",
        runs: 20,
        verdict: "violated",
        code: "I02",
        at_least: 101,
    },
];

/// Of each drill of a defect, and as many of the correct shop.
const RUNS: usize = 20;

const LEGEND: &str = "\nRanges are lowest - median - highest. Half of the runs that have to \
                      pass had both cores kept busy by two endless loops.\n";

/// Two processes that keep both cores busy for as long as this lives.
pub struct BusyCores(Vec<Child>);

impl BusyCores {
    pub fn start() -> Self {
        let spin = || {
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .stdin(Stdio::null())
                .spawn()
                .expect("sh is there")
        };
        Self(vec![spin(), spin()])
    }
}

impl Drop for BusyCores {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn drill(profile: &str, arguments: &[&str], results: &Path) -> Value {
    drill_file(Path::new(&format!("profiles/{profile}.toml")), arguments, results)
}

pub fn drill_file(profile: &Path, arguments: &[&str], results: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_dupeproof"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("run")
        .arg(profile)
        .args(["--format", "json", "--results"])
        .arg(results)
        .args(arguments)
        .output()
        .expect("dupeproof runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{}: {error}\n{}", profile.display(), String::from_utf8_lossy(&output.stderr))
    })
}

#[test]
#[ignore = "minutes long: make soak"]
fn every_run_of_a_drill_comes_to_the_same_verdict() {
    let mut page = String::from(
        "| profile | runs | verdict | users with two orders | refused inserts | seconds | spread, median key |\n\
         |---|---|---|---|---|---|---|\n",
    );
    let results = tempfile::tempdir().expect("a temporary folder");
    let mut wrong = Vec::new();
    for campaign in CAMPAIGNS {
        let (mut duplicates, mut refused, mut took, mut spread) = (vec![], vec![], vec![], vec![]);
        for run in 0..campaign.runs {
            // The second half of a correct service's runs has to share its cores.
            let busy =
                (campaign.verdict == "passed" && run >= campaign.runs / 2).then(BusyCores::start);
            let result = drill(campaign.profile, &[], results.path());
            drop(busy);
            let more = result["accounting"]["intents_with_more"].as_u64().unwrap_or(0);
            let codes: Vec<_> = findings(&result, true).collect();
            let fits = result["verdict"] == campaign.verdict
                && (campaign.code.is_empty()
                    || codes.iter().any(|(code, _)| code == campaign.code))
                && more >= campaign.at_least;
            if !fits {
                wrong.push(format!(
                    "{} run {run}: {} {codes:?} {more} {}",
                    campaign.profile, result["verdict"], result["doubts"]
                ));
            }
            duplicates.push(more);
            let of_inserts = findings(&result, false).filter(|(code, _)| code == "I02");
            refused.push(of_inserts.map(|(_, count)| count).sum());
            took.push(result["run"]["took_ms"].as_u64().unwrap_or(0) / 100);
            spread.extend(result["bursts"][0]["spread_median_us"].as_u64());
        }
        let _ = writeln!(
            page,
            "| {} | {} | {} {} | {} | {} | {} | {} us |",
            campaign.profile,
            campaign.runs,
            campaign.verdict,
            campaign.code,
            range(&mut duplicates),
            range(&mut refused),
            tenths(&mut took),
            range(&mut spread),
        );
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        // Written after each campaign: what has run is on record, also when the next one fails.
        measured::write("verdicts.md", "Verdicts over many runs", &format!("{page}{LEGEND}"));
    }
}

/// The runs of one drill: how many came to what they should, and what they took.
#[derive(Default)]
struct Tally {
    right: usize,
    took: Vec<u64>,
    figures: Vec<u64>,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, run: usize, result: &Value, verdict: &str, code: &str) {
        let codes: Vec<_> = findings(result, true).collect();
        let found = codes.iter().find(|(found, _)| found == code);
        if result["verdict"] == verdict && (code.is_empty() || found.is_some()) {
            self.right += 1;
        } else {
            self.wrong
                .push(format!("run {run}: {} {codes:?} {}", result["verdict"], result["doubts"]));
        }
        self.took.push(result["run"]["took_ms"].as_u64().unwrap_or(0) / 100);
        self.figures.extend(found.map(|(_, count)| *count));
    }
}

/// Of the drills whose names begin with one of these only, separated by commas.
const ONLY: &str = "DUPEPROOF_SOAK_DRILLS";

/// The rows that are on the page already, by drill: a campaign may be run in pieces.
fn rows_on_record() -> BTreeMap<String, String> {
    let rows = measured::read("defects.md");
    let rows = rows.lines().filter(|line| line.starts_with("| d"));
    rows.filter_map(|row| Some((row.split(' ').nth(1)?.to_owned(), row.to_owned()))).collect()
}

/// The small drill of each defect, and the same drill of the correct shop, half of it under load.
#[test]
#[ignore = "minutes long: make soak"]
fn each_defect_is_found_every_time_and_a_correct_shop_never_accused() {
    let head = "| drill | found with | runs | times in a run | seconds | correct shop passes | \
                seconds | date |\n|---|---|---|---|---|---|---|---|\n";
    let mut rows = rows_on_record();
    rows.retain(|drill, _| DEFECT_DRILLS.iter().any(|(name, _)| name == drill));
    let only = std::env::var(ONLY).unwrap_or_default();
    let is_wanted =
        |name: &str| only.is_empty() || only.split(',').any(|begin| name.starts_with(begin));
    let results = tempfile::tempdir().expect("a temporary folder");
    let mut wrong = Vec::new();
    for (name, code) in DEFECT_DRILLS.into_iter().filter(|(name, _)| is_wanted(name)) {
        let profile = format!("defects/{name}");
        let (mut found, mut passed) = (Tally::default(), Tally::default());
        for run in 0..RUNS {
            found.add(run, &drill(&profile, &[], results.path()), "violated", code);
            let busy = (run >= RUNS / 2).then(BusyCores::start);
            let result = drill(&profile, &["--defects", ""], results.path());
            drop(busy);
            passed.add(run, &result, "passed", "");
        }
        let row = format!(
            "| {name} | {code} | {} of {RUNS} | {} | {} | {} of {RUNS} | {} | {} |",
            found.right,
            range(&mut found.figures),
            tenths(&mut found.took),
            passed.right,
            tenths(&mut passed.took),
            measured::today(),
        );
        rows.insert(name.to_owned(), row);
        let misses = found.wrong.into_iter().chain(passed.wrong);
        wrong.extend(misses.map(|miss| format!("{name}: {miss}")));
        // Written after each drill: what has run is on record, also when the next one fails.
        let page = rows.values().fold(head.to_owned(), |page, row| page + row + "\n");
        measured::write("defects.md", "Every defect, many times", &format!("{page}{LEGEND}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Code and count of the findings that fail the gate, or of those that don't.
pub fn findings(result: &Value, failing: bool) -> impl Iterator<Item = (String, u64)> + '_ {
    let all = result["findings"].as_array().into_iter().flatten();
    all.filter(move |finding| {
        matches!(finding["severity"].as_str(), Some("critical" | "contract")) == failing
    })
    .map(|finding| {
        let code = finding["code"].as_str().unwrap_or_default().to_owned();
        (code, finding["count"].as_u64().unwrap_or(0))
    })
}

pub fn range(values: &mut [u64]) -> String {
    values.sort_unstable();
    match values {
        [] => "-".to_owned(),
        [one] => one.to_string(),
        _ => format!("{} - {} - {}", values[0], values[values.len() / 2], values[values.len() - 1]),
    }
}

pub fn tenths(values: &mut [u64]) -> String {
    values.sort_unstable();
    let second = |value: u64| format!("{}.{}", value / 10, value % 10);
    match values {
        [] => "-".to_owned(),
        _ => {
            [values[0], values[values.len() / 2], values[values.len() - 1]].map(second).join(" - ")
        }
    }
}
