//! Variables of the user's shell that would change a drill in silence.
//!
//! PostgreSQL's client libraries read PGOPTIONS behind everybody's back, in our process and in the
//! shop's; and the settings of a shop that is served alone aren't meant for the lab's. A program
//! can't safely take a variable out of its own environment, so it runs itself again without.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::shop::VARIABLES;

/// Returns when there is nothing to take out, or when running again is impossible.
pub(crate) fn without_surprises() {
    let is_shop = std::env::args_os().nth(1).is_some_and(|word| word == "shop");
    let names = std::env::vars_os().map(|(name, _)| name);
    let unwanted: Vec<_> = names.filter(|name| is_unwanted(name, is_shop)).collect();
    if unwanted.is_empty() {
        return;
    }
    if let Ok(exe) = std::env::current_exe() {
        let mut again = Command::new(exe);
        again.args(std::env::args_os().skip(1));
        for name in unwanted {
            again.env_remove(name);
        }
        let _ = again.exec();
    }
}

fn is_unwanted(name: &OsString, is_shop: bool) -> bool {
    let is_of_the_shop = name.to_str().is_some_and(|name| name.starts_with(VARIABLES));
    name == "PGOPTIONS" || (is_of_the_shop && !is_shop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_the_shop_reaches_the_shop_that_was_asked_for_and_no_lab() {
        let setting = OsString::from("DUPEPROOF_SHOP_LOCK");
        assert!(is_unwanted(&setting, false));
        assert!(!is_unwanted(&setting, true));
        assert!(is_unwanted(&OsString::from("PGOPTIONS"), true));
        assert!(!is_unwanted(&OsString::from("PATH"), false));
    }
}
