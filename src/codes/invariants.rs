//! Invariants of the data and of the replies (I..).
//!
//! Some are found by way of a history rule: R1 reports as I06, R2 and R4 as I07, R8 as I05. The rest
//! of the rules are findings of their own.

use super::{Code, I11, I17, I24, Severity};

pub static I01: Code = Code {
    id: "I01",
    slug: "stock-not-negative",
    title: "no negative stock",
    severity: Some(Severity::Critical),
    what: "A product has fewer than zero units: more was sold than there was.",
    checked: "The stock of every product of the run, read before and after the repair.",
    causes: &[
        "the stock is read, checked in the program and written back without a condition",
        "the decrement has no `available >= quantity` in its WHERE clause, and the table no CHECK",
    ],
    cure: "Decrement with `UPDATE ... SET available = available - n WHERE available >= n`, act on a \
           row count of 0, and add `CHECK (available >= 0)`.",
};

pub static I02: Code = Code {
    id: "I02",
    slug: "one-order-per-key",
    title: "one order per key",
    severity: Some(Severity::Critical),
    what: "One intent became more than one valid order, or the business key that the contract \
           declares did. Customers are charged twice for one click.",
    checked: "Valid orders of the run are counted per user and key, or per declared business key. \
              Orders with an empty key or none count against the keys of their user, because a \
              unique index lets them through. Inserts that only a unique index stopped are counted \
              as protected.",
    causes: &[
        "a lock that is released before COMMIT: the next holder can't see the row yet",
        "check, then insert, with nothing in the database that refuses the second row",
        "a retry that starts over because the record of the first try was deleted or had expired",
        "a snapshot taken before the lock, at repeatable read",
        "a unique index that NULL keys or soft-deleted rows escape",
    ],
    cure: "Put a unique index over user and key (NOT NULL, not partial), insert with ON CONFLICT and \
           read the winner; release the lock after COMMIT. Then find out what the second order of \
           each listed key has already caused: payment, stock, parcel.",
};

pub static I03: Code = Code {
    id: "I03",
    slug: "stock-conserved",
    title: "stock matches orders",
    severity: Some(Severity::Critical),
    what: "What left the stock since the baseline isn't what the orders hold: units were sold that \
           never left the stock, or left it without an order.",
    checked: "Per product: stock at the baseline minus stock now, against the quantities of all \
              valid orders since the baseline, other people's included. Only on a drained database.",
    causes: &[
        "read-modify-write of the stock: two writers store the same result",
        "stock and order in two transactions, and a crash or an error in between",
        "an update that changed no row is taken for success",
        "a rejected or failed order keeps its units",
    ],
    cure: "Change stock and order in one transaction, with a conditional, relative decrement whose row \
           count must be 1. Before selling on, set the stock of the listed products right by hand.",
};

pub static I03B: Code = Code {
    id: "I03b",
    slug: "ledger-adds-up",
    title: "the stock ledger adds up",
    severity: Some(Severity::Critical),
    what: "The stock that is left isn't the stock at the start plus everything that the ledger \
           says was moved. One of the two was changed without the other.",
    checked: "Per product of the run: stock at the baseline, plus the movements written since, \
              against the stock now. Only on a drained database.",
    causes: &[
        "stock and movement are written in two transactions",
        "a read-modify-write of the stock beside an append-only ledger",
        "somebody corrected the stock by hand",
    ],
    cure: "Write the movement in the transaction that changes the stock, and derive one from the \
           other.",
};

pub static I03C: Code = Code {
    id: "I03c",
    slug: "sold-what-was-asked",
    title: "sales fit what was asked",
    severity: Some(Severity::Critical),
    what: "Fewer units were sold than the acknowledged intents hold, or more than all intents \
           together could have bought. It is seen in the stock alone, without looking at single \
           orders.",
    checked: "Per product: the units that left the stock, at least those of the acknowledged \
              intents, at most those of all intents that may have had an effect, each intent once. \
              It becomes a finding where the orders table doesn't give product and quantity; where \
              it does, I02, I03, I05 and I13 name the very order.",
    causes: &[
        "an intent that was executed twice takes its units twice",
        "a rejected or failed order keeps its units",
        "an acknowledged order never took its units",
    ],
    cure: "Map product and quantity in `[audit] orders` and run again: then the audit names the \
           orders. Take stock only in the transaction that places the order.",
};

