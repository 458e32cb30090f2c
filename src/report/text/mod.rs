//! A result as the terminal shows it: 80 columns, ASCII, and just as clear without colour.
//!
//! The gate comes first, then each finding with its evidence, story and cure, then how exactly the
//! drill was run, and the verdict in the last lines, where the eye rests when the command ends.

mod gate;

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::format::{counted, duration_us, thousands};
use super::result::{BurstResult, FindingResult, RunResult};
use crate::audit::{Evidence, GateState, Verdict};
use crate::codes::Severity;

const WIDTH: u16 = 80;
const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// The whole text, with ANSI styles that the terminal's edge removes where they aren't wanted.
pub fn text(result: &RunResult) -> String {
    let mut out = String::new();
    gate::write(result, &mut out);
    for (index, finding) in result.findings.iter().enumerate() {
        tell(finding, &result.findings[..index], &mut out);
    }
    for doubt in &result.doubts {
        paragraph(&mut out, &format!("inconclusive[{}]: {}", doubt.code, doubt.what), YELLOW);
        wrapped(&mut out, 2, "help: ", &doubt.cure);
    }
    drill(result, &mut out);
    ending(result, &mut out);
    out
}

/// One case often breaks two invariants; its story is told once.
fn tells_the_same(one: &FindingResult, other: &FindingResult) -> bool {
    let scenes = |finding: &FindingResult| finding.story.as_ref().map(|story| story.scenes.clone());
    one.story.is_some() && scenes(one) == scenes(other)
}

fn tell(finding: &FindingResult, told: &[FindingResult], out: &mut String) {
    let (word, style) = match finding.severity {
        Severity::Critical | Severity::Contract => ("error", RED),
        Severity::Protected => ("protected", YELLOW),
        Severity::Efficiency => ("efficiency", YELLOW),
    };
    paragraph(out, &format!("{word}[{}]: {}", finding.code, finding.title), style);
    let shown = finding.evidence.rows.len() as u64;
    if shown > 0 {
        let of = match (&finding.evidence_file, shown == finding.evidence_rows) {
            (_, true) => String::new(),
            (Some(file), _) => {
                format!(" ({shown} of {}, all in {file})", thousands(finding.evidence_rows))
            }
            (None, _) => format!(" ({shown} of {})", thousands(finding.evidence_rows)),
        };
        let _ = writeln!(out, "  evidence{of}");
        evidence(&finding.evidence, out);
    }
    let same = |one: &&FindingResult| tells_the_same(one, finding);
    if let Some(told) = told.iter().find(same) {
        let _ = writeln!(out, "  the same case as told under {}", told.code);
    } else if let Some(story) = &finding.story {
        let _ = writeln!(out, "  {}", story.heading);
        let mut table = table(6);
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.add_row(["run time", "seen by", "what happened"]);
        for scene in &story.scenes {
            let at = scene.at.map(|at| at.to_string()).unwrap_or_default();
            table.add_row([&at, &scene.seen_by, &scene.what]);
        }
        indented(out, &mut table);
    }
    if !finding.therefore.is_empty() {
        let _ = writeln!(out, "  therefore");
        for claim in &finding.therefore {
            wrapped(out, 4, "- ", claim);
        }
    }
    wrapped(out, 2, "help: ", &format!("{}  (dupeproof explain {})", finding.help, finding.code));
    if let Some(again) = &finding.reproduce {
        let _ = writeln!(out, "  reproduce\n    {BOLD}{}{BOLD:#}", again.command);
        wrapped(out, 4, "", &again.about);
    }
}

/// Rows that don't fit the page are wrapped between words. Names stay whole, to be copied, unless
/// one of them is as long as a sentence; when even that doesn't fit, the gaps get narrower.
fn evidence(evidence: &Evidence, out: &mut String) {
    const INDENT: u16 = 4;
    let mut table = table(INDENT);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.add_row(&evidence.columns);
    for row in &evidence.rows {
        table.add_row(row);
    }
    let widest: Vec<u16> =
        (0..evidence.columns.len()).map(|index| widest_name(evidence, index)).collect();
    let names: u16 = widest.iter().sum();
    let room = |gap: u16| names + gap * widest.len() as u16 <= WIDTH - INDENT;
    let gap = if room(2) { 2 } else { 1 };
    for (column, widest) in table.column_iter_mut().zip(&widest) {
        column.set_padding((0, gap));
        if room(gap) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(widest + gap)));
        }
    }
    put(out, &table);
}

