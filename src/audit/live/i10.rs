//! I10 over the whole orders table.

use crate::codes::{I10, Severity};
use crate::history::Survey;

use super::super::ruling::Ruling;
use super::super::words::plural;
use super::super::{Evidence, Finding, Witness};

pub(super) fn check(survey: &Survey) -> Ruling {
    let Some(both) = &survey.paid_and_closed else {
        return Ruling::not_judged(&I10, "no columns for paid and closed");
    };
    let detail = format!("{} paid and closed", plural(both.total, "order", "orders"));
    let Some(first) = both.shown.first() else { return Ruling::held(&I10, detail) };
    let time = |us: i64| match jiff::Timestamp::from_microsecond(us) {
        Ok(time) if us != 0 => time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        _ => "yes".to_owned(),
    };
    let mut evidence = Evidence::of(&["order", "status", "paid at (UTC)", "closed at (UTC)"]);
    for it in &both.shown {
        let status = it.status.clone().unwrap_or_else(|| "-".to_owned());
        evidence.rows.push(vec![it.id.clone(), status, time(it.paid_us), time(it.closed_us)]);
    }
    let finding = Finding {
        code: &I10,
        severity: Severity::Critical,
        title: format!("{} paid and closed", plural(both.total, "order is", "orders are")),
        count: both.total,
        evidence,
        witness: Witness {
            heading: format!("how order {} was paid and closed", first.id),
            orders: vec![first.id.clone()],
            ..Witness::default()
        },
        therefore: vec![format!(
            "order {} is paid and closed, because its row says both ({} and {})",
            first.id,
            time(first.paid_us),
            time(first.closed_us)
        )],
        help: "change a status by one conditional update (`... AND status = 'CREATED'`) and act on a row \
               count of 0."
            .to_owned(),
    };
    Ruling::of(&I10, detail, vec![finding])
}