pub static I04: Code = Code {
    id: "I04",
    slug: "order-has-its-movement",
    title: "orders and movements match",
    severity: Some(Severity::Critical),
    what: "An order without its stock movement, a movement without its order, or the two with \
           different quantities. Found before the repair and gone after it, a retry healed it (the \
           caller was misled meanwhile); still there at the end, it stays until somebody corrects \
           it by hand.",
    checked: "Every valid order since the baseline against the movements that name it; every such \
              movement against the orders table. In both audits, before and after the repair, each \
              on a drained database. Under `settles-within` what is healed in time is counted as \
              efficiency.",
    causes: &[
        "stock and order in two transactions, and a crash or an error in between",
        "no transaction at all (autocommit)",
        "an update that changed no row is taken for success",
        "a rejected order keeps its units",
    ],
    cure: "Change stock, movement and order in one transaction. If the steps are a saga, say so \
           with `contract.settles-within`, and make sure that something finishes it.",
};

pub static I05: Code = Code {
    id: "I05",
    slug: "acknowledged-order-exists",
    title: "acknowledged orders exist",
    severity: Some(Severity::Critical),
    what: "The target acknowledged an order that isn't in the database, or is there with another \
           user, key, product or quantity. The customer has a promise, the warehouse has none.",
    checked: "The order id of every acknowledged reply is looked up among the rows of the run, and \
              the mapped columns are compared with what was asked for. A missing row counts only on \
              a drained database.",
    causes: &[
        "the answer, or the stored success, is sent before COMMIT",
        "an upsert that overwrites the first order",
        "an acknowledged order is rolled back or deleted by a later step",
    ],
    cure: "Answer and store the success only after COMMIT has returned; insert with ON CONFLICT DO \
           NOTHING instead of overwriting. Call the listed customers before they call you.",
};

pub static I06: Code = Code {
    id: "I06",
    slug: "replies-agree",
    title: "replays agree",
    severity: Some(Severity::Contract),
    what: "Two acknowledged replies to the same request differ. Two order ids mean that the client \
           holds two orders (critical); another status or body misleads whoever compares them.",
    checked: "All acknowledged replies of one intent: one order id always (rule R1); status and body \
              as the contract says. Unknown and pending attempts say nothing. Where rejections are stored, \
              no attempt is acknowledged that was sent after the same request had been rejected by \
              the business.",
    causes: &[
        "the request was executed twice (see I02)",
        "the first answer isn't stored and is built again from the current state",
        "a replay has a status of its own, which the contract doesn't know",
        "the body contains a time or an id that is made anew for each answer",
    ],
    cure: "Store status and body with the idempotency record and send exactly those again. If the \
           target means to differ, say so in the contract: `replay.statuses`, `replay.body`.",
};

pub static I07: Code = Code {
    id: "I07",
    slug: "one-fingerprint-per-key",
    title: "one meaning per key",
    severity: Some(Severity::Contract),
    what: "A key stands for one request. Here a changed request was accepted under a used key, or a \
           request was refused as changed although nobody had sent another one. A second order for \
           the changed request is critical.",
    checked: "Rule R2 (two fingerprints of one key acknowledged, an order that holds another one's \
              request, or one acknowledged and another let in) and rule R4 (a mismatch without a \
              different request before it). A pending answer counts as let in only where no attempt \
              of another key was under way, for whose lock it may have waited: a burst of one user \
              shows it. Where the contract hands out the old result, or doesn't \
              say, only a second or a changed order counts.",
    causes: &[
        "the fingerprint isn't compared, or not while the first request is in progress",
        "the fingerprint leaves out a field that matters, such as the quantity",
        "the fingerprint takes in the raw bytes or a field that may differ, such as a trace id",
        "ids above 2^53 are read as floating point numbers and become equal",
    ],
    cure: "Hash a canonical form of every field that changes the intent and of no other; store it with \
           the claim, and compare it before anything else, also while in progress.",
};