fn widest_name(evidence: &Evidence, column: usize) -> u16 {
    const LONGEST: usize = 40;
    let rows = evidence.rows.iter().chain([&evidence.columns]);
    let names = rows.filter_map(|row| row.get(column)).flat_map(|cell| cell.split(' '));
    names.map(str::len).filter(|length| *length <= LONGEST).max().unwrap_or(0) as u16
}

fn drill(result: &RunResult, out: &mut String) {
    let sums = &result.accounting;
    heading(out, "REQUESTS");
    let causes = format!(
        "{} burst + {} retries + {} asked again at the end = {}",
        thousands(sums.burst_attempts),
        thousands(sums.retries),
        thousands(sums.resolver_attempts),
        counted(sums.attempts, "attempt", "attempts"),
    );
    wrapped(out, 4, "", &causes);
    let outcomes = [
        ("acknowledged", sums.acknowledged),
        ("pending", sums.pending),
        ("parked", sums.parked),
        ("refused", sums.refused),
        ("unknown", sums.unknown),
        ("not sent", sums.not_sent),
    ];
    let outcomes: Vec<_> =
        outcomes.iter().map(|(name, count)| format!("{} {name}", thousands(*count))).collect();
    wrapped(out, 4, "", &outcomes.join(", "));
    let intents = format!(
        "{}: {} with one order, {} with none, {} with more",
        counted(sums.intents, "intent", "intents"),
        thousands(sums.intents_with_one_order),
        thousands(sums.intents_with_none),
        thousands(sums.intents_with_more),
    );
    wrapped(out, 4, "", &intents);
    for burst in &result.bursts {
        exactness(burst, out);
    }
    latency(result, out);
    if let Some(lab) = result.environment.get("lab") {
        heading(out, "LAB");
        wrapped(out, 4, "", lab);
    }
}

fn exactness(burst: &BurstResult, out: &mut String) {
    heading(out, "BURST");
    let mut line = |label: &str, text: &str| wrapped(out, 4, &format!("{label:<9}"), text);
    line("phase", &format!("{} ({}, release {})", burst.phase, burst.burst, burst.release));
    line(
        "overlap",
        &format!(
            "offered {} of {} at the median key, {} at the worst of {}",
            burst.in_flight_median,
            burst.planned_per_key,
            burst.in_flight_worst,
            counted(burst.keys, "key", "keys"),
        ),
    );
    line(
        "spread",
        &format!(
            "{} at the median key, {} at the worst (20 sends cost {})",
            duration_us(burst.spread_median_us),
            duration_us(burst.spread_worst_us),
            duration_us(burst.twenty_sends_us),
        ),
    );
    if let Some(gap) = burst.resume_gap_us {
        let gap = duration_us(gap);
        line("resume", &format!("{gap} between the first and the last instance let go"));
    }
}

