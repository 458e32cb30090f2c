//! The published experiments in one table: published figure, ours, verdict.

use std::fmt::Write;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::format::{counted, duration_us, thousands};
use super::result::RunResult;
use super::text::wrapped;
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

/// The published setting, beside which ours is named.
const PUBLISHED: &str = "published: MySQL 8.4.11 at REPEATABLE READ, where the first read takes the snapshot: \
                         lock-inside-snapshot comes closest. Counted are users with two orders, and \
                         orders both paid and closed.";

/// The table, 80 columns wide.
pub fn experiments(experiments: &[Experiment]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_width(78);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.add_row(["experiment", "published", "here", "verdict"]);
    for experiment in experiments {
        let name = experiment.name.clone();
        table.add_row([name, experiment.published.clone(), ours(experiment), verdict(experiment)]);
    }
    for (column, width) in table.column_iter_mut().zip([29, 19, 18, 12]) {
        column.set_padding((0, 2));
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
    }
    let mut out = String::from("\n");
    for line in table.lines() {
        let _ = writeln!(out, "  {}", line.trim_end());
    }
    let _ = writeln!(out);
    wrapped(&mut out, 2, "", PUBLISHED);
    for experiment in experiments {
        let lab = experiment.result.environment.get("lab").map_or("", String::as_str);
        wrapped(&mut out, 2, &format!("{}: ", experiment.name), lab);
    }
    let agreeing = experiments.iter().filter(|experiment| experiment.as_published).count();
    let _ = writeln!(out, "\n  {agreeing} of {} as published", experiments.len());
    if let Some(first) = experiments.first() {
        let _ = writeln!(out, "  next     dupeproof audit {}", first.result.run.folder);
    }
    out
}

/// What was counted, of how many, and the time.
fn ours(experiment: &Experiment) -> String {
    let sums = &experiment.result.accounting;
    let took = duration_us(experiment.result.run.took_ms * 1_000);
    if experiment.result.bursts.iter().any(|burst| burst.burst == "race") {
        let both = experiment.result.findings.iter().find(|found| found.code == "I10");
        return format!(
            "{} of {} orders ({took})",
            thousands(both.map_or(0, |found| found.count)),
            thousands(sums.orders)
        );
    }
    let refused: u64 = experiment
        .result
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Protected && finding.code == "I02")
        .map(|finding| finding.count)
        .sum();
    let refused = match refused {
        0 => String::new(),
        refused => format!(", {} refused", counted(refused, "insert", "inserts")),
    };
    format!(
        "{} of {}{refused} ({}, {took})",
        counted(sums.intents_with_more, "user", "users"),
        thousands(sums.intents),
        counted(sums.orders, "order", "orders"),
    )
}

fn verdict(experiment: &Experiment) -> String {
    match experiment.result.verdict {
        Verdict::Passed => "passed".to_owned(),
        Verdict::Inconclusive => "inconclusive".to_owned(),
        Verdict::Violated => {
            let is_race = experiment.result.bursts.iter().any(|burst| burst.burst == "race");
            let mut failing = experiment
                .result
                .findings
                .iter()
                .filter(|found| found.severity.fails_the_gate())
                .filter(|found| !is_race || found.code == "I10");
            let broken = failing.next();
            format!("violated {}", broken.map_or("", |finding| finding.code.as_str()))
        }
    }
}
