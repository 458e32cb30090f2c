//! I03's *therefore* from the order of the steps: what one order took was overwritten by another that had
//! read the stock before.

use crate::codes::L8;

use super::bench::Bench;
use super::statements::Reading;
use super::steps::Placed;
use super::visits::Visit;

/// Takes two visits in the order of their inserts.
pub(super) fn therefore(bench: &Bench<'_>, visits: &[Visit<'_>]) -> Option<String> {
    let [one, other] = visits else { return None };
    lost(bench, one, other).or_else(|| lost(bench, other, one))
}

/// Whether `late` wrote back what it had read before `early` asked for its COMMIT, and after that.
fn lost(bench: &Bench<'_>, early: &Visit<'_>, late: &Visit<'_>) -> Option<String> {
    let (first, second) = (early.order.as_deref()?, late.order.as_deref()?);
    let (taken, write) = (early.stock_write()?, late.stock_write()?);
    let read = late.stock_read()?;
    let commit = early.commit?.step;
    let is_one = taken.step.product.is_some() && taken.step.product == write.step.product;
    let was_late =
        read.step.answered? < commit.earliest() && write.step.answered? > commit.earliest();
    (is_one && was_late && is_computed(bench, write)).then(|| {
        format!(
            "what order {first} took came back, because order {second} had read the stock at {}, before \
             the COMMIT of {first} at {}, and wrote back what it made of that ({})",
            read.step.asked, commit.asked, L8.id
        )
    })
}

/// Whether a statement sets the stock to a value that it was given.
fn is_computed(bench: &Bench<'_>, write: &Placed<'_>) -> bool {
    let stock = bench.case.profile.audit.stock.as_ref();
    let reading = bench.trace.statements.of(write.step);
    stock.is_some_and(|stock| {
        matches!(reading, Some(Reading::Update(update)) if update.bare.contains(&stock.available))
    })
}
