//! What is known beforehand of the target's tables and keys, and what a step is for.

use crate::history::Role;

/// Names that the profile gives; where it gives none, names are guessed by their words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guide {
    /// The table of orders, perhaps with its schema.
    pub orders: Option<String>,
    pub stock: Option<String>,
    /// How keys of leases are made, such as `lock:stock:{product}`.
    pub lock_keys: Option<String>,
    /// How keys of idempotency records are made, such as `idem:orders:{user}:{key}`.
    pub record_keys: Option<String>,
    /// What steps are for, by their names without a number: `redis SET lease:stock`.
    pub roles: Vec<(String, Role)>,
}

/// What a key of Redis holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Lease,
    Fence,
    Record,
    Other,
}

/// What the words of a key say that it holds.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    fence: bool,
    lease: bool,
    record: bool,
}

impl Said {
    /// In one pass: this is asked of each command of Redis.
    fn by(key: &str) -> Self {
        let (mut said, mut rest) = (Self::default(), key.as_bytes());
        while let [first, ..] = rest {
            let begins = |word: &str| {
                rest.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word.as_bytes()))
            };
            match first.to_ascii_lowercase() {
                b'f' => said.fence |= begins("fence") || begins("fencing"),
                b'l' => said.lease |= begins("lock") || begins("lease"),
                b'm' => said.lease |= begins("mutex"),
                b'i' => said.record |= begins("idem"),
                _ => {}
            }
            rest = &rest[1..];
        }
        said
    }
}

impl Guide {
    /// `has_key`: the key of Redis carries the idempotency key of an intent.
    pub(super) fn kind_of_key(&self, key: &str, has_key: bool) -> KeyKind {
        if let Some(template) = &self.lock_keys
            && fits(template, key)
        {
            return KeyKind::Lease;
        }
        if let Some(template) = &self.record_keys
            && fits(template, key)
        {
            return KeyKind::Record;
        }
        let said = Said::by(key);
        if said.fence {
            KeyKind::Fence
        } else if self.lock_keys.is_none() && said.lease {
            KeyKind::Lease
        } else if self.record_keys.is_none() && (said.record || has_key) {
            KeyKind::Record
        } else {
            KeyKind::Other
        }
    }

    /// The role that the profile gives to a step.
    pub(super) fn role(&self, name: &str) -> Option<Role> {
        let given = self.roles.iter().find(|(given, _)| given == name);
        given.map(|(_, role)| *role)
    }

    pub(super) fn is_orders(&self, table: &str) -> bool {
        same_table(self.orders.as_deref(), table)
    }

    pub(super) fn is_stock(&self, table: &str) -> bool {
        same_table(self.stock.as_deref(), table)
    }
}

/// Whether two names mean one table, where one of them may leave its schema out.
pub(super) fn same_table(given: Option<&str>, table: &str) -> bool {
    let bare = |name: &str| name.rsplit('.').next().unwrap_or(name).trim_matches('"').to_owned();
    given.is_some_and(|given| bare(given).eq_ignore_ascii_case(&bare(table)))
}

/// Whether a key is made by a template: its texts come in order, with something in each hole.
pub(super) fn fits(template: &str, key: &str) -> bool {
    let mut pieces = template.split('{').enumerate().map(|(place, piece)| {
        if place == 0 { piece } else { piece.split_once('}').map_or(piece, |(_, text)| text) }
    });
    let Some(mut rest) = pieces.next().and_then(|first| key.strip_prefix(first)) else {
        return false;
    };
    let mut is_open = false;
    for piece in pieces {
        is_open = piece.is_empty();
        // What stands in a hole has at least one character.
        let Some(after) = rest.char_indices().nth(1).map_or(Some(rest.len()), |(at, _)| Some(at))
        else {
            return false;
        };
        if rest.is_empty() {
            return false;
        }
        if !is_open {
            let Some(at) = rest[after..].find(piece) else { return false };
            rest = &rest[after + at + piece.len()..];
        }
    }
    is_open || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_fits_the_template_it_is_made_by() {
        for (template, key, is_made) in [
            ("lock:stock:{product}", "lock:stock:42", true),
            ("lock:stock:{product}", "lock:stock:", false),
            ("lock:stock:{product}", "lock:order:42", false),
            ("idem:{user}:{key}:r", "idem:u-1:k-1:r", true),
            ("idem:{user}:{key}:r", "idem:u-1:k-1", false),
            ("lock", "lock", true),
            ("lock", "locks", false),
        ] {
            assert_eq!(fits(template, key), is_made, "{template} {key}");
        }
    }

    #[test]
    fn keys_are_told_by_the_profile_or_else_by_their_words() {
        let guide = Guide::default();
        assert_eq!(guide.kind_of_key("Lock:stock:1", false), KeyKind::Lease);
        assert_eq!(guide.kind_of_key("fence:stock:1", false), KeyKind::Fence);
        assert_eq!(guide.kind_of_key("idem:orders:u:k", false), KeyKind::Record);
        assert_eq!(guide.kind_of_key("req:k-1", true), KeyKind::Record);
        assert_eq!(guide.kind_of_key("cart:1", false), KeyKind::Other);
        let guide = Guide { lock_keys: Some("held:{product}".to_owned()), ..guide };
        assert_eq!(guide.kind_of_key("held:1", false), KeyKind::Lease);
        assert_eq!(guide.kind_of_key("lock:1", false), KeyKind::Other);
        let guide = Guide { orders: Some("shop.orders".to_owned()), ..guide };
        assert!(guide.is_orders("orders") && guide.is_orders("public.\"orders\""));
        assert!(!guide.is_orders("order_items"));
    }
}
