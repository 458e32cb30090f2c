//! The gate table: what was judged and how it came out.
//!
//! What broke, and every invariant that held, has a line. The conditions without which a run proves
//! nothing share one while they are met, and so do the lints that have nothing to say, and what couldn't
//! be judged.

use std::fmt::Write;

use comfy_table::ContentArrangement;

use super::super::format::duration_us;
use super::super::result::{BudgetResult, FindingResult, GateResult};
use super::{GREEN, RED, YELLOW, heading, table, wrapped};
use crate::audit::GateState;

pub(super) fn write(
    gates: &[GateResult],
    budgets: &[BudgetResult],
    findings: &[FindingResult],
    out: &mut String,
) {
    let is_told = |gate: &GateResult| findings.iter().any(|found| found.code == gate.code);
    heading(out, "GATE");
    let mut table = table(4);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    for gate in gates.iter().filter(|gate| stands_alone(gate, is_told(gate))) {
        let mark = match (gate.state, is_condition(gate)) {
            (GateState::Held, _) if is_told(gate) => "!",
            (GateState::Held, _) => "ok",
            (_, true) => "?",
            (_, false) => "x",
        };
        table.add_row([mark, &gate.title, &gate.detail, &gate.code]);
    }
    for budget in budgets {
        let measured = budget.measured_us.map_or_else(|| "not measured".to_owned(), duration_us);
        let detail = format!("{measured}, limit {}", duration_us(budget.limit_us));
        table.add_row([if budget.met { "ok" } else { "x" }, &budget.name, &detail, "budget"]);
    }
    let is_quiet =
        |gate: &GateResult| is_lint(&gate.code) && gate.state == GateState::Held && !is_told(gate);
    let quiet = codes(gates, is_quiet);
    if !quiet.is_empty() {
        table.add_row(["ok", "nothing weak was seen", &quiet.join(" "), ""]);
    }
    let conditions = codes(gates, |gate| is_condition(gate) && gate.state == GateState::Held);
    if !conditions.is_empty() {
        table.add_row(["ok", "the run proves something", &conditions.join(" "), ""]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    for line in table.lines() {
        let line = line.trim_end();
        let styled = match line.split_once(' ') {
            Some(("x", rest)) => format!("{RED}x{RED:#} {rest}"),
            Some(("ok", rest)) => format!("{GREEN}ok{GREEN:#} {rest}"),
            Some(("!", rest)) => format!("{YELLOW}!{YELLOW:#} {rest}"),
            Some(("?", rest)) => format!("{YELLOW}?{YELLOW:#} {rest}"),
            _ => line.to_owned(),
        };
        let _ = writeln!(out, "    {styled}");
    }
    let unjudged = codes(gates, |gate| gate.state == GateState::NotJudged);
    if !unjudged.is_empty() {
        let about = "nothing of their kind happened, or the profile names no table for them";
        wrapped(out, 4, "-  not judged: ", &format!("{} ({about})", unjudged.join(" ")));
    }
}

/// Gates G.. say whether the run can prove anything.
fn is_condition(gate: &GateResult) -> bool {
    gate.code.starts_with('G')
}

/// Lints L.. say what only another line of defence has kept from harm.
pub(super) fn is_lint(code: &str) -> bool {
    code.starts_with('L')
}

fn stands_alone(gate: &GateResult, is_told: bool) -> bool {
    match gate.state {
        GateState::Held => !is_condition(gate) && (is_told || !is_lint(&gate.code)),
        GateState::Broken => true,
        GateState::NotJudged => false,
    }
}

fn codes(gates: &[GateResult], meant: impl Fn(&GateResult) -> bool) -> Vec<&str> {
    gates.iter().filter(|gate| meant(gate)).map(|gate| gate.code.as_str()).collect()
}
