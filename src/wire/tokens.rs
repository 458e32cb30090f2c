//! By which words a frame names an intent of the run.
//!
//! Users, keys and products of a run are words of their own. A frame that carries one belongs to an
//! intent; where several intents share a word, all words of the frame together may still name one. A
//! value that comes up in a step of one intent (an owner's token, an id) becomes a word of it too, until
//! another intent is seen with it (rule S06).

use std::rc::Rc;

use foldhash::{HashMap, HashSet};

use crate::history::IntentId;

/// Intents that may share a word and still be told apart by others.
const MOST_SHARING: usize = 64;
/// Words that are learned; further ones are not.
const MOST_LEARNED: usize = 1_000_000;
/// A user or a key that is shorter would be found in everything.
const SHORTEST_GIVEN: usize = 4;
/// A value that is shorter may come up by chance.
const SHORTEST_LEARNED: usize = 12;

/// An intent that is about to be asked for, and what names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub intent: IntentId,
    pub user: String,
    pub key: String,
    pub product: Option<i64>,
    /// The order that it acts on.
    pub entity: Option<String>,
}

/// Whose a word is.
#[derive(Clone, Debug)]
enum Owners {
    These(Rc<Vec<IntentId>>),
    /// Too many to be told apart.
    Many,
}

#[derive(Debug, Default)]
pub(super) struct Tokens {
    given: HashMap<Box<[u8]>, Owners>,
    products: HashMap<i64, Owners>,
    learned: HashMap<Box<[u8]>, Option<IntentId>>,
    /// Intents that act on an order.
    acting: HashSet<IntentId>,
}

/// Intents that share what names them.
pub(super) type Among = Option<Rc<Vec<IntentId>>>;

/// What the words of a frame come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) intent: Option<IntentId>,
    /// Those whose it may be, where a user, a key or an order named several intents and nothing told
    /// them apart. They contend for one thing.
    pub(super) among: Among,
    pub(super) product: Option<i64>,
    /// Whether a word of the run was there at all.
    pub(super) is_of_the_run: bool,
}

impl Tokens {
    pub(super) fn expect(&mut self, intents: Vec<Expected>) {
        for Expected { intent, user, key, product, entity } in intents {
            if entity.is_some() {
                self.acting.insert(intent);
            }
            for word in [Some(user), Some(key), entity].into_iter().flatten() {
                if word.len() >= SHORTEST_GIVEN {
                    let owners = self.given.entry(word.into_bytes().into()).or_insert(none());
                    // Whoever acts on an order comes after it was placed.
                    if self.acting.contains(&intent)
                        && let Owners::These(these) = owners
                    {
                        Rc::make_mut(these).retain(|other| self.acting.contains(other));
                    }
                    share(owners, intent);
                }
            }
            if let Some(product) = product {
                share(self.products.entry(product).or_insert(none()), intent);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.given.is_empty() && self.products.is_empty()
    }

    /// Whether a word names anything of the run.
    pub(super) fn knows(&self, word: &[u8]) -> bool {
        !self.is_empty()
            && (self.given.contains_key(word)
                || self.learned.contains_key(word)
                || number(word).is_some_and(|number| self.products.contains_key(&number)))
    }

    /// Whose step it is that has these texts.
    pub(super) fn name<'a>(&mut self, texts: impl Iterator<Item = &'a [u8]> + Clone) -> Named {
        if self.is_empty() {
            return Named::default();
        }
        let mut named = Named::default();
        let mut candidates: Among = None;
        let mut is_given = false;
        let mut learned = None;
        for word in texts.clone().flat_map(words) {
            let product = number(word).filter(|number| self.products.contains_key(number));
            if let Some(product) = product {
                named.product = Some(product);
            }
            let owners = product.map_or_else(|| self.given.get(word), |it| self.products.get(&it));
            if let Some(owners) = owners {
                named.is_of_the_run = true;
                is_given |= product.is_none();
                if let Owners::These(these) = owners {
                    candidates = Some(both(candidates, these));
                }
            } else if let Some(Some(owner)) = self.learned.get(word) {
                named.is_of_the_run = true;
                learned.get_or_insert(*owner);
            }
        }
        named.intent = match candidates.as_deref().map(Vec::as_slice) {
            Some([intent]) => Some(*intent),
            Some([]) => None,
            _ => learned,
        };
        if named.intent.is_none() && is_given {
            named.among = candidates.filter(|these| these.len() > 1);
        }
        if let Some(intent) = named.intent {
            texts.flat_map(words).for_each(|word| self.learn(word, intent));
        }
        named
    }

    /// A step of this intent carries this word.
    pub(super) fn learn(&mut self, word: &[u8], intent: IntentId) {
        if word.len() < SHORTEST_LEARNED
            || !word.iter().any(u8::is_ascii_digit)
            || self.given.contains_key(word)
            || number(word).is_some_and(|number| self.products.contains_key(&number))
        {
            return;
        }
        if let Some(owner) = self.learned.get_mut(word) {
            *owner = owner.filter(|owner| *owner == intent);
        } else if self.learned.len() < MOST_LEARNED {
            self.learned.insert(word.into(), Some(intent));
        }
    }
}

/// The words of a text: names, numbers, tokens, whatever stands between them.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.@+".contains(byte) || *byte >= 128;
    text.split(move |byte| !is_part(byte)).filter(|word| !word.is_empty())
}

