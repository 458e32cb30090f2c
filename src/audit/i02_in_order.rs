//! I02's *therefore* from the order of the steps: why the second one that came saw no order.

use crate::codes::L1;
use crate::history::RunTime;

use super::visits::Visit;

/// Takes the two visits in the order of their inserts.
pub(super) fn therefore(visits: &[Visit<'_>]) -> Option<String> {
    let [first, second] = visits else { return None };
    let (one, other) = (first.order.as_deref()?, second.order.as_deref()?);
    let committed = first.committed()?;
    let look = second.vain_look();
    let step = look.unwrap_or(&second.insert).step;
    if step.forwarded? >= committed {
        return None;
    }
    let looked = step.asked;
    let saw = match look {
        Some(_) => format!("the look before order {other} found none at {looked}"),
        None => format!("order {other} was inserted at {looked}"),
    };
    let late = match released(first, second, committed) {
        Some(free) => format!(
            "{one} was not committed until {committed}, after the lock was free at {free} ({})",
            L1.id
        ),
        None => format!("{one} was not committed until {committed}"),
    };
    Some(format!("{saw}, because {late}"))
}

/// When the lock of the first was free, if that was before its commit was answered and the second got it
/// then.
fn released(first: &Visit<'_>, second: &Visit<'_>, committed: RunTime) -> Option<RunTime> {
    let (one, other) = (first.hold?, second.hold?);
    let release = one.released?.step;
    let is_next = other.key == one.key && other.grant.step.answered? >= release.earliest();
    (is_next && release.forwarded? < committed).then_some(release.asked)
}
