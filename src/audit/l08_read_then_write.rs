//! L8: what was read is written back, and what others did in between is lost.
//!
//! A SELECT that locks nothing shows a column, and an UPDATE of the same request sets that column to a
//! parameter or a number, on no condition that would notice a change: neither on the column itself, nor
//! on a version, nor on the value of another column that it sets. A row that was locked before in
//! the same transaction can't have changed, and at repeatable read the write would fail.

use crate::codes::L8;
use crate::history::Step;

use super::bench::Bench;
use super::lint::{Lint, Sight};
use super::ruling::Ruling;
use super::schema::bare;
use super::statements::{Reading, Updated};
use super::steps::Placed;
use super::trace::Request;

const LINT: Lint = Lint {
    code: &L8,
    what: "a value was read, and one computed from it written back",
    help: "let the statement compute it (`SET available = available - $1 ... AND available >= $1`), or \
           name the version that was read in its WHERE",
};

/// Words in the names of columns that tell one state of a row from the next.
const VERSIONS: [&str; 8] =
    ["version", "revision", "etag", "xmin", "ctid", "updated_at", "modified", "rev"];

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    LINT.judge(bench, |request| {
        request.steps.iter().find_map(|write| {
            let Some(Reading::Update(update)) = bench.trace.statements.of(write.step) else {
                return None;
            };
            if !write.step.is_done() || is_steady(bench, request, write.step, &update.table) {
                return None;
            }
            let columns = update.bare.iter().filter(|it| !is_guarded(update, it));
            let (column, read) = columns
                .filter(|column| !is_status(bench, &update.table, column))
                .find_map(|column| Some((column, read(bench, request, write, update, column)?)))?;
            let because = format!(
                "whatever was written to {column} in between would have been lost, because {} was \
                 answered at {}, and {} at {} sets it without looking again",
                read.name(),
                read.step.answered?,
                write.name(),
                write.step.asked
            );
            let subject = format!("{}.{column}", update.table);
            Some(Sight::of(request, &subject, &[read, write], because))
        })
    })
}

/// The last step before a write that showed a column and locked nothing.
fn read<'r, 'a>(
    bench: &Bench<'a>,
    request: &'r Request<'a>,
    write: &Placed<'a>,
    update: &Updated,
    column: &str,
) -> Option<&'r Placed<'a>> {
    let is_stock = bench
        .case
        .profile
        .audit
        .stock
        .as_ref()
        .is_some_and(|stock| bare(&stock.table) == update.table && stock.available == column);
    request.steps.iter().rfind(|at| {
        let Some(Reading::Select(select)) = bench.trace.statements.of(at.step) else {
            return false;
        };
        let is_before = at.step.answered.is_some_and(|answered| answered <= write.step.earliest());
        let found = !at.step.answer.as_deref().unwrap_or_default().ends_with(" 0");
        // Who reads whole rows needn't have looked at a column, unless it is the stock.
        let shows = select.columns.contains(column) || select.has_all && is_stock;
        let fits = select.table == update.table && !select.locks && shows;
        fits && is_before && found && at.step.is_done()
    })
}

/// Whether an UPDATE would notice that a column isn't what it was.
pub(super) fn is_guarded(update: &Updated, column: &str) -> bool {
    let is_version = |name: &str| VERSIONS.iter().any(|word| name.contains(word));
    update.mentioned.contains(column)
        || update.equal.iter().any(|name| is_version(name) || update.assigned.contains(name))
}

/// Whether the rows of a table can't have changed under an UPDATE since they were read in its
/// transaction: they were locked, or are its own, or the write would fail; or what came before can't be
/// read.
pub(super) fn is_steady<'a>(
    bench: &Bench<'a>,
    request: &Request<'a>,
    update: &'a Step,
    table: &str,
) -> bool {
    request.before(update).any(|at| match bench.trace.statements.of(at.step) {
        Some(Reading::Select(select)) => select.locks && select.table == table,
        Some(Reading::Insert { table: into }) => into == table,
        Some(Reading::Begin { repeats }) => *repeats,
        Some(_) => false,
        None => !matches!(&*at.step.verb, "BEGIN" | "START"),
    })
}

/// Whether a column holds the state of an order, which has a lint of its own.
pub(super) fn is_status(bench: &Bench<'_>, table: &str, column: &str) -> bool {
    let orders = &bench.case.profile.audit.orders;
    let known = orders.status.as_deref();
    bare(&orders.table) == table && known.map_or(column == "status", |known| known == column)
}
