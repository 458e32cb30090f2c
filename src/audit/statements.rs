//! What the statements of a run do, as far as a lint asks. Each text is read once, when it is first
//! asked for; one that can't be read does nothing that is known.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Assignment, AssignmentTarget, BinaryOperator, Expr, Ident, LockType, ObjectName, Query, Select,
    SelectItem, SetExpr, Statement, TableFactor, TableObject, TableWithJoins,
    TransactionIsolationLevel, TransactionMode, Update, Value, visit_expressions,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use crate::history::{StatementFacts, Step};

/// Longer texts aren't read: the parser's tree of a long chain is as deep as the chain is long.
const LONGEST: usize = 8 * 1024;

#[derive(Debug)]
pub(super) struct Statements<'a> {
    texts: &'a [StatementFacts],
    read: Vec<OnceCell<Option<Reading>>>,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Select(Selected),
    Update(Updated),
    Insert {
        table: String,
    },
    /// Begins a transaction; `repeats`: what it reads stays true, or the write fails.
    Begin {
        repeats: bool,
    },
    Other,
}

/// A SELECT from one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selected {
    pub table: String,
    /// Columns that are shown as they are.
    pub columns: BTreeSet<String>,
    pub has_all: bool,
    /// Whether it locks the rows, FOR UPDATE or FOR SHARE.
    pub locks: bool,
    pub is_for_update: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Updated {
    pub table: String,
    pub assigned: BTreeSet<String>,
    /// Those of them that get a parameter or a number as it is.
    pub bare: BTreeSet<String>,
    /// Columns that its condition mentions.
    pub mentioned: BTreeSet<String>,
    /// Columns of which it says what they must be equal to.
    pub equal: BTreeSet<String>,
}

impl<'a> Statements<'a> {
    pub fn new(texts: &'a [StatementFacts]) -> Self {
        Self { texts, read: texts.iter().map(|_| OnceCell::new()).collect() }
    }

    /// What a step's statement does, if that can be read.
    pub fn of(&self, step: &Step) -> Option<&Reading> {
        let place = step.statement?.0 as usize;
        let text = self.texts.get(place)?;
        self.read.get(place)?.get_or_init(|| read(&text.sql)).as_ref()
    }
}

/// Reads the one statement of a text.
pub(super) fn read(sql: &str) -> Option<Reading> {
    if sql.len() > LONGEST {
        return None;
    }
    let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).ok()?;
    let statement = statements.pop().filter(|_| statements.is_empty())?;
    Some(match statement {
        Statement::Query(query) => selected(&query).map_or(Reading::Other, Reading::Select),
        Statement::Update(update) => updated(&update).map_or(Reading::Other, Reading::Update),
        Statement::Insert(insert) => match &insert.table {
            TableObject::TableName(name) => Reading::Insert { table: last(name)? },
            _ => Reading::Other,
        },
        Statement::StartTransaction { modes, .. } => Reading::Begin { repeats: repeats(&modes) },
        _ => Reading::Other,
    })
}

fn repeats(modes: &[TransactionMode]) -> bool {
    use TransactionIsolationLevel::{RepeatableRead, Serializable};
    modes
        .iter()
        .any(|mode| matches!(mode, TransactionMode::IsolationLevel(RepeatableRead | Serializable)))
}

fn selected(query: &Query) -> Option<Selected> {
    let SetExpr::Select(select) = &*query.body else { return None };
    if query.with.is_some() {
        return None;
    }
    let [from] = select.from.as_slice() else { return None };
    let mut selected = Selected {
        table: table(from)?,
        locks: !query.locks.is_empty(),
        is_for_update: query.locks.iter().any(|lock| lock.lock_type == LockType::Update),
        ..Selected::default()
    };
    show(select, &mut selected);
    Some(selected)
}

fn show(select: &Select, selected: &mut Selected) {
    for item in &select.projection {
        match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                selected.columns.extend(column(expr));
            }
            SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => selected.has_all = true,
            SelectItem::ExprWithAliases { .. } => {}
        }
    }
}