pub static I08: Code = Code {
    id: "I08",
    slug: "duplicate-is-no-error",
    title: "duplicates are no errors",
    severity: Some(Severity::Contract),
    what: "A duplicate got a 5xx although the first request was known to be complete. The client \
           has an order and an error, and believes the error.",
    checked: "Every attempt whose first byte left after an acknowledgement of the same request had \
              arrived: no status of 500 or above. Attempts near the end of an instance are exempt.",
    causes: &[
        "the insert hits the unique index and the violation goes up as an error (D26)",
        "after the violation the same transaction is used to look for the winner: 25P02",
        "ON CONFLICT under repeatable read raises 40001, and nobody retries",
    ],
    cure: "Insert with ON CONFLICT DO NOTHING, or behind a savepoint, and read the winner in a \
           fresh statement; retry serialization failures inside the service.",
};

pub static I08B: Code = Code {
    id: "I08b",
    slug: "rejection-leaves-nothing",
    title: "rejections leave no order",
    severity: Some(Severity::Critical),
    what: "Every attempt of an intent was rejected by the business (sold out, unknown product), \
           and yet there is an order for it. The customer was told no and will get a parcel.",
    checked: "Valid orders of a key that hold what only rejected attempts asked for, at least one \
              of them rejected by the business. No claim if any attempt of the intent was \
              acknowledged, pending, parked or unknown.",
    causes: &[
        "the order is written before the check, in a transaction of its own",
        "the rejection answers a later step of work that has been committed in part",
    ],
    cure: "Check and write in one transaction, and let a rejection roll it back.",
};

pub static I09: Code = Code {
    id: "I09",
    slug: "key-belongs-to-its-user",
    title: "a key belongs to its user",
    severity: Some(Severity::Contract),
    what: "Two users sent the same key string and were not served independently: one was told of \
           the other's order, or was refused because of it. With guessable keys one customer reads \
           another one's orders.",
    checked: "No order id is acknowledged to two users; no request is refused as changed when only \
              another user had sent something else under the same string. Where the contract's \
              keys belong to the account, one key string is one intent whoever sends it, and I02, \
              I06 and I07 judge it as such.",
    causes: &[
        "the record is looked up by the key alone (D44)",
        "the user is taken from the stored answer and not from the request",
    ],
    cure: "Make user (and route) part of the record's key and of the unique index.",
};

pub static I10: Code = Code {
    id: "I10",
    slug: "never-paid-and-closed",
    title: "never paid and closed",
    severity: Some(Severity::Critical),
    what: "An order is paid and closed at once, or two requests that exclude each other were both \
           acknowledged for it. The money is taken and the goods are back on the shelf.",
    checked: "Rows with a time of payment and a time of closing. And, for two requests that in \
              this run refused each other in both orders, an order for which both were \
              acknowledged.",
    causes: &[
        "check the status, then update without a condition (D64)",
        "a late payment revives a closed order (D65)",
    ],
    cure: "Change a status by one conditional update (`... AND status = 'CREATED'`) and act on a \
           row count of 0: look at the status, and refuse or say that it is done already.",
};

pub static I13: Code = Code {
    id: "I13",
    slug: "no-orphan-order",
    title: "no orphaned order",
    severity: Some(Severity::Critical),
    what: "There is an order with a user, a key or a product of this run that nobody asked for.",
    checked: "Every order since the baseline that names a user, key or product of the run must match \
              an attempt that was sent. Orders of other users under their own keys are left out.",
    causes: &[
        "user, key or product get mixed up between concurrent requests (shared state)",
        "the key is stored in another form than it was sent in, or for another user",
        "a background job creates orders by itself",
    ],
    cure: "Compare the listed rows with the requests of their user; look for request state that is \
           kept outside the request (a static field, a reused buffer, a thread-local).",
};

