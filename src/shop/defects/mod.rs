//! What can be broken on purpose, so that a drill can be shown to find it.
//!
//! One defect, one file: what it does, what must be off for it to show, and the broken stand-in
//! for one correct step. The chain asks for it at exactly one place, next to the correct step.
//! A new defect is a file, a `pub mod` line and a line in the table below.

pub mod d01_unlock_before_commit;
pub mod d02_unlock_plain_del;
pub mod d03_unlock_get_then_del;
pub mod d04_setnx_then_pexpire;
pub mod d05_lock_without_ttl;
pub mod d06_constant_token;
pub mod d07_renew_without_token;
pub mod d08_lease_shorter_than_work;
pub mod d09_renew_failure_ignored;
pub mod d10_global_lock_key;
pub mod d11_lock_on_user_not_stock;
pub mod d12_lock_wait_unbounded;
pub mod d13_redis_down_skips_guards;
pub mod d15_unlock_error_swallowed;
pub mod d16_unlock_retry_blind;
pub mod d18_fence_not_checked;
pub mod d19_fence_not_atomic_with_lock;
pub mod d20_fence_from_volatile_redis;
pub mod d21_fence_not_strict;
pub mod d22_fence_refusal_says_sold_out;
pub mod d23_no_available_guard;
pub mod d24_no_unique_constraint;
pub mod d25_check_then_insert;
pub mod d26_duplicate_key_500;
pub mod d27_duplicate_then_select_in_same_tx;
pub mod d28_on_conflict_under_rr;
pub mod d29_rmw_stock;
pub mod d30_rowcount_ignored;
pub mod d31_upsert_overwrites_order;
pub mod d32_two_transactions;
pub mod d33_autocommit;
pub mod d34_snapshot_before_lock;
pub mod d35_for_update_outside_tx;
pub mod d36_external_call_in_tx;
pub mod d37_success_before_commit;
pub mod d38_fingerprint_raw_json;
pub mod d39_fingerprint_misses_quantity;
pub mod d40_fingerprint_includes_volatile;
pub mod d41_fingerprint_not_checked_in_progress;
pub mod d42_fingerprint_never_checked;
pub mod d43_fingerprint_float_ids;
pub mod d44_key_not_scoped;
pub mod d45_claim_in_process_memory;
pub mod d46_claim_get_then_set;
pub mod d47_delete_record_on_exception;
pub mod d48_in_progress_never_expires;
pub mod d49_in_progress_lives_as_long_as_the_record;
pub mod d50_blind_takeover;
pub mod d51_no_repair_after_commit;
pub mod d52_snapshot_not_stored;
pub mod d53_replay_200;
pub mod d54_expired_key_is_new_order;
pub mod d55_stores_5xx_as_final;
pub mod d56_waits_for_first;
pub mod d57_in_progress_without_hint;
pub mod d58_missing_key_accepted;
pub mod d59_merges_equal_bodies;
pub mod d60_mismatch_changes_record;
pub mod d61_record_expires_before_commit;
pub mod d62_token_check_then_delete;
pub mod d63_token_reissued_is_new_order;
pub mod d64_status_update_unconditional;
pub mod d65_late_pay_revives_closed;
pub mod d66_zero_rows_is_success;
pub mod d67_new_payment_id_per_try;
pub mod d68_pay_before_commit;
pub mod d69_paying_never_reconciled;
pub mod d70_rejection_keeps_stock;
pub mod d73_unique_index_lets_null_or_deleted_escape;
pub mod d74_fixed_window_straddled;
pub mod d75_fingerprint_rules_differ_between_instances;

mod need;
mod set;

use std::{fmt, str::FromStr};

pub use need::Need;
pub use set::DefectSet;

use super::error::ShopError;

/// Makes the enum and the table from the same lines, so that neither can miss a defect.
macro_rules! registry {
    ($($defect:ident => $file:ident,)+) => {
        /// A defect that can be switched on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Defect { $($defect,)+ }

        const TABLE: &[DefectInfo] = &[$($file::INFO,)+];
    };
}

