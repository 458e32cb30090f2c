//! The registry as a page of the documentation.

use std::fmt::Write;

use super::{Code, GATES, INVARIANTS, LINTS, MISTAKES, OWN, RULES, Severity, TROUBLES};

/// `docs/reference/codes.md`.
pub fn reference() -> String {
    let mut out = String::from(
        "# Codes\n\n\
         Everything that dupeproof can hold against a service, a run or a profile. Written from the\n\
         registry by a test; `dupeproof explain CODE` shows an entry, `--sql` its statement.\n",
    );
    for (title, about, codes) in [
        ("Invariants", "They must hold: a break is a finding.", INVARIANTS.as_slice()),
        ("History rules", "They follow from the answers alone.", RULES.as_slice()),
        ("Lint", "What is weak, whether anything broke or not.", LINTS.as_slice()),
        ("Checks of your own", "Statements of `[[audit.sql]]`.", OWN.as_slice()),
        ("Gates", "A miss makes a run inconclusive, never passed.", GATES.as_slice()),
        ("Mistakes in a profile", "Exit 2; nothing has been started.", MISTAKES.as_slice()),
        ("Troubles", "Exit 4: the drill couldn't be carried out.", TROUBLES.as_slice()),
    ] {
        write!(out, "\n## {title}\n\n{about}\n").expect("a String takes everything");
        for code in codes {
            entry(&mut out, code);
        }
    }
    out
}

fn entry(out: &mut String, code: &Code) {
    let severity = match code.severity {
        Some(Severity::Critical) => "CRITICAL. ",
        Some(Severity::Contract) => "CONTRACT. ",
        Some(Severity::Protected) => "PROTECTED. ",
        Some(Severity::Efficiency) => "EFFICIENCY. ",
        None => "",
    };
    let mut points = vec![
        format!("{severity}{}", code.what),
        format!("Checked: {}", code.checked),
        format!("Found by: {}", code.found_by()),
    ];
    if !code.causes.is_empty() {
        points.push(format!("Usual causes: {}.", code.causes.join("; ")));
    }
    points.push(format!("What to do: {}", code.cure));
    write!(out, "\n### {} `{}`: {}\n\n{}\n", code.id, code.slug, code.title, points.join("\n\n"))
        .expect("a String takes everything");
    if let Some(sql) = code.sql() {
        write!(out, "\n```sql\n{}\n```\n", sql.trim_end()).expect("a String takes everything");
    }
}
