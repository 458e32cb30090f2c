//! U01: rows that a check of the profile's own returns and didn't return at the baseline.
//!
//! Equal rows are counted, so that a second copy of an old row is new. One check, one finding, with the
//! profile's title and severity.

use std::collections::HashMap;

use crate::codes::U01;
use crate::history::{CustomRows, Snapshot};
use crate::profile::CustomCheck;

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::plural;
use super::{Evidence, Finding, Gate, GateState, Witness};

const CURE: &str = "run its statement by hand as the audit's user: it must be one query that writes \
                    nothing, ends within 30 s and returns at most 100,000 rows";

type Row = Vec<Option<String>>;

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let checks = &bench.case.profile.audit.sql;
    if checks.is_empty() {
        return Ruling::default();
    }
    let Some(rows) = &bench.rows else {
        return Ruling::not_judged(&U01, "no rows were read after the load");
    };
    if rows.snapshot.custom.len() != checks.len() {
        return Ruling::not_judged(&U01, "the profile's own checks were not run").doubting(
            &U01,
            "the profile's own checks were not run at the end",
            "run again; a run keeps the rows of the checks that its own profile had",
        );
    }
    // Every row is new where nobody knows the old ones.
    if bench.case.baseline.custom.len() != checks.len() {
        return Ruling::not_judged(&U01, "the profile's own checks were not run before the load")
            .doubting(
                &U01,
                "the profile's own checks were not run before the load",
                "run again; what a check returns at the baseline doesn't count",
            );
    }
    let ruling = of(checks, bench.case.baseline, rows.snapshot);
    match bench.unrest() {
        Some(why) if !ruling.findings.is_empty() => {
            let Ruling { gate, doubts, .. } = ruling;
            let detail = gate.map_or_else(String::new, |gate| gate.detail);
            let what = format!("{detail} that the baseline did not have, but {why}");
            let unjudged = Ruling { doubts, ..Ruling::not_judged(&U01, detail) };
            unjudged.doubting(&U01, what, "audit again when the database is at rest")
        }
        _ => ruling,
    }
}

/// The checks' rows now against those of the baseline. A check that couldn't be run isn't judged; the
/// others are.
pub(super) fn of(checks: &[CustomCheck], baseline: &Snapshot, now: &Snapshot) -> Ruling {
    let (mut rows, mut judged) = (0, 0);
    let mut ruling = Ruling::default();
    for (at, (check, now)) in checks.iter().zip(&now.custom).enumerate() {
        let before = baseline.custom.get(at);
        let old_trouble = before.and_then(|before| before.trouble.as_deref());
        let trouble = match (old_trouble, now.trouble.as_deref()) {
            (Some(why), _) => Some((" before the load", why)),
            (None, now) => now.map(|why| ("", why)),
        };
        if let Some((when, why)) = trouble {
            let what = format!("the check \"{}\" could not be run{when}: {why}", check.title);
            ruling = ruling.doubting(&U01, what, CURE);
            continue;
        }
        judged += 1;
        let fresh = fresh(before, now);
        rows += fresh.len();
        ruling.findings.extend(finding(check, now, &fresh));
    }
    if judged == 0 {
        let Ruling { doubts, .. } = ruling;
        return Ruling { doubts, ..Ruling::not_judged(&U01, "no check could be run") };
    }
    let state = match ruling.findings.iter().any(|it| it.severity.fails_the_gate()) {
        true => GateState::Broken,
        false => GateState::Held,
    };
    let mut detail =
        format!("{} in {}", plural(rows as u64, "row", "rows"), plural(judged, "check", "checks"));
    if !ruling.doubts.is_empty() {
        detail += &format!(", {} not run", ruling.doubts.len());
    }
    Ruling { gate: Some(Gate { code: &U01, state, detail }), ..ruling }
}

fn fresh<'a>(before: Option<&CustomRows>, now: &'a CustomRows) -> Vec<&'a Row> {
    let mut known: HashMap<&Row, u64> = HashMap::new();
    for row in before.map_or(&[][..], |before| &before.rows) {
        *known.entry(row).or_default() += 1;
    }
    let mut fresh = Vec::new();
    for row in &now.rows {
        match known.get_mut(row) {
            Some(left) if *left > 0 => *left -= 1,
            _ => fresh.push(row),
        }
    }
    fresh
}

fn finding(check: &CustomCheck, rows: &CustomRows, fresh: &[&Row]) -> Option<Finding> {
    let first = fresh.first()?;
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
    let named: Vec<String> = rows
        .columns
        .iter()
        .zip(*first)
        .take(4)
        .map(|(column, value)| format!("{column} = {}", text(value)))
        .collect();
    let count = fresh.len() as u64;
    Some(Finding {
        code: &U01,
        severity: check.severity,
        title: format!("{}: {}", check.title, plural(count, "row", "rows")),
        count,
        evidence: Evidence {
            columns: rows.columns.clone(),
            rows: fresh.iter().map(|row| row.iter().map(text).collect()).collect(),
        },
        witness: Witness { heading: format!("what `{}` found", check.title), ..Witness::default() },
        therefore: vec![format!(
            "`{}` is broken, because its statement returns {} that it didn't return at the baseline, \
             such as {}",
            check.title,
            plural(count, "row", "rows"),
            if named.is_empty() { "one without columns".to_owned() } else { named.join(", ") }
        )],
        help: "run the statement of `[[audit.sql]]` by hand and look at the rows.".to_owned(),
    })
}
