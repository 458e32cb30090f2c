//! Mistakes in a profile (C..).
//!
//! All of them are found before anything is started, and all of a file's are shown at once.

use super::Code;

/// All of them.
pub static MISTAKES: [&Code; 21] = [
    &SYNTAX,
    &UNKNOWN_KEY,
    &WRONG_TYPE,
    &OUT_OF_RANGE,
    &UNREADABLE_AMOUNT,
    &UNKNOWN_WORD,
    &MISSING_KEY,
    &ONE_OF,
    &VARIABLE,
    &TEMPLATE,
    &POINTER,
    &MALFORMED_TEXT,
    &GIVEN_TWICE,
    &UNKNOWN_REQUEST,
    &IGNORED_NOT_IN_BODY,
    &KEY_NEVER_SENT,
    &COLUMN_NOT_AUDITED,
    &BURST_TOO_LARGE,
    &STOCK_TOO_SMALL,
    &SOLD_WITHOUT_STATUS,
    &UNREADABLE_PROFILE,
];

const CHECKED: &str = "The profile is compared with the description of all its keys.";
const COMPARED: &str = "Values of the profile are compared with each other.";

/// A mistake: what holds otherwise, what it means, how it is found, its cause and its cure.
const fn mistake(
    (id, slug, title): (&'static str, &'static str, &'static str),
    what: &'static str,
    checked: &'static str,
    causes: &'static [&'static str],
    cure: &'static str,
) -> Code {
    Code { id, slug, title, severity: None, what, checked, causes, cure }
}

