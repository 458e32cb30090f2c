//! Variables of the user's shell that would change a drill in silence.
//!
//! PostgreSQL's client libraries read PGOPTIONS behind everybody's back, in our process and in the
//! shop's. A program can't safely take a variable out of its own environment, so it runs itself
//! again without.

use std::os::unix::process::CommandExt;
use std::process::Command;

const UNWANTED: &str = "PGOPTIONS";

/// Returns when there is nothing to take out, or when running again is impossible.
pub(crate) fn without_surprises() {
    if std::env::var_os(UNWANTED).is_none() {
        return;
    }
    if let Ok(exe) = std::env::current_exe() {
        let _ = Command::new(exe).args(std::env::args_os().skip(1)).env_remove(UNWANTED).exec();
    }
}
