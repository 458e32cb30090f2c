//! D06: every holder writes the same word into the lock.
//!
//! Looks harmless, since the lock is there or isn't, whatever it holds. But release and renewal
//! compare that word, and with one word for all everybody is the holder.

use super::{Defect, DefectInfo, Need};
use crate::shop::token::Token;

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::ConstantToken,
    id: "D06",
    switch: "constant-token",
    does: "The token of the lease is the same for every holder, so anybody's unlock removes it.",
    partners: &[],
    needs: &[Need::Lease],
    finds: "two leases with one token; an unlock that is held until the lease is another's",
};

pub fn token() -> Token {
    Token::read("locked".to_owned())
}
