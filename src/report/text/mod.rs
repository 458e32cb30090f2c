//! A result as the terminal shows it: 80 columns, ASCII, and just as clear without colour.
//!
//! The gate comes first, then each finding with its evidence, story and cure, then how exactly the
//! drill was run, and the verdict in the last lines, where the eye rests when the command ends.

mod faults;
mod gate;
mod wires;

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::format::{counted, duration_us, shell, thousands};
use super::result::{BurstResult, DoubtResult, FindingResult, GateResult, LiveResult, RunResult};
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
    gate::write(&result.gates, &result.budgets, &result.findings, &mut out);
    wires::write(&result.wires, &mut out);
    faults::write(&result.faults, &mut out);
    for (index, finding) in result.findings.iter().enumerate() {
        tell(finding, &result.findings[..index], &mut out);
    }
    doubts(&result.doubts, &mut out);
    drill(result, &mut out);
    ending(result, &mut out);
    out
}

/// What an audit of rows alone came to.
pub fn live_text(result: &LiveResult) -> String {
    let mut out = String::new();
    gate::write(&result.gates, &[], &result.findings, &mut out);
    for (index, finding) in result.findings.iter().enumerate() {
        tell(finding, &result.findings[..index], &mut out);
    }
    doubts(&result.doubts, &mut out);
    let (word, style) = verdict(result.verdict);
    let exit = result.exit_code;
    let _ = writeln!(out, "\n  {style}{word}{style:#}  by the rows alone   exit {exit}");
    let next = format!("dupeproof run {}", shell(&result.profile));
    let _ = writeln!(out, "  next     {next}, which judges the answers as well");
    out
}

const fn verdict(verdict: Verdict) -> (&'static str, Style) {
    match verdict {
        Verdict::Passed => ("PASSED", GREEN),
        Verdict::Violated => ("VIOLATED", RED),
        Verdict::Inconclusive => ("INCONCLUSIVE", YELLOW),
    }
}

fn doubts(doubts: &[DoubtResult], out: &mut String) {
    for doubt in doubts {
        paragraph(out, &format!("inconclusive[{}]: {}", doubt.code, doubt.what), YELLOW);
        wrapped(out, 2, "help: ", &doubt.cure);
    }
}

/// One case often breaks two invariants; its story is told once.
fn tells_the_same(one: &FindingResult, other: &FindingResult) -> bool {
    let scenes = |finding: &FindingResult| finding.story.as_ref().map(|story| story.scenes.clone());
    one.story.is_some() && scenes(one) == scenes(other)
}

/// A lint's evidence are its steps, and so is its story.
fn is_told_by_its_steps(finding: &FindingResult) -> bool {
    gate::is_lint(&finding.code) && finding.story.is_some()
}

