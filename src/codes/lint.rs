//! Lint (L..): what the schema or the wire shows to be weak, whether anything broke or not.
//!
//! Protected, until a witness raises it under the id of what it broke.

use super::{Code, Severity};

pub static L10: Code = Code {
    id: "L10",
    slug: "schema-has-the-last-word",
    title: "the schema is a last defence",
    severity: Some(Severity::Protected),
    what: "The database itself would accept a second order for one key, or a negative stock. All is \
           well as long as everything before it holds; the database is the last line of defence, and \
           it isn't there.",
    checked: "Unique indexes of the orders table over the columns that make an order unique: a whole \
              one, none of whose columns may be NULL (where requests without a key are rejected). A \
              check constraint on the stock's `available`.",
    causes: &[
        "no unique index over user and key",
        "an index with a WHERE clause, such as `WHERE deleted_at IS NULL`: rows escape it",
        "a key column that may be NULL: a unique index lets any number of NULLs in",
        "no `CHECK (available >= 0)`",
    ],
    cure: "ALTER TABLE ... ALTER COLUMN ... SET NOT NULL; CREATE UNIQUE INDEX CONCURRENTLY over the \
           columns that the finding names; ADD CHECK (available >= 0) NOT VALID, then VALIDATE.",
};

/// All of them.
pub static LINTS: [&Code; 1] = [&L10];
