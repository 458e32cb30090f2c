//! Checks of the profile's own (U..).

use super::Code;

/// Its severity is the one that the profile gives to each check.
pub static U01: Code = Code {
    id: "U01",
    slug: "own-checks",
    title: "the profile's own checks",
    severity: None,
    what: "A check of the profile's own, `[[audit.sql]]`, returned rows that it hadn't returned at the \
           baseline. Its title and its severity are the profile's.",
    checked: "Each statement runs in the audit's read-only transaction, behind a savepoint and with a \
              time-out; rows equal to those of the baseline don't count.",
    causes: &["whatever the check looks for"],
    cure: "Look at the rows; run the statement of `[[audit.sql]]` by hand.",
};

/// All of them.
pub static OWN: [&Code; 1] = [&U01];
