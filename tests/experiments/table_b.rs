//! Pairs of experiments that lose, fail and outlive: X10 to X12, X16, X17, X19, X21, X25.

use super::table::{Pair, efficiency, protected, violated};

pub const PAIRS: &[Pair] = &[
    efficiency("x10-d15-unlock-error-swallowed", "L11"),
    protected("x10-d16-unlock-retry-blind", "I29"),
    protected("x11-d02-unlock-plain-del", "I29"),
    protected("x11-d06-constant-token", "L5"),
    protected("x12-d03-unlock-get-then-del", "I29"),
    violated("x16-d13-redis-down-skips-guards", "I24"),
    violated("x16-d20-fence-from-volatile-redis", "I17"),
    violated("x17-d21-fence-not-strict", "I17"),
    violated("x17-d33-autocommit", "I03"),
    violated("x17-d47-delete-record-on-exception", "I02"),
    violated("x17-d55-stores-5xx-as-final", "I11"),
    violated("x17-d68-pay-before-commit", "I14"),
    violated("x17-d70-rejection-keeps-stock", "I03"),
    violated("x19-d67-new-payment-id-per-try", "I14"),
    protected("x21-d07-renew-without-token", "I29"),
    protected("x21-d09-renew-failure-ignored", "L7"),
    violated("x25-d12-lock-wait-unbounded", "I21"),
];
