//! The defects that are switched on.
//!
//! One bit each, because every request asks several times: a bit is cheaper than a lookup, and
//! 128 of them are more than the catalogue will hold.

use super::Defect;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DefectSet(u128);

impl DefectSet {
    pub fn has(self, defect: Defect) -> bool {
        self.0 & bit(defect) != 0
    }
}

impl FromIterator<Defect> for DefectSet {
    fn from_iter<I: IntoIterator<Item = Defect>>(defects: I) -> Self {
        Self(
            defects
                .into_iter()
                .fold(0, |bits, defect| bits | bit(defect)),
        )
    }
}

fn bit(defect: Defect) -> u128 {
    1 << defect as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_it_was_made_of_and_nothing_else() {
        let set: DefectSet = [Defect::RmwStock, Defect::RmwStock].into_iter().collect();
        assert!(set.has(Defect::RmwStock));
        assert!(!set.has(Defect::UnlockBeforeCommit));
        assert!(!DefectSet::default().has(Defect::RmwStock));
    }
}