fn number(word: &[u8]) -> Option<i64> {
    if !word.first()?.is_ascii_digit() {
        return None;
    }
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn none() -> Owners {
    Owners::These(Rc::default())
}

fn share(owners: &mut Owners, intent: IntentId) {
    let Owners::These(these) = owners else { return };
    if these.contains(&intent) {
        return;
    }
    if these.len() < MOST_SHARING {
        Rc::make_mut(these).push(intent);
    } else {
        *owners = Owners::Many;
    }
}

fn both(one: Option<Rc<Vec<IntentId>>>, other: &Rc<Vec<IntentId>>) -> Rc<Vec<IntentId>> {
    match one {
        None => Rc::clone(other),
        Some(one) if one.iter().all(|intent| other.contains(intent)) => one,
        Some(one) => Rc::new(one.iter().copied().filter(|intent| other.contains(intent)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(intent: u32, user: &str, key: &str, product: i64) -> Expected {
        let (user, key, product) = (user.to_owned(), key.to_owned(), Some(product));
        Expected { intent: IntentId(intent), user, key, product, entity: None }
    }

    fn tokens() -> Tokens {
        let mut tokens = Tokens::default();
        tokens.expect(vec![
            expected(0, "u-run-000", "k-run-000", 9_000),
            expected(1, "u-run-001", "k-run-001", 9_000),
            expected(2, "u-run-001", "k-run-002", 9_001),
        ]);
        tokens
    }

    fn intent(tokens: &mut Tokens, texts: &[&str]) -> Option<u32> {
        let named = tokens.name(texts.iter().map(|text| text.as_bytes()));
        named.intent.map(|intent| intent.0)
    }

    #[test]
    fn the_words_of_a_frame_together_name_its_intent() {
        let mut tokens = tokens();
        assert_eq!(intent(&mut tokens, &["lock:order:u-run-000"]), Some(0));
        assert_eq!(intent(&mut tokens, &["lock:order:u-run-001"]), None, "it has two intents");
        assert_eq!(intent(&mut tokens, &["idem:{u-run-001}:k-run-002"]), Some(2));
        assert_eq!(intent(&mut tokens, &["u-run-001", "stock/9000"]), Some(1));
        assert_eq!(intent(&mut tokens, &["lock:stock:9000"]), None);
        assert_eq!(intent(&mut tokens, &["lock:stock:9001"]), Some(2));
        assert_eq!(intent(&mut tokens, &["u-other-000 1234"]), None);
        let product = tokens.name([&b"lock:stock:9000"[..]].into_iter());
        assert_eq!((product.product, product.is_of_the_run), (Some(9_000), true));
    }

    #[test]
    fn whose_it_may_be_is_told_where_something_of_theirs_was_named() {
        let mut tokens = tokens();
        let mut among = |text: &str| tokens.name([text.as_bytes()].into_iter()).among;
        assert_eq!(*among("lock:order:u-run-001").unwrap(), [IntentId(1), IntentId(2)]);
        assert_eq!(among("lock:stock:9000"), None, "a product is everybody's");
        assert_eq!(among("idem:u-run-000"), None);
    }

    #[test]
    fn who_acts_on_an_order_comes_after_who_placed_it() {
        let mut tokens = tokens();
        let pay =
            Expected { entity: Some("17".to_owned()), ..expected(7, "u-run-000", "k-7", 9_000) };
        tokens.expect(vec![pay]);
        assert_eq!(intent(&mut tokens, &["u-run-000"]), Some(7));
        assert_eq!(intent(&mut tokens, &["k-run-000"]), Some(0));
    }

    #[test]
    fn a_value_of_one_intent_names_it_until_another_has_it_too() {
        let mut tokens = tokens();
        let token = "token-0123456789";
        assert_eq!(intent(&mut tokens, &[token]), None);
        assert_eq!(intent(&mut tokens, &["idem:u-run-000", token]), Some(0));
        assert_eq!(intent(&mut tokens, &[token]), Some(0));
        assert_eq!(intent(&mut tokens, &["idem:k-run-001", token]), Some(1));
        assert_eq!(intent(&mut tokens, &[token]), None);
    }
}
