//! `dupeproof explain CODE`: what a code means, how it is checked, what finds it, usual causes,
//! cure; `--sql` shows the statement behind it.

use std::fmt::Write;

use clap::Args;

use super::shop::defect;
use crate::codes::{self, Code, Severity};
use crate::report::format::filled;
use crate::ui::{self, Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A code such as I02; left out: the list of all
    code: Option<String>,

    /// Show only the statement that reads what the code is judged by
    #[arg(long, requires = "code")]
    sql: bool,
}

pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    let Some(wanted) = &args.code else {
        let list: String =
            codes::all().map(|code| format!("{:<5} {}\n", code.id, code.title)).collect();
        ui::result(&list);
        return Ok(Exit::Passed);
    };
    match codes::find(wanted) {
        Some(code) if args.sql => match code.sql() {
            Some(sql) => {
                ui::result(sql);
                Ok(Exit::Passed)
            }
            None => Err(Failure::usage(
                format!("{} is judged without a statement of its own", code.id),
                format!("Run `dupeproof explain {}` for how it is checked.", code.id),
            )),
        },
        Some(code) => {
            ui::result(&text(code));
            Ok(Exit::Passed)
        }
        None => explain_defect(wanted),
    }
}

/// Codes name the defects of the lab's shop that they find, so those are explained too.
fn explain_defect(wanted: &str) -> Result<Exit, Failure> {
    if let Some(told) = defect(wanted) {
        ui::result(&told);
        return Ok(Exit::Passed);
    }
    Err(Failure::usage(
        format!("there is no code `{wanted}`"),
        match codes::like(wanted) {
            Some(code) => format!(
                "Did you mean {} ({})? Run `dupeproof explain` for the list of all.",
                code.id, code.title
            ),
            None => "Run `dupeproof explain` for the list of all.".to_owned(),
        },
    ))
}

fn text(code: &Code) -> String {
    let severity = match code.severity {
        Some(Severity::Critical) => "CRITICAL: past the last line of defence; fails the gate\n",
        Some(Severity::Contract) => "CONTRACT: data right, caller misled; fails the gate\n",
        Some(Severity::Protected) => "PROTECTED: a line of defence broke, the next one held\n",
        Some(Severity::Efficiency) => "EFFICIENCY: the defences held, at a price\n",
        None => "",
    };
    let mut out = String::new();
    for line in filled(&format!("{} ({}): {}", code.id, code.slug, code.title), 80) {
        let _ = writeln!(out, "{line}");
    }
    out.push_str(severity);
    let mut section = |name: &str, text: &str| {
        let _ = writeln!(out, "\n{name}");
        for line in filled(text, 76) {
            let _ = writeln!(out, "  {line}");
        }
    };
    section("What it means", code.what);
    section("How it is checked", code.checked);
    section("What finds it", code.found_by());
    if !code.causes.is_empty() {
        section(
            "Usual causes",
            &code.causes.iter().map(|cause| format!("- {cause}\n")).collect::<String>(),
        );
    }
    section("What to do", code.cure);
    if code.sql().is_some() {
        let _ = write!(out, "\nIts statement: dupeproof explain {} --sql\n", code.id);
    }
    out
}