pub static I14: Code = Code {
    id: "I14",
    slug: "one-charge-per-order",
    title: "one charge per order",
    severity: Some(Severity::Critical),
    what: "The payment provider took money twice for one order, or for an order that is closed, not \
           there, or never became paid. Or an order was asked to be paid under several payment ids, \
           so that a lost reply is enough to charge it twice.",
    checked: "The provider's log, read with the rows: charges that weren't given back in full, per \
              order, and the payment ids under which they were asked for. Ids that were declined \
              don't count either. An order that is neither paid nor closed has until the contract's \
              `recovery-limit` after its charge; a closed one until `settles-within` for its refund. \
              Not judged without such a log.",
    causes: &[
        "a new payment id for each try (D67)",
        "the charge is made before the step that allows it is committed (D68)",
        "an unclear payment is never settled (D69)",
        "the order can be closed while its payment is under way",
    ],
    cure: "Commit PAYING first, with a condition; then charge, outside of any transaction, under an id \
           that follows from the order; then commit PAID. Settle what is unclear by asking the \
           provider about that id. Refund the listed charges.",
};

pub static I16: Code = Code {
    id: "I16",
    slug: "fresh-key-is-fresh-order",
    title: "another key is another order",
    severity: Some(Severity::Contract),
    what: "Two keys of one user with equal bodies got one order: two purchases were merged. Or, \
           where the contract declares a window, two orders came of equal bodies within one \
           window.",
    checked: "Acknowledged order ids per key: no id under two keys of a user. With a window: two \
              acknowledged orders for the same request of a user, all of whose attempts lie within \
              one window (critical). Off where a business key is declared.",
    causes: &[
        "requests are deduplicated by their body, whatever the key says (D59)",
        "a fixed window whose edge lies between two attempts (D74)",
        "a submit token that is issued again and counted as a new order (D63)",
    ],
    cure: "Let the key decide. If equal bodies are meant to be one order for a while, declare \
           `contract.window`, and measure it from the first order, not from a fixed grid.",
};

pub static I18: Code = Code {
    id: "I18",
    slug: "rejected-had-no-effect",
    title: "refusals have no effect",
    severity: Some(Severity::Critical),
    what: "An order holds exactly what was only asked for by rejected requests: a changed request \
           under a used key, or a request without a proper key. The client was told no, and it \
           happened all the same.",
    checked: "Orders of a key that hold what only rejected attempts asked for; orders of users who \
              only ever sent missing or malformed keys that the target rejected.",
    causes: &[
        "the fingerprint is compared after the work has been done",
        "a mismatch overwrites the stored order or record (D60)",
        "the key is checked after the insert",
    ],
    cure: "Check the key and compare the fingerprint before anything is written.",
};

pub static I21: Code = Code {
    id: "I21",
    slug: "reply-in-time",
    title: "answers come in time",
    severity: Some(Severity::Contract),
    what: "A caller waited longer than the contract's longest wait, or was told `in progress` \
           without the hint that the contract promises (Retry-After, Location).",
    checked: "For every attempt that was sent whole: the time from its release to its answer, or \
              to the moment when the client gave up, if that was later than the longest wait. For \
              every pending answer: the promised hint. Attempts near the end of an instance are \
              exempt. What the client's own time-out cut off earlier says nothing.",
    causes: &[
        "a duplicate waits for the first one without a bound (D56)",
        "a lock is waited for without a bound (D12)",
        "the hint is set on one path only (D57)",
    ],
    cure: "Bound every wait, answer `in progress` with Retry-After or Location when it runs out, \
           and let the client come back.",
};

pub static I22: Code = Code {
    id: "I22",
    slug: "retried-by-the-service",
    title: "40001 and deadlocks are retried",
    severity: Some(Severity::Protected),
    what: "PostgreSQL ended a transaction with 40001 or 40P01, which asks for nothing but another try, and the \
           caller was told of a failure after the first one; or transactions ran into a deadlock at all. The \
           data are right; whoever asked has to ask again.",
    checked: "Statements that were answered with 40001 or 40P01, not by a fault of the drill: whether the \
              attempt that they are certainly part of got a 5xx after this one try.",
    causes: &[
        "`ON CONFLICT` above read committed is taken for safe (D28)",
        "a retry around the statement in place of the transaction",
        "rows are locked in different orders (D71)",
    ],
    cure: "Repeat the whole transaction, a few times, with a pause; lock rows in one order everywhere.",
};