registry! {
    UnlockBeforeCommit => d01_unlock_before_commit,
    UnlockPlainDel => d02_unlock_plain_del,
    UnlockGetThenDel => d03_unlock_get_then_del,
    SetnxThenPexpire => d04_setnx_then_pexpire,
    LockWithoutTtl => d05_lock_without_ttl,
    ConstantToken => d06_constant_token,
    RenewWithoutToken => d07_renew_without_token,
    LeaseShorterThanWork => d08_lease_shorter_than_work,
    RenewFailureIgnored => d09_renew_failure_ignored,
    GlobalLockKey => d10_global_lock_key,
    LockOnUserNotStock => d11_lock_on_user_not_stock,
    LockWaitUnbounded => d12_lock_wait_unbounded,
    RedisDownSkipsGuards => d13_redis_down_skips_guards,
    UnlockErrorSwallowed => d15_unlock_error_swallowed,
    UnlockRetryBlind => d16_unlock_retry_blind,
    FenceNotChecked => d18_fence_not_checked,
    FenceNotAtomicWithLock => d19_fence_not_atomic_with_lock,
    FenceFromVolatileRedis => d20_fence_from_volatile_redis,
    FenceNotStrict => d21_fence_not_strict,
    FenceRefusalSaysSoldOut => d22_fence_refusal_says_sold_out,
    NoAvailableGuard => d23_no_available_guard,
    NoUniqueConstraint => d24_no_unique_constraint,
    CheckThenInsert => d25_check_then_insert,
    DuplicateKey500 => d26_duplicate_key_500,
    DuplicateThenSelectInSameTx => d27_duplicate_then_select_in_same_tx,
    OnConflictUnderRr => d28_on_conflict_under_rr,
    RmwStock => d29_rmw_stock,
    RowcountIgnored => d30_rowcount_ignored,
    UpsertOverwritesOrder => d31_upsert_overwrites_order,
    TwoTransactions => d32_two_transactions,
    Autocommit => d33_autocommit,
    SnapshotBeforeLock => d34_snapshot_before_lock,
    ForUpdateOutsideTx => d35_for_update_outside_tx,
    ExternalCallInTx => d36_external_call_in_tx,
    SuccessBeforeCommit => d37_success_before_commit,
    FingerprintRawJson => d38_fingerprint_raw_json,
    FingerprintMissesQuantity => d39_fingerprint_misses_quantity,
    FingerprintIncludesVolatile => d40_fingerprint_includes_volatile,
    FingerprintNotCheckedInProgress => d41_fingerprint_not_checked_in_progress,
    FingerprintNeverChecked => d42_fingerprint_never_checked,
    FingerprintFloatIds => d43_fingerprint_float_ids,
    KeyNotScoped => d44_key_not_scoped,
    ClaimInProcessMemory => d45_claim_in_process_memory,
    ClaimGetThenSet => d46_claim_get_then_set,
    DeleteRecordOnException => d47_delete_record_on_exception,
    InProgressNeverExpires => d48_in_progress_never_expires,
    InProgressLivesAsLongAsTheRecord => d49_in_progress_lives_as_long_as_the_record,
    BlindTakeover => d50_blind_takeover,
    NoRepairAfterCommit => d51_no_repair_after_commit,
    SnapshotNotStored => d52_snapshot_not_stored,
    Replay200 => d53_replay_200,
    ExpiredKeyIsNewOrder => d54_expired_key_is_new_order,
    Stores5xxAsFinal => d55_stores_5xx_as_final,
    WaitsForFirst => d56_waits_for_first,
    InProgressWithoutHint => d57_in_progress_without_hint,
    MissingKeyAccepted => d58_missing_key_accepted,
    MergesEqualBodies => d59_merges_equal_bodies,
    MismatchChangesRecord => d60_mismatch_changes_record,
    RecordExpiresBeforeCommit => d61_record_expires_before_commit,
    TokenCheckThenDelete => d62_token_check_then_delete,
    TokenReissuedIsNewOrder => d63_token_reissued_is_new_order,
    StatusUpdateUnconditional => d64_status_update_unconditional,
    LatePayRevivesClosed => d65_late_pay_revives_closed,
    ZeroRowsIsSuccess => d66_zero_rows_is_success,
    NewPaymentIdPerTry => d67_new_payment_id_per_try,
    PayBeforeCommit => d68_pay_before_commit,
    PayingNeverReconciled => d69_paying_never_reconciled,
    RejectionKeepsStock => d70_rejection_keeps_stock,
    UniqueIndexLetsNullOrDeletedEscape => d73_unique_index_lets_null_or_deleted_escape,
    FixedWindowStraddled => d74_fixed_window_straddled,
    FingerprintRulesDifferBetweenInstances => d75_fingerprint_rules_differ_between_instances,
}

