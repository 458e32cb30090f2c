//! Pairs of experiments that hold a step: X05 to X08, X18, X23, X24.

use super::table::{Pair, efficiency, protected, violated};

pub const PAIRS: &[Pair] = &[
    violated("x05-d01-unlock-before-commit", "I02"),
    violated("x05-d24-no-unique-constraint", "I02"),
    violated("x05-d25-check-then-insert", "I02"),
    violated("x05-d26-duplicate-key-500", "I08"),
    violated("x05-d27-duplicate-then-select-in-same-tx", "I08"),
    // The data are right, and the buyer's retry too: only what was told first is not.
    protected("x05-d28-on-conflict-under-rr", "I22"),
    violated("x05-d46-claim-get-then-set", "I02"),
    violated("x05-d56-waits-for-first", "I21"),
    violated("x05-d57-in-progress-without-hint", "I21"),
    violated("x05-d73-unique-index-lets-null-or-deleted-escape", "I02"),
    violated("x06-d41-fingerprint-not-checked-in-progress", "I07"),
    violated("x07-d11-lock-on-user-not-stock", "I03"),
    violated("x07-d23-no-available-guard", "I01"),
    violated("x07-d29-rmw-stock", "I03"),
    violated("x07-d35-for-update-outside-tx", "I03"),
    violated("x08-d01-unlock-before-commit", "I02"),
    violated("x08-d34-snapshot-before-lock", "I02"),
    violated("x08-d61-record-expires-before-commit", "I02"),
    violated("x18-d64-status-update-unconditional", "I10"),
    violated("x18-d65-late-pay-revives-closed", "I10"),
    violated("x18-d66-zero-rows-is-success", "I25"),
    violated("x23-d62-token-check-then-delete", "I02"),
    efficiency("x24-d10-global-lock-key", "L12"),
    efficiency("x24-d36-external-call-in-tx", "L12"),
];