pub static SYNTAX: Code = mistake(
    ("C001", "toml-syntax", "the profile is TOML"),
    "The file can't be read as TOML, so nothing in it can be checked yet.",
    "The TOML parser stops at this place.",
    &["a text without quotes", "a bracket or quote that isn't closed", "a key given twice"],
    "Mend the line; the other mistakes show up once the file can be read.",
);
pub static UNKNOWN_KEY: Code = mistake(
    ("C002", "unknown-key", "every key is known"),
    "A key means nothing in this table. It would have been ignored, and the drill would have been another one than intended.",
    CHECKED,
    &["a slip of the pen", "a key that belongs to another table"],
    "Use the key that the message suggests, or take it out.",
);
pub static WRONG_TYPE: Code = mistake(
    ("C003", "wrong-type", "every value has its type"),
    "A value is of another kind than its key wants, such as a text in place of a number.",
    CHECKED,
    &["quotes around a number", "one value where a list is wanted", "`[phase]` for `[[phase]]`"],
    "Write it as the example in the message.",
);
pub static OUT_OF_RANGE: Code = mistake(
    ("C004", "out-of-range", "every number is in its range"),
    "A number, duration or size is smaller or larger than what makes sense.",
    CHECKED,
    &["a wrong unit", "a zero too many"],
    "Stay within the limits that the message names.",
);
pub static UNREADABLE_AMOUNT: Code = mistake(
    ("C005", "unreadable-amount", "durations and sizes have one number and one unit"),
    "A duration or a size can't be read.",
    CHECKED,
    &["a unit left out", "a fraction", "two units in one"],
    "Write a whole number with its unit: `500ms`, `2s`, `24h`, `64KiB`, `1MiB`.",
);
pub static UNKNOWN_WORD: Code = mistake(
    ("C006", "unknown-word", "every choice is among those there are"),
    "A choice among fixed words was given a word that isn't one of them.",
    CHECKED,
    &["a slip of the pen"],
    "Take one of the words that the message lists.",
);
pub static MISSING_KEY: Code = mistake(
    ("C007", "missing-key", "every required key is there"),
    "A key that has no sensible default was left out.",
    CHECKED,
    &["an unfinished profile"],
    "Add the key; the message shows an example.",
);
pub static ONE_OF: Code = mistake(
    ("C008", "exactly-one-of", "of several alternatives there is exactly one"),
    "A table offers alternatives, such as the kinds of a burst or the method of a request, and has none of them or more than one.",
    CHECKED,
    &["two phases in one table", "an unfinished profile"],
    "Keep one alternative. For two bursts write two `[[phase]]` tables.",
);
pub static VARIABLE: Code = mistake(
    ("C009", "environment-variable", "every `${NAME}` has a value and is allowed where it stands"),
    "A variable of the environment is not set, empty, unfit for its place, or used where a secret could leak into results.",
    "Each `${NAME}` of a request is looked up in the environment; its value is never shown.",
    &["a variable that wasn't exported", "a typing error in its name"],
    "Export the variable before the run. `$${NAME}` stands for the text itself.",
);
pub static TEMPLATE: Code = mistake(
    ("C010", "template-hole", "every hole of a template can be filled"),
    "A template names something that a request can't be filled with, or a brace stands alone.",
    "Templates are read when the profile is read.",
    &["a slip of the pen", "a brace that should be text"],
    "The holes are `{user}`, `{key}`, `{product}`, `{quantity}` and `{uuid}`; `{{` and `}}` are braces.",
);
pub static POINTER: Code = mistake(
    ("C011", "json-pointer", "JSON pointers are well formed"),
    "A JSON pointer (RFC 6901) can't be read.",
    CHECKED,
    &["a field's name without its `/`", "JSONPath in place of a pointer"],
    "Write `/orderId`, `/order/id` or `/items/0/id`.",
);
pub static MALFORMED_TEXT: Code = mistake(
    ("C012", "malformed-text", "names, paths and header values are well formed"),
    "A text doesn't have the form that its place needs.",
    CHECKED,
    &["characters that aren't allowed there", "an empty text"],
    "Write it in the form that the message names.",
);
pub static GIVEN_TWICE: Code = mistake(
    ("C013", "given-twice", "what must differ differs"),
    "Two phases share a name, a list names something twice, or a header is given twice.",
    COMPARED,
    &["a phase copied and not renamed"],
    "Rename or remove one of them: results are found by the name of their phase.",
);
pub static UNKNOWN_REQUEST: Code = mistake(
    ("C014", "unknown-request", "every request that is named exists"),
    "A burst sends a request that no `[request.NAME]` table describes.",
    COMPARED,
    &["a slip of the pen", "a request that was renamed"],
    "Name a request that exists, or add its table.",
);
pub static IGNORED_NOT_IN_BODY: Code = mistake(
    ("C015", "ignored-not-in-body", "what is ignored is in the body"),
    "An `ignored` pointer leads to nothing in the request's body, so it ignores nothing.",
    "Each pointer is followed through the request's body.",
    &["a field that was renamed", "a pointer into the reply"],
    "Point at a field of the body, or take the pointer out.",
);
pub static KEY_NEVER_SENT: Code = mistake(
    ("C016", "key-never-sent", "requests carry their key"),
    "No part of the request contains `{key}`, so the target can't know which attempts belong together.",
    "Path, headers and body of the request are searched for `{key}`.",
    &["a fixed text or `{uuid}` in the key's header"],
    "Send it: `headers = { Idempotency-Key = \"{key}\" }`.",
);
pub static COLUMN_NOT_AUDITED: Code = mistake(
    ("C017", "column-not-audited", "the audit reads the columns that the contract counts by"),
    "The contract allows one order per combination of columns, and the audit isn't told where to find one of them. Nothing could be judged.",
    "`[contract] one-order-per` (by default user and key) is compared with `[audit] orders`.",
    &["a column left out of `[audit] orders`"],
    "Name the column in `[audit] orders`, or count by columns that there are.",
);
pub static BURST_TOO_LARGE: Code = mistake(
    ("C018", "burst-too-large", "a burst stays below 50,000 attempts"),
    "Users times threads is more than one client can hold as open connections.",
    "The product is computed for each burst.",
    &["a zero too many"],
    "Use fewer users or threads: 200 x 20 finds what 2,000 x 200 would find.",
);
pub static STOCK_TOO_SMALL: Code = mistake(
    ("C019", "stock-too-small", "no product sells out by accident"),
    "The bursts order more of a product than there is. Honest orders would be refused, and the drill would show less than it seems to.",
    "The users of each burst are dealt out over the products; their units are added up over all phases.",
    &["the default stock was lowered", "many users on one product"],
    "Raise `[products] stock` or `count`.",
);
pub static SOLD_WITHOUT_STATUS: Code = mistake(
    ("C020", "sold-without-status", "`sold` has a column to be compared with"),
    "`sold` lists values of the status column, and `[audit] orders` doesn't name that column.",
    COMPARED,
    &["`status` left out"],
    "Add `status = \"status\"` beside it, or remove `sold`: then all orders count.",
);
pub static UNREADABLE_PROFILE: Code = mistake(
    ("C021", "unreadable-profile", "the profile can be read"),
    "The profile isn't there, or isn't a text file of a sensible size.",
    "The file is opened and read, at most 1 MiB of it.",
    &["a typing error in its path", "the wrong folder", "no permission"],
    "Give the path of a profile, such as `profiles/checkout.toml`.",
);
