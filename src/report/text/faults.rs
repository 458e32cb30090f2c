//! The faults of a run in a table: what was planned, how often it fired, whom it hit, and how it ended.

use comfy_table::{ColumnConstraint, ContentArrangement, Width};

use super::super::format::{counted, thousands};
use super::{heading, indented, table};
use crate::audit::FaultAccount;

pub(super) fn write(faults: &[FaultAccount], out: &mut String) {
    if faults.is_empty() {
        return;
    }
    heading(out, "FAULTS");
    let mut table = table(4);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.add_row(["planned", "fired", "with effect", "hit", "ended"]);
    for fault in faults {
        table.add_row([
            fault.name.clone(),
            fired(fault),
            thousands(fault.with_effect),
            counted(fault.hit, "intent", "intents"),
            ended(fault),
        ]);
    }
    // A number stays in one piece with its noun.
    for (place, width) in [(1, 12), (2, 13), (3, 14)] {
        if let Some(column) = table.column_mut(place) {
            column.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(width)));
        }
    }
    indented(out, &mut table);
}

fn fired(fault: &FaultAccount) -> String {
    if !fault.armed {
        return "not armed".to_owned();
    }
    format!("{} of {}", thousands(fault.fired), thousands(fault.planned.max(fault.fired)))
}

fn ended(fault: &FaultAccount) -> String {
    let ends = fault.ended.iter().map(|(how, times)| match (times, fault.ended.len()) {
        (_, 1) => how.clone(),
        (times, _) => format!("{how}: {}", thousands(*times)),
    });
    let ends: Vec<String> = ends.collect();
    if ends.is_empty() { "-".to_owned() } else { ends.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(name: &str, fired: u64) -> FaultAccount {
        FaultAccount {
            name: name.to_owned(),
            phase: "double click".to_owned(),
            act: "hold".to_owned(),
            armed: true,
            planned: 1,
            fired,
            with_effect: fired,
            hit: fired,
            ended: [("the others had their answers".to_owned(), fired)].into(),
            firings: Vec::new(),
        }
    }

    #[test]
    fn a_fault_is_a_line_and_a_run_without_any_has_none() {
        let mut out = String::new();
        write(&[], &mut out);
        assert_eq!(out, "");
        let idle = FaultAccount { armed: false, ended: [].into(), ..fault("delay at 5s", 0) };
        write(&[fault("hold before \"postgres COMMIT\"", 1), idle], &mut out);
        insta::assert_snapshot!(anstream::adapter::strip_str(&out).to_string());
    }
}