pub static I25: Code = Code {
    id: "I25",
    slug: "replies-can-be-read",
    title: "replies say what is so",
    severity: Some(Severity::Contract),
    what: "A success that can't be read (no body, no order id), an answer that no clause of the \
           contract knows, or one that the rows contradict: sold out while nobody could have had \
           the stock, paid while the order is closed.",
    checked: "Every complete 2xx has a body with an order id, and a status of a first success or of a \
              replay. Every other answer below 500 belongs to a clause, unless the contract is silent \
              about what it may be; not looked at where no such request was acknowledged at all. A \
              business rejection that says sold out, of an intent that wants no more than was there \
              at the baseline and at the end, while no other intent of the product was ever sent. A \
              reply that names a status which the order hasn't got, although nothing else can have \
              moved it since.",
    causes: &[
        "an empty 200 or 204 for a replay",
        "`in progress` or a changed request is answered with a status of its own",
        "a stale fence or a lost lock is reported as sold out (D22)",
        "an update that changed no row is taken for success (D66)",
    ],
    cure: "Answer with the order that there is; give each reason its own code; act on a row count \
           of 0.",
};

pub static I26: Code = Code {
    id: "I26",
    slug: "bad-keys-are-answered",
    title: "bad keys are turned away",
    severity: Some(Severity::Contract),
    what: "A request without a key, or with a malformed one, wasn't answered as the contract says. \
           Clients that forget the key are executed without protection and never hear of it.",
    checked: "Requests with a missing, empty, overlong, doubled or wrongly written key: rejected \
              where the contract rejects them, with the answer that it names; not rejected for \
              its key where it executes requests without one. Where it doesn't say, anything goes.",
    causes: &[
        "the key is optional in the code and mandatory in the documentation (D58)",
        "an overlong key is cut and then shared by several intents",
    ],
    cure: "Check presence, length and syntax of the key first; or declare in `[contract]` what \
           really happens.",
};

pub static I27: Code = Code {
    id: "I27",
    slug: "target-stays-up",
    title: "the target stays up",
    severity: Some(Severity::Contract),
    what: "An instance of the target ended, and dupeproof didn't end it.",
    checked: "Exits of the target's processes that no fault of the drill explains.",
    causes: &[
        "an unhandled error, often a lost connection to Redis or PostgreSQL",
        "out of memory, or out of file descriptors under the burst",
    ],
    cure: "Read its last words below and its log in the results folder; handle the error where it \
           arises, so that one request fails and not the process.",
};

pub static I29: Code = Code {
    id: "I29",
    slug: "lease-is-its-holders",
    title: "leases are their holders' alone",
    severity: Some(Severity::Protected),
    what: "A lease was removed or prolonged by a request that didn't hold it, or the lock was granted to a \
           second token while the first one's lease lived. Two were let in at once; what the lock protects \
           rests on the next line of defence.",
    checked: "All steps of a lock's key on all links. A lease certainly lives from the reply to its grant \
              until a term after the grant was sent, as far as no step may have ended it; steps whose \
              times overlap have no order, and nothing is said of them.",
    causes: &[
        "a late DEL by name alone (D02, D03, D16)",
        "one token for all holders (D06)",
        "a renewal by name alone (D07)",
        "Redis lost the lock in a failover, or was restarted without its data (D17)",
    ],
    cure: "Compare the token in the script that removes or renews; let the resource check a fence, since no \
           lease keeps a late holder from writing.",
};

/// All of them.
pub static INVARIANTS: [&Code; 26] = [
    &I01, &I02, &I03, &I03B, &I03C, &I04, &I05, &I06, &I07, &I08, &I08B, &I09, &I10, &I11, &I13,
    &I14, &I16, &I17, &I18, &I21, &I22, &I24, &I25, &I26, &I27, &I29,
];
