//! Whether a step is of the kind that a rule means.

use std::hash::{BuildHasher, Hasher};
use std::rc::Rc;

use foldhash::fast::FixedState;

use crate::history::{InstanceId, IntentId, Step};
use crate::profile::{Owned, StepTrigger};
use crate::wire::guide;

use super::ArmedRule;

/// What a step carries that isn't written down with it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::wire) struct Carried<'a> {
    /// Those whose step it may be, where that isn't certain.
    pub(in crate::wire) among: &'a [IntentId],
    /// The text of a statement.
    pub(in crate::wire) sql: Option<&'a [u8]>,
    /// Arguments of a command, or bound parameters.
    pub(in crate::wire) values: &'a [&'a [u8]],
    /// All keys of a command.
    pub(in crate::wire) keys: &'a [&'a [u8]],
}

impl ArmedRule {
    pub(super) fn fits(
        &self,
        step: &Step<Rc<str>>,
        instance: Option<InstanceId>,
        carried: &Carried<'_>,
    ) -> bool {
        let wanted = &self.rule.at;
        let is_owned = match wanted.of {
            Owned::Intent => step.intent.is_some() || !carried.among.is_empty(),
            Owned::Product => step.product.is_some(),
            Owned::Anyone => true,
        };
        is_owned
            && self
                .rule
                .only
                .is_none_or(|only| step.intent == Some(only) || carried.among.contains(&only))
            && wanted.instance.is_none_or(|wanted| instance == Some(InstanceId(wanted)))
            && wanted.role.is_none_or(|role| step.role == Some(role))
            && is_named(wanted, step)
            && wanted.table.as_deref().is_none_or(|table| {
                step.object.as_deref().is_some_and(|object| guide::same_table(Some(table), object))
            })
            && wanted.key.as_deref().is_none_or(|key| {
                let texts = carried.keys.iter().filter_map(|key| std::str::from_utf8(key).ok());
                texts.into_iter().any(|text| guide::fits(key, text))
            })
            && wanted
                .sql
                .as_deref()
                .is_none_or(|words| carried.sql.is_some_and(|sql| has_words(sql, words)))
            && wanted
                .parameter
                .as_deref()
                .is_none_or(|value| carried.values.contains(&value.as_bytes()))
            && self.has_number(step.intent.or(carried.among.first().copied()))
    }

    /// Counts the steps of each intent that fit in all else. To be asked last.
    fn has_number(&self, intent: Option<IntentId>) -> bool {
        let Some(wanted) = self.rule.at.step.as_ref().and_then(|step| step.number) else {
            return true;
        };
        let mut numbers = self.numbers.borrow_mut();
        let number = numbers.entry(intent).or_insert(0);
        *number += 1;
        *number == wanted
    }
}

fn is_named(wanted: &StepTrigger, step: &Step<Rc<str>>) -> bool {
    let pattern = wanted.step.as_ref();
    pattern.is_none_or(|pattern| pattern.fits(step.wire, &step.verb, step.object.as_deref()))
}

/// Whether a text has these words in this order, as words, in whatever case.
fn has_words(sql: &[u8], words: &str) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 128;
    let mut texts = sql.split(|byte| !is_part(byte)).filter(|word| !word.is_empty());
    let mut wanted = words.as_bytes().split(|byte| !is_part(byte)).filter(|word| !word.is_empty());
    wanted.all(|wanted| texts.any(|word| word.eq_ignore_ascii_case(wanted)))
}

/// The n-th draw from a seed, 0 to 1.
pub(super) fn chance(seed: u64, draw: u64) -> f64 {
    let mut hasher = FixedState::with_seed(seed).build_hasher();
    hasher.write_u64(draw);
    (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_has_words_in_their_order() {
        let sql = b"UPDATE product_stock SET available = available - $1 WHERE last_fence < $2";
        for (words, fits) in [
            ("update product_stock", true),
            ("UPDATE product_stock WHERE last_fence", true),
            ("where update", false),
            ("product", false),
            ("", true),
        ] {
            assert_eq!(has_words(sql, words), fits, "{words}");
        }
    }

    #[test]
    fn draws_follow_from_the_seed_and_spread_out() {
        let draws = |seed| (0..1_000).map(move |draw| chance(seed, draw)).collect::<Vec<_>>();
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
        let below = draws(7).iter().filter(|draw| **draw < 0.3).count();
        assert!((200..400).contains(&below), "{below}");
    }
}
