//! What the schema itself guarantees.

use crate::history::{Constraint, ConstraintKind, Snapshot};

/// How a set of columns is covered by unique indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cover<'a> {
    /// A whole unique index over these columns or fewer.
    Whole(&'a Constraint),
    /// Only one with a WHERE clause, which rows can escape.
    Partial(&'a Constraint),
    None,
}

/// Finds the strongest unique index over `columns` of `table`. Where they are unique only within a
/// window of time, an index may have one column more, which says which window it is.
pub(super) fn cover<'a>(
    snapshot: &'a Snapshot,
    table: &str,
    columns: &[&str],
    has_window: bool,
) -> Cover<'a> {
    let over = |constraint: &&Constraint| {
        let others = constraint.columns.iter().filter(|it| !columns.contains(&it.as_str())).count();
        constraint.kind == ConstraintKind::Unique
            && bare(&constraint.table) == bare(table)
            && others <= usize::from(has_window)
            && constraint.columns.len() > others
    };
    let mut covers = snapshot.constraints.iter().filter(over);
    match covers.clone().find(|constraint| !constraint.partial) {
        Some(whole) => Cover::Whole(whole),
        None => covers.next().map_or(Cover::None, Cover::Partial),
    }
}

/// A table's name without its schema and quotes.
pub(super) fn bare(table: &str) -> &str {
    table.rsplit('.').next().unwrap_or(table).trim_matches('"')
}
