//! The published experiments in one table: published figure, ours, verdict.

use std::fmt::Write;

use comfy_table::{ContentArrangement, Table, presets};

use super::format::{counted, duration_us};
use super::result::RunResult;
use crate::audit::Verdict;
use crate::codes::Severity;

/// One experiment that ran.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub name: String,
    /// The figure from the literature, in words.
    pub published: String,
    pub as_published: bool,
    pub result: RunResult,
}

/// The table, 80 columns wide.
pub fn experiments(experiments: &[Experiment]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_width(78);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.add_row(["experiment", "published", "here", "verdict"]);
    for experiment in experiments {
        table.add_row([
            experiment.name.clone(),
            experiment.published.clone(),
            ours(&experiment.result),
            verdict(experiment),
        ]);
    }
    let mut out = String::from("\n");
    for line in table.lines() {
        let _ = writeln!(out, "  {}", line.trim_end());
    }
    let _ = writeln!(out);
    for experiment in experiments {
        let settings = experiment.result.environment.get("lab").map_or("", String::as_str);
        let _ = writeln!(out, "  {}: {settings}", experiment.name);
    }
    let agreeing = experiments.iter().filter(|experiment| experiment.as_published).count();
    let _ = writeln!(out, "\n  {agreeing} of {} as published", experiments.len());
    if let Some(last) = experiments.first() {
        let _ = writeln!(out, "  next     dupeproof audit {}", last.result.run.folder);
    }
    out
}

/// Orders, users with two or more, refused inserts, time.
fn ours(result: &RunResult) -> String {
    let sums = &result.accounting;
    let refused: u64 = result
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Protected)
        .map(|finding| finding.count)
        .sum();
    let refused = match refused {
        0 => String::new(),
        refused => format!(", {} refused", counted(refused, "insert", "inserts")),
    };
    format!(
        "{}, {} with duplicates{refused}, {}",
        counted(sums.orders, "order", "orders"),
        counted(sums.intents_with_more, "user", "users"),
        duration_us(result.run.took_ms * 1_000),
    )
}

fn verdict(experiment: &Experiment) -> String {
    match experiment.result.verdict {
        Verdict::Passed => "passed".to_owned(),
        Verdict::Inconclusive => "inconclusive".to_owned(),
        Verdict::Violated => {
            let broken =
                experiment.result.findings.iter().find(|found| found.severity.fails_the_gate());
            format!("violated {}", broken.map_or("", |finding| finding.code.as_str()))
        }
    }
}