fn tell(finding: &FindingResult, told: &[FindingResult], out: &mut String) {
    let (word, style) = match finding.severity {
        Severity::Critical | Severity::Contract => ("error", RED),
        Severity::Protected => ("protected", YELLOW),
        Severity::Efficiency => ("efficiency", YELLOW),
    };
    paragraph(out, &format!("{word}[{}]: {}", finding.code, finding.title), style);
    let shown = finding.evidence.rows.len() as u64;
    if let (true, Some(file)) = (is_told_by_its_steps(finding), &finding.evidence_file) {
        let rows = counted(finding.evidence_rows, "step", "steps");
        let _ = writeln!(out, "  evidence  {rows}, in {file}");
    } else if shown > 0 {
        let of = match (&finding.evidence_file, shown == finding.evidence_rows) {
            (_, true) => String::new(),
            (Some(file), _) => {
                format!(" ({shown} of {}, all in {file})", thousands(finding.evidence_rows))
            }
            (None, _) => format!(" ({shown} of {})", thousands(finding.evidence_rows)),
        };
        let _ = writeln!(out, "  evidence{of}");
        indented(out, &mut evidence(&finding.evidence));
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
            // An answer stays with its arrow.
            table.add_row([&at, &scene.seen_by, &scene.what.replace("-> ", "->\u{a0}")]);
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
/// one of them is as long as a sentence.
fn evidence(evidence: &Evidence) -> Table {
    const LONGEST_NAME: usize = 40;
    const PADDING: usize = 2;
    let mut table = table(4);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.add_row(&evidence.columns);
    for row in &evidence.rows {
        table.add_row(row);
    }
    let widest = |index: usize| {
        let rows = evidence.rows.iter().chain([&evidence.columns]);
        let cells = rows.filter_map(|row| row.get(index));
        let names = cells.flat_map(|cell| cell.split(' ')).map(str::len);
        names.filter(|length| *length <= LONGEST_NAME).max().unwrap_or(0) + PADDING
    };
    let widths: Vec<usize> = (0..evidence.columns.len()).map(widest).collect();
    let room = usize::from(WIDTH) - 4;
    for (column, &width) in table.column_iter_mut().zip(&widths) {
        // When even the names don't fit side by side, the page wins.
        if widths.iter().sum::<usize>() <= room {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width as u16)));
        }
    }
    table
}

fn drill(result: &RunResult, out: &mut String) {
    let sums = &result.accounting;
    heading(out, "REQUESTS");
    let causes = [
        (sums.burst_attempts, "burst"),
        (sums.steady_attempts, "steady"),
        (sums.preparing_attempts, "to set the scene"),
        (sums.replays, "replays"),
        (sums.probes, if sums.probes == 1 { "probe" } else { "probes" }),
        (sums.retries, if sums.retries == 1 { "retry" } else { "retries" }),
        (sums.resolver_attempts, "asked again at the end"),
    ];
    // The first and the last two stand there always, so that nobody wonders about them.
    let shown = causes.iter().filter(|(count, what)| {
        *count > 0 || ["burst", "retry", "retries", "asked again at the end"].contains(what)
    });
    let shown: Vec<_> =
        shown.map(|(count, what)| format!("{} {what}", thousands(*count))).collect();
    let attempts = counted(sums.attempts, "attempt", "attempts");
    wrapped(out, 4, "", &format!("{} = {attempts}", shown.join(" + ")));
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
    for unknown in &result.unknown_answers {
        let lead = format!("unknown, {} times: ", thousands(unknown.count));
        wrapped(out, 4, &lead, &unknown.what);
    }
    match result.bursts.as_slice() {
        [] => {}
        [burst] => exactness(burst, out),
        bursts => exactness_of_all(bursts, out),
    }
    latency(result, out);
    for (name, title) in [("lab", "LAB"), ("target", "TARGET")] {
        if let Some(about) = result.environment.get(name) {
            heading(out, title);
            wrapped(out, 4, "", about);
        }
    }
}

/// A line for each burst.
fn exactness_of_all(bursts: &[BurstResult], out: &mut String) {
    heading(out, "BURSTS, each at its median key and at its worst");
    let mut table = table(4);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.add_row([
        "phase",
        "release",
        "overlap offered",
        "reached",
        "spread",
        "20 sends",
        "resume",
    ]);
    for burst in bursts {
        let overlap = match burst.keys {
            0 => "none claimed".to_owned(),
            _ => format!(
                "{}, {} of {}",
                thousands(burst.in_flight_median),
                thousands(burst.in_flight_worst),
                thousands(burst.planned_per_key)
            ),
        };
        let reached = match (burst.reached, burst.watched) {
            (Some(reached), Some(watched)) => {
                format!("{} of {}", thousands(reached), thousands(watched))
            }
            _ => "-".to_owned(),
        };
        let spread = [burst.spread_median_us, burst.spread_worst_us].map(duration_us).join(", ");
        table.add_row([
            burst.phase.clone(),
            burst.release.clone(),
            overlap,
            reached,
            spread,
            duration_us(burst.twenty_sends_us),
            burst.resume_gap_us.map_or_else(|| "-".to_owned(), duration_us),
        ]);
    }
    indented(out, &mut table);
}

