//! The drill of each defect under `profiles/defects/`, and the invariant that it must break.

/// File name without its ending, and the code of the finding.
pub const DEFECT_DRILLS: [(&str, &str); 24] = [
    ("d23-no-available-guard", "I01"),
    ("d26-duplicate-key-500", "I08"),
    ("d27-duplicate-then-select-in-same-tx", "I08"),
    ("d38-fingerprint-raw-json", "I07"),
    ("d39-fingerprint-misses-quantity", "I07"),
    ("d40-fingerprint-includes-volatile", "I07"),
    ("d41-fingerprint-not-checked-in-progress", "I07"),
    ("d42-fingerprint-never-checked", "I07"),
    ("d43-fingerprint-float-ids", "I07"),
    ("d44-key-not-scoped", "I09"),
    ("d45-claim-in-process-memory", "I02"),
    ("d46-claim-get-then-set", "I02"),
    ("d52-snapshot-not-stored", "I06"),
    ("d53-replay-200", "I06"),
    ("d57-in-progress-without-hint", "I21"),
    ("d58-missing-key-accepted", "I26"),
    ("d59-merges-equal-bodies", "I16"),
    ("d60-mismatch-changes-record", "R3"),
    ("d62-token-check-then-delete", "I02"),
    ("d63-token-reissued-is-new-order", "I06"),
    ("d64-status-update-unconditional", "I10"),
    ("d65-late-pay-revives-closed", "I10"),
    ("d66-zero-rows-is-success", "I25"),
    ("d74-fixed-window-straddled", "I02"),
];
