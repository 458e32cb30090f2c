//! Within what a key names one intent: one user, as two users may send the same string.
//!
//! Record, unique index and every look go by the same scope; hence one type that all three ask.

use super::{
    defects::{Defect, DefectSet, d44_key_not_scoped},
    schema::UniqueIndex,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    User,
    Everybody,
}

const BY_KEY: &str = include_str!("sql/order_by_key.sql");
const BY_BARE_KEY: &str = include_str!("sql/order_by_bare_key.sql");

impl Scope {
    pub fn of(defects: DefectSet) -> Self {
        if defects.has(Defect::KeyNotScoped) { d44_key_not_scoped::scope() } else { Self::User }
    }

    pub fn record_key(self, user: &str, key: &str) -> String {
        match self {
            Self::User => format!("idem:orders:{user}:{key}"),
            Self::Everybody => format!("idem:orders:{key}"),
        }
    }

    pub fn index(self) -> UniqueIndex {
        match self {
            Self::User => UniqueIndex::PerKey,
            Self::Everybody => UniqueIndex::PerBareKey,
        }
    }

    /// Takes the key, and the user where it matters.
    pub fn order_by_key(self) -> &'static str {
        match self {
            Self::User => BY_KEY,
            Self::Everybody => BY_BARE_KEY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_users_with_one_key_have_two_records() {
        let scope = Scope::of(DefectSet::default());
        assert_ne!(scope.record_key("u1", "k"), scope.record_key("u2", "k"));
        let broken = Scope::of([Defect::KeyNotScoped].into_iter().collect());
        assert_eq!(broken.record_key("u1", "k"), broken.record_key("u2", "k"));
    }

    #[test]
    fn the_index_has_the_scope_of_the_record() {
        assert_eq!(Scope::User.index(), UniqueIndex::PerKey);
        assert_eq!(Scope::Everybody.index(), UniqueIndex::PerBareKey);
    }
}