fn exactness(burst: &BurstResult, out: &mut String) {
    heading(out, "BURST");
    let mut line = |label: &str, text: &str| wrapped(out, 4, &format!("{label:<9}"), text);
    line("phase", &format!("{} ({}, release {})", burst.phase, burst.burst, burst.release));
    let overlap = match burst.keys {
        0 => "none claimed: nothing is asked twice at once".to_owned(),
        keys => format!(
            "offered {} of {} at the median key, {} at the worst of {}",
            thousands(burst.in_flight_median),
            thousands(burst.planned_per_key),
            thousands(burst.in_flight_worst),
            counted(keys, "key", "keys"),
        ),
    };
    line("overlap", &overlap);
    if let (Some(reached), Some(watched)) = (burst.reached, burst.watched) {
        let keys = counted(watched, "key", "keys");
        let reached = thousands(reached);
        line("reached", &format!("{reached} of {keys} had two at work before the first COMMIT"));
    }
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
    heading(
        out,
        match result.accounting.steady_attempts {
            0 => "LATENCY of the bursts' attempts, from their release",
            _ => "LATENCY of bursts from their release, of steady load from its plan",
        },
    );
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
    // A condition that was missed violates nothing.
    let is_broken =
        |gate: &&GateResult| gate.state == GateState::Broken && !gate.code.starts_with('G');
    let broken = result.gates.iter().filter(is_broken).count();
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
    let is_protected = |finding: &&FindingResult| finding.severity == Severity::Protected;
    let tally = match result.findings.iter().filter(is_protected).count() as u64 {
        protected if protected > 0 && result.verdict == Verdict::Passed => {
            format!("{tally}, {} protected,", counted(protected, "weakness", "weaknesses"))
        }
        _ => tally,
    };
    let took = duration_us(result.run.took_ms * 1_000);
    let _ =
        writeln!(out, "\n  {style}{word}{style:#}  {tally} in {took}   exit {}", result.exit_code);
    if !result.run.defects.is_empty() {
        wrapped(out, 2, "with     ", &format!("{} switched on", result.run.defects.join(", ")));
    }
    let _ = writeln!(out, "  {DIM}results{DIM:#}  {}", result.run.folder);
    let _ = writeln!(out, "  {DIM}next{DIM:#}     {}", next(result));
}

fn next(result: &RunResult) -> String {
    let failing = result.findings.iter().find(|finding| finding.severity.fails_the_gate());
    let lint = result.findings.iter().find(|finding| gate::is_lint(&finding.code));
    match (result.verdict, failing) {
        (Verdict::Violated, Some(finding)) => format!("dupeproof explain {}", finding.code),
        (Verdict::Inconclusive, _) => match result.doubts.first() {
            Some(doubt) => format!("dupeproof explain {}", doubt.code),
            None => format!("dupeproof audit {}", shell(&result.run.folder)),
        },
        (Verdict::Passed, None) if lint.is_some() => {
            lint.map_or_else(String::new, |lint| format!("dupeproof explain {}", lint.code))
        }
        // With defects on, another line of defence has hidden them: the list says which.
        _ if !result.run.defects.is_empty() => "dupeproof shop --list-defects".to_owned(),
        _ if !result.environment.contains_key("lab") => {
            format!("dupeproof audit {}", shell(&result.run.folder))
        }
        _ => "dupeproof demo".to_owned(),
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
        let _ = writeln!(out, "{}{lead}{}", " ".repeat(indent), line.trim_end());
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
    let indent = usize::from(WIDTH - table.width().unwrap_or(WIDTH));
    for line in table.lines() {
        let line = line.replace('\u{a0}', " ");
        let _ = writeln!(out, "{}{}", " ".repeat(indent), line.trim_end());
    }
}
