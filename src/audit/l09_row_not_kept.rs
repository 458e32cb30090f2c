//! L9: a row lock outside a transaction, or an order's status that is set whatever it was.
//!
//! A statement outside a transaction is one of its own, and gives its row locks up with its reply; that
//! it was outside is known where PostgreSQL said so right after it. A status is safe without a condition
//! where the row is the transaction's own, or was locked in it before.

use crate::codes::L9;
use crate::history::Standing;

use super::bench::Bench;
use super::l08_read_then_write::{is_guarded, is_status, is_steady};
use super::lint::{Lint, Sight};
use super::ruling::Ruling;
use super::statements::{Reading, Updated};
use super::steps::Placed;
use super::trace::Request;

const LINT: Lint = Lint {
    code: &L9,
    what: "a row was changed, or locked, without keeping others off",
    help: "keep SELECT ... FOR UPDATE and what follows from it in one transaction; name the expected \
           status in the UPDATE's WHERE, and look at its row count",
};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    LINT.judge(bench, |request| {
        request.steps.iter().filter(|at| at.step.is_done()).find_map(|at| {
            match bench.trace.statements.of(at.step)? {
                Reading::Select(select) if select.is_for_update => {
                    let is_outside =
                        at.step.transaction.is_none() && at.step.standing == Some(Standing::Idle);
                    is_outside.then(|| unkept(request, at, &select.table))
                }
                Reading::Update(update) => unconditional(bench, request, at, update),
                _ => None,
            }
        })
    })
}

fn unkept<'a>(request: &Request<'a>, at: &Placed<'a>, table: &str) -> Sight<'a> {
    let because = format!(
        "the rows that {} locked were free again with its reply, because it was sent at {} outside a \
         transaction",
        at.name(),
        at.step.asked
    );
    Sight::of(request, table, &[at], because)
}

fn unconditional<'a>(
    bench: &Bench<'a>,
    request: &Request<'a>,
    at: &Placed<'a>,
    update: &Updated,
) -> Option<Sight<'a>> {
    let table = &update.table;
    let status = update.assigned.iter().find(|column| is_status(bench, table, column))?;
    if is_guarded(update, status) || is_steady(bench, request, at.step, table) {
        return None;
    }
    let because = format!(
        "any status would have been overwritten, because {} at {} sets {status} and asks for no \
         status before",
        at.name(),
        at.step.asked
    );
    Some(Sight::of(request, &format!("{table}.{status}"), &[at], because))
}