fn latency(result: &RunResult, out: &mut String) {
    if result.latency.is_empty() {
        return;
    }
    heading(out, "LATENCY of the bursts' attempts, from their release");
    let mut table = table(4);
    table.add_row(["outcome", "count", "p50", "p95", "p99", "p99.9", "max"]);
    for row in &result.latency {
        table.add_row([
            row.outcome.clone(),
            thousands(row.count),
            duration_us(row.p50_us),
            duration_us(row.p95_us),
            duration_us(row.p99_us),
            duration_us(row.p999_us),
            duration_us(row.max_us),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    indented(out, &mut table);
}

fn ending(result: &RunResult, out: &mut String) {
    let judged = result.gates.iter().filter(|gate| gate.state != GateState::NotJudged).count();
    let broken = result.gates.iter().filter(|gate| gate.state == GateState::Broken).count();
    let budgets_missed = result.budgets.iter().filter(|budget| !budget.met).count();
    let (word, style, tally) = match result.verdict {
        Verdict::Violated => ("VIOLATED", RED, format!("{broken} of {judged} gates")),
        Verdict::Inconclusive => {
            let reasons = counted(result.doubts.len() as u64, "reason", "reasons");
            ("INCONCLUSIVE", YELLOW, format!("for {reasons}"))
        }
        Verdict::Passed if budgets_missed > 0 => {
            let budgets = counted(budgets_missed as u64, "budget", "budgets");
            ("PASSED", YELLOW, format!("but {budgets} missed"))
        }
        Verdict::Passed => ("PASSED", GREEN.bold(), format!("{judged} of {judged} gates")),
    };
    let took = duration_us(result.run.took_ms * 1_000);
    let _ =
        writeln!(out, "\n  {style}{word}{style:#}  {tally} in {took}   exit {}", result.exit_code);
    let _ = writeln!(out, "  {DIM}results{DIM:#}  {}", result.run.folder);
    let _ = writeln!(out, "  {DIM}next{DIM:#}     {}", next(result));
}

fn next(result: &RunResult) -> String {
    let failing = result.findings.iter().find(|finding| finding.severity.fails_the_gate());
    match (result.verdict, failing) {
        (Verdict::Violated, Some(finding)) => format!("dupeproof explain {}", finding.code),
        (Verdict::Inconclusive, _) => match result.doubts.first() {
            Some(doubt) => format!("dupeproof explain {}", doubt.code),
            None => format!("dupeproof audit {}", result.run.folder),
        },
        _ if result.run.defects.is_empty() => format!(
            "dupeproof run {} --defects check-then-insert,no-unique-constraint",
            result.run.profile
        ),
        _ => "dupeproof shop --list-defects".to_owned(),
    }
}

fn heading(out: &mut String, text: &str) {
    let _ = writeln!(out, "\n  {BOLD}{text}{BOLD:#}");
}

/// A message's first lines, styled up to its colon.
fn paragraph(out: &mut String, text: &str, style: Style) {
    let (code, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut lines = String::new();
    wrapped(&mut lines, 0, "", &format!("{code}:{rest}"));
    let styled = lines.replacen(code, &format!("{style}{code}{style:#}"), 1);
    let _ = write!(out, "\n{styled}");
}

/// Text wrapped at the page's width; lines after the first align with the text behind `lead`.
pub(super) fn wrapped(out: &mut String, indent: usize, lead: &str, text: &str) {
    let room = usize::from(WIDTH) - indent - lead.len();
    let mut line = String::new();
    let mut first = true;
    let mut put = |line: &mut String, first: &mut bool| {
        let lead = if *first { lead.to_owned() } else { " ".repeat(lead.len()) };
        let _ = writeln!(out, "{}{lead}{line}", " ".repeat(indent));
        line.clear();
        *first = false;
    };
    for word in text.split(' ') {
        if !line.is_empty() && line.len() + 1 + word.len() > room {
            put(&mut line, &mut first);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    put(&mut line, &mut first);
}

fn table(indent: u16) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_width(WIDTH - indent);
    table
}

fn indented(out: &mut String, table: &mut Table) {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    put(out, table);
}

fn put(out: &mut String, table: &Table) {
    let indent = usize::from(WIDTH - table.width().unwrap_or(WIDTH));
    for line in table.lines() {
        let _ = writeln!(out, "{}{}", " ".repeat(indent), line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_fits_the_page_and_keeps_names_whole() {
        let (user, key) = ("u-66wg72x3w5pnr-000", "k-66wg72x3w5pnr-000");
        let told = ["201, order 1234", "14.590 s", "15.066 s", "202, in progress"];
        let ids = "1417, 1423, 1429, 1433, 1439, 1447, 1451, 1453, 1459, 1471";
        let exit = r#"{"listening":"127.0.0.1:45965","counter":"127.0.0.1:42349"}"#;
        for (columns, row) in [
            (vec!["user", "key", "orders", "order ids", "created at"], vec![user, key, "10", ids]),
            (
                vec!["user", "key", "acknowledged", "at", "asked again at", "answer"],
                [&[user, key], told.as_slice()].concat(),
            ),
            (vec!["instance", "at", "last words"], vec!["shop-1", "2.924 s", exit]),
        ] {
            let owned = |cells: &[&str]| cells.iter().map(ToString::to_string).collect();
            let table = Evidence { columns: owned(&columns), rows: vec![owned(&row)] };
            let mut out = String::new();
            evidence(&table, &mut out);
            assert!(out.lines().all(|line| line.len() <= usize::from(WIDTH)), "{out}");
            let names = [user, key].into_iter().filter(|name| row.contains(name));
            names.for_each(|name| assert!(out.contains(name), "{name} in\n{out}"));
        }
    }
}
