//! Mistakes in a profile (C..).
//!
//! All of them are found before anything is started, and all of a file's are shown at once.

use super::Code;

/// All of them.
pub static MISTAKES: [&Code; 44] = [
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
    &MUTATION,
    &NOTHING_TO_MUTATE,
    &NOTHING_VARIES,
    &RACE,
    &HOLE_NEVER_FILLED,
    &ARRIVAL,
    &RELEASE,
    &NOTHING_CONTENDED,
    &SHARES,
    &KEY_CARRIER,
    &KEY_TOO_LONG,
    &DEFAULTS,
    &HOST_NOT_ALLOWED,
    &TARGET_CONFLICT,
    &DATABASE_MISSING,
    &LITERAL_SECRET,
    &NOT_ONE_SELECT,
    &POOL_TOO_SMALL,
    &PROXY_ADDRESS,
    &STEP_PATTERN,
    &FAULT_POINT,
    &FAULT_NEVER_FIRES,
    &FAILURE,
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
    "Each `${NAME}` is looked up in the environment; its value is never shown.",
    &["a variable that wasn't exported", "a typing error in its name"],
    "Export the variable before the run. `$${NAME}` stands for the text itself.",
);
pub static TEMPLATE: Code = mistake(
    ("C010", "template-hole", "every hole of a template can be filled"),
    "A template names something that a request can't be filled with, or a brace stands alone.",
    "Templates are read when the profile is read.",
    &["a slip of the pen", "a brace that should be text"],
    "The holes are `{user}`, `{key}`, `{product}`, `{quantity}`, `{uuid}`, `{order}` (in a race) and `{token}`; `{{` and `}}` are braces.",
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
    ("C018", "burst-too-large", "a phase stays within what one client can hold"),
    "Users times threads is more than one client can hold as open connections (50,000), or a phase sends more than 5,000,000 attempts.",
    "The product is computed for each phase.",
    &["a zero too many"],
    "Use fewer users or threads: 200 x 20 finds what 2,000 x 200 would find.",
);
pub static STOCK_TOO_SMALL: Code = mistake(
    ("C019", "stock-too-small", "no product sells out by accident"),
    "The bursts order more of a product than there is. Honest orders would be refused, and the drill would show less than it seems to.",
    "The users of each burst are dealt out over the products; the units that they may get are added up over all phases. A changed intent counts with the most that it may ask for, a burst for the last unit not at all: it has a product of its own.",
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
pub static MUTATION: Code = mistake(
    ("C022", "mutation", "a mutation changes the intent"),
    "A `mutate` pointer leads to nothing in the body, to a field that is ignored, or gives a field the value that it has. The changed request would be the same intent, and a service that is right would be told that it is wrong.",
    "Each pointer is followed through the body; its values are compared with what stands there.",
    &["a field that was renamed", "a field that also stands in `ignored`"],
    "Point at a field that belongs to the intent, and give it other values.",
);
pub static NOTHING_TO_MUTATE: Code = mistake(
    ("C023", "nothing-to-mutate", "a burst with changed intents knows what to change"),
    "A burst sends changed intents, and its request has no `mutate` that says what changes.",
    COMPARED,
    &["`mutate` left out, or written for another request"],
    "Add it to the request: `mutate = { \"/quantity\" = [2, 3] }`.",
);
pub static NOTHING_VARIES: Code = mistake(
    ("C024", "nothing-varies", "a burst with variants has bytes to vary"),
    "A burst sends variants of one request, and the request has no body: all variants would be the same bytes.",
    COMPARED,
    &["a request whose parameters are in its path"],
    "Give the request a body, or use `burst.same-key`.",
);
pub static RACE: Code = mistake(
    ("C025", "race-at-nothing", "a race has two sides and an entity"),
    "A race needs at least two requests that run into each other, or several `threads` of one, and each must say with `{order}` which entity it means. Otherwise nothing is raced for.",
    "The requests that a race names are counted and searched for `{order}`.",
    &["one request in the list", "an id that was written out"],
    "Name two requests, such as `requests = [\"pay\", \"close\"]`, or give one request two `threads`, with `{order}` in their path, headers or body.",
);
pub static HOLE_NEVER_FILLED: Code = mistake(
    ("C026", "hole-never-filled", "every hole of a request has something to be filled with"),
    "A request has a hole that nothing fills where it is sent: `{order}` is known only to the requests of a race, `{token}` only after a login or in a burst with submit tokens. A burst with submit tokens, on the other hand, must send what it was given.",
    "The holes of each request are compared with the bursts that send it.",
    &["a request of a race in another burst", "`actor.login.token-at` left out"],
    "Send the request where its holes have a meaning, or take the hole out.",
);
pub static ARRIVAL: Code = mistake(
    ("C027", "arrival", "a burst arrives in one way"),
    "Keys of a burst contradict each other about when its attempts leave: a stagger is one way of arriving, and a frozen release lets everything arrive at once.",
    COMPARED,
    &["`stagger` beside another `arrival`"],
    "Keep one of them.",
);
pub static RELEASE: Code = mistake(
    ("C028", "frozen-without-process", "only processes of ours are frozen"),
    "A frozen release stops the target's processes. An attached target runs elsewhere, and dupeproof touches no process that it hasn't started.",
    COMPARED,
    &["a profile for the lab, turned to an attached target"],
    "Leave `release` out: then it is `loop`. Or let dupeproof start the target: `[target] launch`.",
);
pub static NOTHING_CONTENDED: Code = mistake(
    ("C029", "nothing-contended", "a burst has something to contend for"),
    "The numbers of a burst leave nothing to contend for: one attempt for each key, one user for each shared key, or stock for every buyer. Whatever the target does, it would pass.",
    COMPARED,
    &["a number that was lowered for a quick try"],
    "Raise `threads` (2 or more), `sharing` (2 or more), or the buyers; or lower the stock.",
);
pub static SHARES: Code = mistake(
    ("C030", "shares", "shares add up to at most 1"),
    "The shares of a mixed burst add up to more than all of its attempts, or to nothing at all; or those of `[lab.payments]` to more than all charges.",
    "The shares are added up.",
    &["a percentage written for a share"],
    "Lower them: what is left over repeats the original bytes. With no share at all use `burst.same-key`.",
);
pub static KEY_CARRIER: Code = mistake(
    ("C031", "key-carrier", "the key travels where the contract says"),
    "The contract says which header or field of the body carries the key, and the request doesn't send it there. The target would see requests without a key.",
    "The contract's carrier is looked up in each request that a burst sends.",
    &["a preset of a service with another header", "a request that was written for another preset"],
    "Put `{key}` into the contract's header or field, or correct `[contract] key`.",
);
pub static KEY_TOO_LONG: Code = mistake(
    ("C032", "key-too-long", "keys are as long as the contract allows"),
    "The keys of the run would be longer than the contract allows, so that a service that is right refuses them all.",
    "The text around `{key}` and the longest key of the run are added up.",
    &["a long text in front of `{key}`", "a contract for short keys"],
    "Shorten the text around `{key}`, or correct `[contract] key.longest`.",
);
pub static DEFAULTS: Code = mistake(
    ("C033", "defaults", "a default can be left out or written"),
    "A default belongs to a field that can stand in the body. Here the way to it doesn't exist, or the body gives it another value, so that leaving it out would change the intent.",
    "Each pointer is followed through the request's body.",
    &["a field that was renamed"],
    "Point at a field of an object in the body, and write the default that the target uses.",
);
pub static HOST_NOT_ALLOWED: Code = mistake(
    ("C034", "host-not-allowed", "only this machine, or hosts that are listed"),
    "A drill sends thousands of duplicates and reads a database. It does so on this machine without being asked twice; any other host must be named, so that no slip turns a drill on a production system.",
    "Every host of `[target] urls`, and of `url` in `[postgres]`, `[redis]` and `[payments]`, must be loopback or stand in `allow-hosts`. The list itself takes nothing from the environment.",
    &["a URL from the environment that points elsewhere", "a staging host that isn't listed yet"],
    "If it is the host that you mean, list it: `allow-hosts = [\"staging.example.com\"]`.",
);
pub static TARGET_CONFLICT: Code = mistake(
    ("C035", "target-conflict", "a profile describes one target"),
    "Keys belong to different targets: `[lab]` builds the shop of the lab, `[postgres]` is the database of an attached target, and a launched target has servers of its own.",
    COMPARED,
    &["a profile for the lab, turned to another target"],
    "Take out what belongs to the other target.",
);
pub static DATABASE_MISSING: Code = mistake(
    ("C036", "database-missing", "the audit has a database to read"),
    "The verdict rests on the rows of the target's database, and the profile doesn't say where that is.",
    COMPARED,
    &["`[postgres]` left out"],
    "Add `[postgres] url = \"${DATABASE_URL}\"`, with a user that may read the audited tables.",
);
pub static LITERAL_SECRET: Code = mistake(
    ("C037", "literal-secret", "secrets come from the environment"),
    "A password, token or cookie stands in the profile as it is. Profiles are shared, and a copy goes into every results folder.",
    "URLs are searched for passwords; headers that carry credentials (authorization, cookie, x-api-key and their kin) must take them from the environment or have a hole.",
    &["a profile that was tried out quickly"],
    "Write `${NAME}` in its place and export the variable before the run.",
);
pub static NOT_ONE_SELECT: Code = mistake(
    ("C038", "not-one-select", "a check of your own is one SELECT"),
    "The query of `[[audit.sql]]` isn't one statement that begins with SELECT or WITH. It runs in a transaction that can only read.",
    "The first word, and semicolons outside of quotes and comments.",
    &["two statements in one text", "a statement that changes something"],
    "Write one SELECT for each check; what changes the database belongs in `[setup]`.",
);
pub static POOL_TOO_SMALL: Code = mistake(
    ("C039", "pool-too-small", "there are users and products for everybody"),
    "The profile lists users or products that exist already, and fewer than the phases need.",
    "Where orders are told apart by their user, the intents of all phases are counted against `[actor] users`; `[products] count` is compared with `[actor] products`.",
    &["a pool that was made for a smaller drill"],
    "List more of them, or lower the numbers of the phases.",
);
pub static PROXY_ADDRESS: Code = mistake(
    ("C040", "proxy-address", "a proxy listens where it may, in front of a server"),
    "A proxy gives whoever reaches it the server behind it. So it listens on loopback alone unless another address is listed, has an address to itself, and has a server to stand in front of.",
    "The addresses of `proxy` in `[postgres]`, `[redis]` and `[payments]` are compared with each other, with `url` beside them, and with `[wires] listen-on`.",
    &["a target in a container, which can't reach loopback", "the server's own port"],
    "Take a free port on 127.0.0.1. For a target in a container list the address that it reaches: `[wires] listen-on = [\"172.17.0.1\"]`.",
);
pub static STEP_PATTERN: Code = mistake(
    ("C041", "step-pattern", "a step is named as steps are"),
    "The name of a step, by which a fault finds it, isn't one that any step has: `WIRE VERB OBJECT #n`, with a wire, a verb in capitals, what it is done to and which one of its intent; or the beginning of one. `*` is any verb.",
    "The name is compared with the grammar, and its verb with those of the wire.",
    &[
        "a verb in small letters",
        "a slip in a verb",
        "a command that only keeps a connection going",
    ],
    "Take the name from a story or from `dupeproof proxy --steps FILE`, and leave its end out where more than one step is meant.",
);
pub static FAULT_POINT: Code = mistake(
    ("C042", "fault-point", "a fault is done where it can be"),
    "Not every act can be done at every point. A request can only be dropped or refused before its server has it, a reply can only be lost after its server gave it, and a step that waits has to be held on one side of the server.",
    COMPARED,
    &["`before` in place of `after`", "an act on a step that was given a time"],
    "Name the point that the message tells, or another act.",
);
pub static FAULT_NEVER_FIRES: Code = mistake(
    ("C043", "fault-never-fires", "a fault can fire"),
    "As it is written, nothing that happens can set this fault off: it names an instance that isn't there, a wire without a proxy, or what no step of its wire has. The run would be inconclusive, whatever the target does.",
    COMPARED,
    &[
        "proxies switched off",
        "a table beside a step of Redis",
        "a lease whose keys nobody has told",
    ],
    "Put the proxy in place, or let the fault name what there is.",
);
pub static FAILURE: Code = mistake(
    ("C044", "failure", "an error is one that its server gives"),
    "The error that a client is to be given isn't one of the step's server: PostgreSQL has a SQLSTATE of five characters, Redis a line that begins with a code in capitals, HTTP a status.",
    COMPARED,
    &[
        "a status for a step of PostgreSQL",
        "a SQLSTATE of success",
        "the minus of an error of Redis",
    ],
    "Give the error of the wire that the step is on.",
);
