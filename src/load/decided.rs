//! Which intents have a definite outcome: one bit each, since a steady load may have a million.

use crate::history::IntentId;

/// A set of intents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decided {
    words: Vec<u64>,
}

impl Decided {
    pub fn insert(&mut self, intent: IntentId) {
        let (word, bit) = place(intent);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << bit;
    }

    pub fn contains(&self, intent: IntentId) -> bool {
        let (word, bit) = place(intent);
        self.words.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }
}

const fn place(intent: IntentId) -> (usize, u32) {
    (intent.0 as usize / 64, intent.0 % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_was_put_into_it() {
        let mut decided = Decided::default();
        for intent in [0, 63, 64, 1_000] {
            assert!(!decided.contains(IntentId(intent)));
            decided.insert(IntentId(intent));
            assert!(decided.contains(IntentId(intent)));
        }
        assert!(!decided.contains(IntentId(65)) && !decided.contains(IntentId(5_000)));
    }
}
