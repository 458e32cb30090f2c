//! I02 over the whole orders table. Where the contract declares a window, a business key may come
//! again after it; a key may not.

use crate::codes::{I02, Severity};
use crate::history::Survey;
use crate::profile::{BusinessColumn, Profile};

use super::super::ruling::Ruling;
use super::super::words::{list, plural, spelled, thousands, times};
use super::super::{Evidence, Finding, Witness, subject};

pub(super) fn check(profile: &Profile, survey: &Survey) -> Ruling {
    let unique_by = profile.contract.unique_by();
    let (one, many) = subject::name(unique_by);
    let Some(doubled) = &survey.doubled else {
        return Ruling::not_judged(&I02, format!("no column tells orders apart by {one}"));
    };
    if profile.contract.window.is_some() && !unique_by.contains(&BusinessColumn::Key) {
        return Ruling::not_judged(&I02, "a business key may come again after the window");
    }
    let detail = format!(
        "{} with two orders or more, of {}",
        plural(doubled.total, &one, &many),
        plural(survey.valid, "valid order", "valid orders")
    );
    let Some(worst) = doubled.shown.first() else {
        let held = Ruling::held(&I02, detail);
        if survey.nameless == 0 {
            return held;
        }
        let nameless = plural(survey.nameless, "valid order has", "valid orders have");
        return held.doubting(
            &I02,
            format!("{nameless} no value in a column that tells orders apart: any may be a double"),
            "look at them by hand, and forbid NULL and empty values there",
        );
    };
    let clearest = doubled.shown.iter().min_by_key(|it| it.orders).unwrap_or(worst);
    let mut evidence = Evidence::of(&[&one, "orders", "order ids"]);
    for it in &doubled.shown {
        evidence.rows.push(vec![list(&it.names, 3), thousands(it.orders), list(&it.ids, 12)]);
    }
    let up_to = if worst.orders > clearest.orders { "up to " } else { "" };
    let finding = Finding {
        code: &I02,
        severity: Severity::Critical,
        title: format!(
            "one {one} has {up_to}{} orders{}",
            spelled(worst.orders),
            times(doubled.total)
        ),
        count: doubled.total,
        evidence,
        witness: Witness {
            heading: format!("which orders {} has", list(&clearest.names, 3)),
            orders: clearest.ids.iter().take(3).cloned().collect(),
            ..Witness::default()
        },
        therefore: vec![format!(
            "one intent became {} orders, because {} all have {} and count as valid",
            spelled(clearest.orders),
            list(&clearest.ids, 3),
            list(&clearest.names, 3)
        )],
        help: "find out what the second order of each has caused; then put a unique index there."
            .to_owned(),
    };
    Ruling::of(&I02, detail, vec![finding])
}