/// What `--list-defects` tells.
#[derive(Debug, Clone, Copy)]
pub struct DefectInfo {
    pub defect: Defect,
    /// `D01`
    pub id: &'static str,
    /// `unlock-before-commit`
    pub switch: &'static str,
    /// One sentence.
    pub does: &'static str,
    /// Without these another line of defence hides it.
    pub partners: &'static [Partner],
    /// Without these it is never reached, and the shop refuses it.
    pub needs: &'static [Need],
    /// What brings it to light.
    pub finds: &'static str,
}

/// What a defect needs beside it to be seen in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partner {
    Defect(Defect),
    Flag { name: &'static str, value: &'static str },
}

/// Every defect there is, by id.
pub fn defects() -> &'static [DefectInfo] {
    TABLE
}

impl Defect {
    pub fn info(self) -> &'static DefectInfo {
        &TABLE[self as usize]
    }
}

/// `no-unique-constraint`, or `--lock-per user`
impl fmt::Display for Partner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Defect(defect) => f.write_str(defect.info().switch),
            Self::Flag { name, value } => write!(f, "--{name} {value}"),
        }
    }
}

/// By switch or by id; whoever misspells it is told the nearest switch.
impl FromStr for Defect {
    type Err = ShopError;

    fn from_str(given: &str) -> Result<Self, ShopError> {
        let named =
            |info: &&DefectInfo| info.switch == given || info.id.eq_ignore_ascii_case(given);
        if let Some(info) = TABLE.iter().find(named) {
            return Ok(info.defect);
        }
        let nearest = TABLE
            .iter()
            .map(|info| (strsim::jaro_winkler(info.switch, given), info.switch))
            .max_by(|one, other| one.0.total_cmp(&other.0))
            .filter(|(likeness, _)| *likeness > 0.8)
            .map(|(_, switch)| switch);
        Err(ShopError::UnknownDefect { given: given.to_owned(), nearest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_defect_has_its_own_row() {
        for (place, info) in TABLE.iter().enumerate() {
            assert_eq!(info.defect as usize, place, "{}", info.switch);
            assert_eq!(info.defect.info().id, info.id);
        }
    }

    #[test]
    fn the_table_is_sorted_by_id_and_every_switch_is_kebab_case() {
        assert!(TABLE.is_sorted_by(|one, next| one.id < next.id && one.switch != next.switch));
        for info in TABLE {
            let is_kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(info.switch.chars().all(is_kebab), "{}", info.switch);
            assert!(info.does.ends_with('.'), "{}", info.switch);
        }
    }

    #[test]
    fn a_defect_is_found_by_switch_and_by_id() {
        for name in ["rmw-stock", "D29", "d29"] {
            assert_eq!(name.parse::<Defect>().ok(), Some(Defect::RmwStock));
        }
    }

    #[test]
    fn an_unknown_defect_is_answered_with_the_nearest_or_with_none() {
        let told = |given: &str| given.parse::<Defect>().expect_err("unknown").to_string();
        assert_eq!(told("rmw-stok"), "unknown defect `rmw-stok`; did you mean `rmw-stock`?");
        assert_eq!(told("zzz"), "unknown defect `zzz`");
    }

    #[test]
    fn a_partner_reads_as_it_is_typed() {
        let partner = Partner::Defect(Defect::NoUniqueConstraint);
        assert_eq!(partner.to_string(), "no-unique-constraint");
        let flag = Partner::Flag { name: "lock-per", value: "user" };
        assert_eq!(flag.to_string(), "--lock-per user");
    }
}