fn updated(update: &Update) -> Option<Updated> {
    let mut updated = Updated { table: table(&update.table)?, ..Updated::default() };
    for Assignment { target, value } in &update.assignments {
        match target {
            AssignmentTarget::ColumnName(name) => {
                let name = last(name)?;
                if is_bare(value) {
                    updated.bare.insert(name.clone());
                }
                updated.assigned.insert(name);
            }
            AssignmentTarget::Tuple(names) => {
                updated.assigned.extend(names.iter().filter_map(last));
            }
        }
    }
    let mut note = |expr: &Expr| {
        updated.mentioned.extend(column(expr));
        if let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = expr {
            updated.equal.extend([left, right].into_iter().filter_map(|side| column(side)));
        }
        if let Expr::IsNotDistinctFrom(expr, _) = expr {
            updated.equal.extend(column(expr));
        }
        ControlFlow::<()>::Continue(())
    };
    let _ = visit_expressions(&update.selection, &mut note);
    let _ = visit_expressions(&update.from, &mut note);
    Some(updated)
}

/// The one table, without its schema.
fn table(from: &TableWithJoins) -> Option<String> {
    match &from.relation {
        TableFactor::Table { name, args: None, .. } if from.joins.is_empty() => last(name),
        _ => None,
    }
}

fn last(name: &ObjectName) -> Option<String> {
    name.0.last()?.as_ident().map(plain)
}

/// As PostgreSQL reads a name: in small letters, unless it is quoted.
fn plain(name: &Ident) -> String {
    match name.quote_style {
        Some(_) => name.value.clone(),
        None => name.value.to_lowercase(),
    }
}

fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(plain(name)),
        Expr::CompoundIdentifier(names) => names.last().map(plain),
        Expr::Nested(inner) => column(inner),
        Expr::Cast { expr, .. } => column(expr),
        _ => None,
    }
}

/// A parameter or a number. Words such as `'PAID'` aren't computed from what was read.
fn is_bare(expr: &Expr) -> bool {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Placeholder(_) | Value::Number(..) => true,
            Value::SingleQuotedString(text) => text.parse::<f64>().is_ok(),
            _ => false,
        },
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => is_bare(inner),
        Expr::Cast { expr, .. } => is_bare(expr),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &BTreeSet<String>) -> Vec<&str> {
        of.iter().map(String::as_str).collect()
    }

    #[test]
    fn an_update_is_read_with_its_assignments_and_its_condition() {
        let sql = include_str!("../shop/sql/take_stock_of_version.sql");
        let Some(Reading::Update(update)) = read(sql) else { panic!("it is an UPDATE") };
        assert_eq!(update.table, "product_stock");
        assert_eq!(names(&update.assigned), ["available", "last_fence", "version"]);
        assert_eq!(names(&update.bare), [""; 0]);
        assert_eq!(names(&update.equal), ["product_id", "version"]);
        assert!(update.mentioned.contains("last_fence"));
    }

    #[test]
    fn every_statement_of_the_shop_can_be_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/shop/sql");
        for file in std::fs::read_dir(folder).expect("the shop has statements") {
            let path = file.expect("the folder can be read").path();
            let sql = std::fs::read_to_string(&path).expect("a statement is text");
            if !path.ends_with("tables.sql") {
                assert!(read(&sql).is_some(), "{}", path.display());
            }
        }
    }

    #[test]
    fn what_is_cut_doubled_deep_or_nothing_at_all_says_nothing() {
        let deep = format!("SELECT {}1{} FROM t", "(".repeat(3_000), ")".repeat(3_000));
        let long = format!("UPDATE t SET a = 1 WHERE b = 1{}", " AND b = 1".repeat(10_000));
        for sql in ["", ";", "UPDATE t SET a = $1 WHERE", "SELECT 1; SELECT 2", "\0", &deep, &long]
        {
            assert_eq!(read(sql), None, "{sql:.40}");
        }
        let chain = format!("UPDATE t SET a = 1 WHERE b{}", " OR b".repeat(1_600));
        assert!(read(&chain).is_some());
        assert_eq!(read("SELECT a FROM t FOR UPDATE…"), None);
    }

    #[test]
    fn a_transaction_says_whether_its_reads_repeat() {
        for (sql, repeats) in [
            ("BEGIN", false),
            ("BEGIN ISOLATION LEVEL READ COMMITTED", false),
            ("START TRANSACTION ISOLATION LEVEL REPEATABLE READ", true),
            ("BEGIN ISOLATION LEVEL SERIALIZABLE, READ WRITE", true),
        ] {
            assert_eq!(read(sql), Some(Reading::Begin { repeats }), "{sql}");
        }
    }
}
