//! What the shop lists agrees with the catalogue of defects, and with its page in the reference.

use std::fmt::Write;
use std::path::Path;

use assert_cmd::Command;
use dupeproof::shop::{defects, strategies};

use crate::rig::EXE;

/// Every defect that there is a name for.
const CATALOGUE: &str = "
D01 unlock-before-commit
D02 unlock-plain-del
D03 unlock-get-then-del
D04 setnx-then-pexpire
D05 lock-without-ttl
D06 constant-token
D07 renew-without-token
D08 lease-shorter-than-work
D09 renew-failure-ignored
D10 global-lock-key
D11 lock-on-user-not-stock
D12 lock-wait-unbounded
D13 redis-down-skips-guards
D15 unlock-error-swallowed
D16 unlock-retry-blind
D18 fence-not-checked
D19 fence-not-atomic-with-lock
D20 fence-from-volatile-redis
D21 fence-not-strict
D22 fence-refusal-says-sold-out
D23 no-available-guard
D24 no-unique-constraint
D25 check-then-insert
D26 duplicate-key-500
D27 duplicate-then-select-in-same-tx
D28 on-conflict-under-rr
D29 rmw-stock
D30 rowcount-ignored
D31 upsert-overwrites-order
D32 two-transactions
D33 autocommit
D34 snapshot-before-lock
D35 for-update-outside-tx
D36 external-call-in-tx
D37 success-before-commit
D38 fingerprint-raw-json
D39 fingerprint-misses-quantity
D40 fingerprint-includes-volatile
D41 fingerprint-not-checked-in-progress
D42 fingerprint-never-checked
D43 fingerprint-float-ids
D44 key-not-scoped
D45 claim-in-process-memory
D46 claim-get-then-set
D47 delete-record-on-exception
D48 in-progress-never-expires
D49 in-progress-lives-as-long-as-the-record
D50 blind-takeover
D51 no-repair-after-commit
D52 snapshot-not-stored
D53 replay-200
D54 expired-key-is-new-order
D55 stores-5xx-as-final
D56 waits-for-first
D57 in-progress-without-hint
D58 missing-key-accepted
D59 merges-equal-bodies
D60 mismatch-changes-record
D61 record-expires-before-commit
D62 token-check-then-delete
D63 token-reissued-is-new-order
D64 status-update-unconditional
D65 late-pay-revives-closed
D66 zero-rows-is-success
D67 new-payment-id-per-try
D68 pay-before-commit
D69 paying-never-reconciled
D70 rejection-keeps-stock
D73 unique-index-lets-null-or-deleted-escape
D74 fixed-window-straddled
D75 fingerprint-rules-differ-between-instances
";

fn page() -> String {
    let mut page = String::from(
        "# The shop: strategies and defects\n\n\
         Generated from the shop itself. The strategies make a correct service in any combination \
         that it accepts; `[lab]` in a profile and the flags of `dupeproof shop` choose them. The \
         defects are switched on by name or by id, for `defects` in `[lab]` and `--defects`.\n\n\
         ## Strategies\n\n```text\n",
    );
    page.push_str(&strategies());
    page.push_str("```\n\n## Defects\n\n| id | switch | what it does | shows together with | needs | found by |\n|---|---|---|---|---|---|\n");
    for defect in defects() {
        let partners: Vec<_> = defect.partners.iter().map(|one| format!("`{one}`")).collect();
        let needs: Vec<_> = defect.needs.iter().map(|need| need.text()).collect();
        let _ = writeln!(
            page,
            "| {} | `{}` | {} | {} | {} | {} |",
            defect.id,
            defect.switch,
            defect.does,
            partners.join(", "),
            needs.join("; "),
            defect.finds,
        );
    }
    page
}

#[test]
fn the_list_of_defects_is_the_catalogue() {
    let listed: Vec<_> =
        defects().iter().map(|info| format!("{} {}", info.id, info.switch)).collect();
    let named: Vec<_> = CATALOGUE.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(listed, named);
}

#[test]
fn the_program_lists_what_the_code_has() {
    let output = |flag: &str| {
        let output = Command::new(EXE).args(["shop", flag]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = words(&output("--list-defects"));
    for info in defects() {
        assert!(told.contains(&format!("{} {} {}", info.id, info.switch, info.does)), "{told}");
        assert!(told.contains(&words(&format!("found by: {}", info.finds))), "{told}");
    }
    assert_eq!(words(&output("--list-strategies")), words(&strategies()));
}

#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/shop.md");
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let cure = "regenerate it: UPDATE_SCHEMAS=1 cargo test --test shop reference";
    assert!(written == page(), "{} is out of date; {cure}", path.display());
}
