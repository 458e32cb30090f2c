//! L10: what the schema would let through if everything before it failed.
//!
//! A lint: it is found in a run in which nothing broke, and never fails one. A nullable column counts
//! only where requests without a key are rejected; where they are executed, their orders have no key.

use crate::codes::{L10, Severity};
use crate::history::{Constraint, ConstraintKind, Snapshot};
use crate::profile::{BusinessColumn, Contract, KeyScope, MissingKey, Profile};

use super::bench::Bench;
use super::ruling::Ruling;
use super::schema::{Cover, bare, cover};
use super::subject;
use super::words::plural;
use super::{Evidence, Finding, Witness};

/// A hole in the last line of defence.
struct Hole {
    table: String,
    what: String,
    because: String,
    cure: String,
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let columns = subject::columns(bench).unwrap_or_default();
    of(bench.case.profile, bench.case.baseline, &columns)
}

/// The holes that a schema leaves, given the columns that make an order unique.
pub(super) fn of(profile: &Profile, seen: &Snapshot, columns: &[&str]) -> Ruling {
    let mut holes = Vec::new();
    let columns = unique_columns(&profile.contract, columns);
    if !columns.is_empty() {
        holes.extend(orders(profile, seen, &columns));
    }
    holes.extend(stock(profile, seen));
    let detail = match holes.as_slice() {
        [] => "a unique index, no stock below zero".to_owned(),
        holes => {
            format!("{} would get past the schema", plural(holes.len() as u64, "thing", "things"))
        }
    };
    Ruling::of(&L10, detail, finding(&holes).into_iter().collect())
}

/// Where keys belong to the account, the key alone must be unique.
fn unique_columns<'b>(contract: &Contract, columns: &[&'b str]) -> Vec<&'b str> {
    let is_key = |place: &usize| contract.unique_by()[*place] == BusinessColumn::Key;
    let by_key_alone = contract.key.scope == KeyScope::Account && contract.one_order_per.is_empty();
    let kept = (0..columns.len()).filter(|place| !by_key_alone || is_key(place));
    kept.map(|place| columns[place]).collect()
}

fn orders(profile: &Profile, seen: &Snapshot, columns: &[&str]) -> Vec<Hole> {
    let table = &profile.audit.orders.table;
    let names = columns.join(", ");
    let hole = |what: String, because: String, cure: String| Hole {
        table: table.clone(),
        what,
        because,
        cure,
    };
    match cover(seen, table, columns, profile.contract.window.is_some()) {
        Cover::None => vec![hole(
            format!("no unique index over ({names})"),
            format!("no unique index of {table} covers ({names})"),
            format!("CREATE UNIQUE INDEX CONCURRENTLY ON {table} ({names})"),
        )],
        Cover::Partial(index) => vec![hole(
            format!("{} is partial", index.name),
            format!("{} has a WHERE clause, which rows escape", index.name),
            format!("make {} a whole index", index.name),
        )],
        Cover::Whole(_) => {
            let is_due = matches!(profile.contract.missing_key, MissingKey::Rejected(_));
            let index = nullable(seen, table, columns).filter(|_| is_due);
            let holes = index.into_iter().flat_map(|index| {
                index.nullable.iter().map(|column| {
                    hole(
                        format!("{column} may be NULL"),
                        format!("{} lets any number of rows without {column} through", index.name),
                        format!("ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL"),
                    )
                })
            });
            holes.collect()
        }
    }
}

/// A covering index with nullable columns, if every covering index has some.
fn nullable<'a>(seen: &'a Snapshot, table: &str, columns: &[&str]) -> Option<&'a Constraint> {
    let covering = seen.constraints.iter().filter(|constraint| {
        constraint.kind == ConstraintKind::Unique
            && !constraint.partial
            && bare(&constraint.table) == bare(table)
            && !constraint.columns.is_empty()
            && constraint.columns.iter().all(|column| columns.contains(&column.as_str()))
    });
    let mut covering = covering.peekable();
    let first = *covering.peek()?;
    covering.all(|constraint| !constraint.nullable.is_empty()).then_some(first)
}

fn stock(profile: &Profile, seen: &Snapshot) -> Option<Hole> {
    let stock = profile.audit.stock.as_ref()?;
    let guards = |constraint: &&Constraint| {
        constraint.kind == ConstraintKind::Check
            && bare(&constraint.table) == bare(&stock.table)
            && names(&constraint.definition, &stock.available)
    };
    if seen.constraints.iter().any(|constraint| guards(&constraint)) {
        return None;
    }
    let (table, available) = (&stock.table, &stock.available);
    Some(Hole {
        table: table.clone(),
        what: format!("no check on {available}"),
        because: format!("no CHECK of {table} names {available}"),
        cure: format!("ALTER TABLE {table} ADD CHECK ({available} >= 0)"),
    })
}

/// Whether a definition names a column, as a whole word.
fn names(definition: &str, column: &str) -> bool {
    let mut words = definition.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    words.any(|word| word == column) || definition.contains(&format!("\"{column}\""))
}

fn finding(holes: &[Hole]) -> Option<Finding> {
    let first = holes.first()?;
    let mut evidence = Evidence::of(&["table", "hole"]);
    for hole in holes {
        evidence.rows.push(vec![hole.table.clone(), hole.what.clone()]);
    }
    let because = |hole: &Hole| {
        format!("the database itself wouldn't refuse what must not be, because {}", hole.because)
    };
    let count = holes.len() as u64;
    let cures: Vec<&str> = holes.iter().map(|hole| hole.cure.as_str()).collect();
    Some(Finding {
        code: &L10,
        severity: Severity::Protected,
        title: match holes {
            [one] => format!("the schema isn't the last line of defence: {}", one.what),
            _ => format!("the schema isn't the last line of defence in {count} places"),
        },
        count,
        evidence,
        witness: Witness {
            heading: format!("what {} lets through", first.table),
            ..Witness::default()
        },
        therefore: holes.iter().map(because).collect(),
        help: format!("{}.", cures.join("; ")),
    })
}
