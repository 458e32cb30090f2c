//! What must be so for every drill, whatever it finds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

use crate::rig::{Ended, Rig};

/// Room for everything but a command or a path, which nobody wants broken.
const WIDTH: usize = 80;

static RESULT_SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/result.schema.json");
    let schema = fs::read_to_string(path).expect("the schema is in the repository");
    let schema = serde_json::from_str(&schema).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is one")
});

/// A drill that came to a verdict.
#[derive(Debug)]
pub struct Drilled {
    pub folder: PathBuf,
    pub result: Value,
    pub journal: Vec<Value>,
    /// The result as text, as `audit` shows it.
    pub text: String,
}

impl Drilled {
    /// Runs a drill that has to end with this exit code, and checks what every drill must fulfil.
    pub fn run(rig: &Rig, profile: &str, exit: i32) -> Self {
        let profile = rig.profile(profile);
        Self::of(rig, &rig.run(&["run", profile, "--format", "json"]), exit)
    }

    /// The same for a drill that has been run with `--format json`.
    pub fn of(rig: &Rig, ended: &Ended, exit: i32) -> Self {
        let Ended { code, stdout, stderr } = ended;
        assert_eq!(*code, Some(exit), "{stdout}{stderr}");
        assert_eq!(rig.leftovers(), Vec::<PathBuf>::new(), "left in the temporary folder");
        let result: Value = serde_json::from_str(stdout).expect("stdout is JSON and nothing else");
        let complaints: Vec<_> =
            RESULT_SCHEMA.iter_errors(&result).map(|error| error.to_string()).collect();
        assert_eq!(complaints, Vec::<String>::new(), "against the schema");
        assert_eq!(result["exit_code"], exit);
        let folder = rig.run_folder().expect("one run, one folder");
        assert_eq!(read_json(&folder.join("result.json")), result, "result.json is the result");
        let journal = read_journal(&folder.join("journal.jsonl"));
        let text = judged_again(rig, &folder, &result, exit);
        let drilled = Self { folder, result, journal, text };
        drilled.balances();
        drilled
    }

    /// All facts of a kind.
    pub fn facts<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.journal.iter().filter_map(move |line| line.get(kind))
    }

    /// Codes of the findings with this severity.
    pub fn findings(&self, severity: &str) -> Vec<&str> {
        let all = self.result["findings"].as_array().into_iter().flatten();
        all.filter(|finding| finding["severity"] == severity)
            .map(|finding| finding["code"].as_str().expect("a code is text"))
            .collect()
    }

    pub fn finding(&self, code: &str, severity: &str) -> &Value {
        let mut all = self.result["findings"].as_array().into_iter().flatten();
        let found = all.find(|found| found["code"] == code && found["severity"] == severity);
        found.unwrap_or_else(|| panic!("no {severity} {code} in {:#}", self.result["findings"]))
    }

    pub fn gate(&self, code: &str) -> &str {
        let mut gates = self.result["gates"].as_array().into_iter().flatten();
        let gate = gates.find(|gate| gate["code"] == code);
        gate.and_then(|gate| gate["state"].as_str()).unwrap_or_else(|| panic!("no gate {code}"))
    }

    /// Codes of the reasons why it proves too little.
    pub fn doubts(&self) -> Vec<&str> {
        let doubts = self.result["doubts"].as_array().into_iter().flatten();
        doubts.map(|doubt| doubt["code"].as_str().expect("a code is text")).collect()
    }

    pub fn count(&self, name: &str) -> u64 {
        self.result["accounting"][name].as_u64().unwrap_or_else(|| panic!("no count {name}"))
    }

    /// Every attempt and every intent is in exactly one class, and the service has received what
    /// was sent, no more and no less.
    fn balances(&self) {
        let sum = |names: &[&str]| names.iter().map(|name| self.count(name)).sum::<u64>();
        let recorded = self.facts("attempt").count() as u64;
        assert_eq!(recorded, self.count("attempts"));
        let causes = [
            "burst_attempts",
            "retries",
            "resolver_attempts",
            "preparing_attempts",
            "replays",
            "steady_attempts",
            "probes",
        ];
        assert_eq!(sum(&causes), recorded, "by cause");
        let outcomes = ["acknowledged", "pending", "parked", "refused", "unknown", "not_sent"];
        assert_eq!(sum(&outcomes), recorded, "by outcome");
        for (name, outcome) in outcomes.map(|name| (name, name.replace('_', "-"))) {
            let alike = self.facts("attempt").filter(|attempt| attempt["outcome"] == outcome);
            assert_eq!(alike.count() as u64, self.count(name), "{name}");
        }
        assert_eq!(self.facts("intent").count() as u64, self.count("intents"));
        let fates = ["intents_with_one_order", "intents_with_none", "intents_with_more"];
        assert_eq!(sum(&fates), self.count("intents"), "by fate");

        let sent = self.facts("attempt").filter(|attempt| attempt["sent"] == "whole").count();
        assert_eq!(sent as u64, self.count("sent_whole"));
        let counters: Vec<_> = self.facts("counter").collect();
        let told = |fact: &&Value| fact["posts"].as_u64().expect("a counter is a number");
        let received: u64 = counters.iter().map(told).sum();
        let cut_short = self.facts("interrupted").count() + self.facts("exit").count() > 0;
        if cut_short {
            // A request that was given up may have died in the service's socket buffer.
            assert!(received <= self.count("sent_whole"), "{received} received");
        } else {
            assert_eq!(counters.len(), self.facts("instance").count(), "every instance counts");
            assert_eq!(received, self.count("sent_whole"), "received");
        }
    }
}

/// Judging a run again gives the same result, as JSON and as text; the text fits a terminal.
fn judged_again(rig: &Rig, folder: &Path, result: &Value, exit: i32) -> String {
    let name = folder.to_str().expect("results folders have ASCII names");
    let again = rig.run(&["audit", name, "--format", "json"]);
    assert_eq!(again.code, Some(exit), "{}", again.stderr);
    assert_eq!(again.stderr, "");
    let again: Value = serde_json::from_str(&again.stdout).expect("stdout is JSON");
    assert_eq!(without_names(again), without_names(result.clone()));
    let text = rig.run(&["audit", name]);
    assert_eq!(text.code, Some(exit), "{}", text.stderr);
    fits_a_terminal(&text.stdout);
    text.stdout
}

/// ASCII, 80 columns, no colour.
pub fn fits_a_terminal(text: &str) {
    for line in text.lines() {
        let printable = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
        assert!(line.bytes().all(printable), "not plain ASCII: {line:?}");
        let words = line.trim_start();
        let is_command =
            ["dupeproof ", "results  ", "next  "].iter().any(|start| words.starts_with(start));
        assert!(line.len() <= WIDTH || is_command, "{} columns: {line}", line.len());
    }
}

/// A result without the folder's name, which depends on how it was named on the command line.
fn without_names(mut result: Value) -> Value {
    result["run"]["folder"] = Value::Null;
    for finding in result["findings"].as_array_mut().into_iter().flatten() {
        if finding["reproduce"].is_object() {
            finding["reproduce"]["command"] = Value::Null;
        }
    }
    result
}

pub fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("the file can be read");
    serde_json::from_str(&text).expect("the file is JSON")
}

/// Every whole line of a journal; the last line of a killed run may be cut off.
pub fn read_journal(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the journal can be read");
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.map(|line| serde_json::from_str(line).expect("a whole line is JSON")).collect()
}
