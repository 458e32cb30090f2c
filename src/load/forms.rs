//! Another way to write the same body: other bytes, equal in canonical form.
//!
//! The first forms of an intent change one thing each, so that a service which stumbles over one of
//! them says which; later ones combine. What is changed is told in words.

use rand::Rng;
use serde_json::Value;

use crate::profile::Request;

use super::dice::{Stream, below, mix};
use super::fingerprint::is_same;
use super::spelling::Spelling;
use super::tree::Tree;

/// A body in another form.
#[derive(Debug)]
pub(super) struct Form {
    pub text: String,
    /// What was changed: `key order, white space`.
    pub how: String,
}

/// One thing that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    KeyOrder,
    WhiteSpace,
    Escapes,
    Ignored,
    Numbers,
    Defaults,
}

impl Way {
    const ALL: [Self; 6] = [
        Self::KeyOrder,
        Self::WhiteSpace,
        Self::Escapes,
        Self::Ignored,
        Self::Numbers,
        Self::Defaults,
    ];

    const fn word(self) -> &'static str {
        match self {
            Self::KeyOrder => "key order",
            Self::WhiteSpace => "white space",
            Self::Escapes => "unicode escapes",
            Self::Ignored => "ignored fields",
            Self::Numbers => "number forms",
            Self::Defaults => "defaults",
        }
    }

    /// Whether it can change this body.
    fn fits(self, request: &Request, body: &Tree) -> bool {
        let mut copy = body.clone();
        match self {
            Self::KeyOrder => {
                anywhere(body, &|tree| matches!(tree, Tree::Object(fields) if fields.len() > 1))
            }
            Self::WhiteSpace => true,
            Self::Escapes => anywhere(body, &|tree| match tree {
                Tree::Object(fields) => fields.iter().any(|(name, _)| !name.is_empty()),
                Tree::Scalar(Value::String(text)) => !text.is_empty(),
                _ => false,
            }),
            Self::Ignored => request.ignored.iter().any(|pointer| copy.at_mut(pointer).is_some()),
            Self::Numbers => request.number_forms && anywhere(body, &is_integer),
            Self::Defaults => request
                .defaults
                .iter()
                .any(|(pointer, default)| switch_default(request, &mut copy, pointer, default)),
        }
    }
}

/// The form number `number` of a body; each is drawn from its own stream.
pub(super) fn another(request: &Request, body: &Tree, number: u32, stream: &mut Stream) -> Form {
    let known: Vec<_> = Way::ALL.into_iter().filter(|way| way.fits(request, body)).collect();
    let lead = number as usize % known.len();
    let is_pure = (number as usize) < known.len();
    let ways: Vec<_> = known
        .iter()
        .enumerate()
        .filter(|&(place, _)| place == lead || (!is_pure && below(stream, 3) == 0))
        .map(|(_, &way)| way)
        .collect();
    let mut tree = body.clone();
    for &way in &ways {
        match way {
            Way::KeyOrder => reorder(&mut tree, stream),
            Way::Ignored => change_ignored(request, &mut tree, stream),
            Way::Defaults => change_defaults(request, &mut tree, stream),
            Way::WhiteSpace | Way::Escapes | Way::Numbers => {}
        }
    }
    let text = Spelling {
        spaced: ways.contains(&Way::WhiteSpace),
        escaped: ways.contains(&Way::Escapes),
        numbers: ways.contains(&Way::Numbers),
        stream,
    }
    .write(&tree);
    let how: Vec<_> = ways.into_iter().map(Way::word).collect();
    Form { text, how: how.join(", ") }
}

/// Whether this or anything in it is so.
fn anywhere(tree: &Tree, is_so: &impl Fn(&Tree) -> bool) -> bool {
    is_so(tree)
        || match tree {
            Tree::Array(items) => items.iter().any(|item| anywhere(item, is_so)),
            Tree::Object(fields) => fields.iter().any(|(_, value)| anywhere(value, is_so)),
            Tree::Scalar(_) => false,
        }
}

pub(super) fn is_integer(tree: &Tree) -> bool {
    let Tree::Scalar(Value::Number(number)) = tree else { return false };
    number.as_i64().is_some_and(|number| number.unsigned_abs() <= 1 << 53)
}

/// Puts the fields of every object into another order; a pair is always swapped.
fn reorder(tree: &mut Tree, stream: &mut Stream) {
    match tree {
        Tree::Scalar(_) => {}
        Tree::Array(items) => items.iter_mut().for_each(|item| reorder(item, stream)),
        Tree::Object(fields) => {
            let before: Vec<_> = fields.iter().map(|(name, _)| name.clone()).collect();
            mix(stream, fields);
            if fields.iter().map(|(name, _)| name).eq(&before) && !fields.is_empty() {
                fields.rotate_left(1);
            }
            fields.iter_mut().for_each(|(_, value)| reorder(value, stream));
        }
    }
}

fn change_ignored(request: &Request, tree: &mut Tree, stream: &mut Stream) {
    for pointer in &request.ignored {
        let drops = below(stream, 3) == 0;
        if drops && tree.remove(pointer) {
            continue;
        }
        if let Some(Tree::Scalar(value)) = tree.at_mut(pointer) {
            *value = other_value(value, stream);
        } else if let Some(place) = tree.at_mut(pointer) {
            *place = Tree::Scalar(format!("{:08x}", stream.next_u32()).into());
        }
    }
}

/// Another value of the same type and shape, as far as a service could mind.
fn other_value(value: &Value, stream: &mut Stream) -> Value {
    match value {
        Value::String(text) => {
            let digit = |letter: char, stream: &mut Stream| match letter {
                '0'..='9' => char::from(b'0' + below(stream, 10) as u8),
                'a'..='f' => char::from(b'a' + below(stream, 6) as u8),
                letter => letter,
            };
            let other: String = text.chars().map(|letter| digit(letter, stream)).collect();
            if other == *text { format!("{other}{}", below(stream, 10)) } else { other }.into()
        }
        Value::Number(_) => (below(stream, 1_000_000) as i64).into(),
        Value::Bool(flag) => (!flag).into(),
        _ => format!("{:08x}", stream.next_u32()).into(),
    }
}

/// Switches one default for certain and each other one by chance.
fn change_defaults(request: &Request, tree: &mut Tree, stream: &mut Stream) {
    let mut changed = false;
    for (pointer, default) in &request.defaults {
        if !changed || below(stream, 2) == 0 {
            changed |= switch_default(request, tree, pointer, default);
        }
    }
}

/// Leaves a default out where it is written and writes it where it is left out.
fn switch_default(request: &Request, tree: &mut Tree, pointer: &str, default: &Value) -> bool {
    match tree.at_mut(pointer).map(|value| value.value()) {
        Some(value) if is_same(&value, default, request) => tree.remove(pointer),
        Some(_) => false,
        None => tree.put(pointer, default.clone()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::history::PhaseId;
    use crate::load::dice::Dice;
    use crate::load::fingerprint::fingerprint;
    use crate::profile::TextTemplate;

    fn request() -> Request {
        Request {
            name: "place".to_owned(),
            method: "POST",
            path: TextTemplate::parse("/orders").unwrap(),
            headers: Vec::new(),
            body: None,
            order_id: "/id".to_owned(),
            ignored: vec!["/trace".to_owned(), "/a/0".to_owned()],
            mutate: Vec::new(),
            defaults: vec![("/coupon".to_owned(), Value::Null), ("/n".to_owned(), json!(1))],
            number_forms: true,
        }
    }

    fn trees() -> impl Strategy<Value = Tree> {
        let scalar = prop_oneof![
            any::<i64>().prop_map(Value::from),
            (-9_i64..9).prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            "\\PC{0,6}|[\"\\\\/\u{0}-\u{1f}\u{1f600}]{0,4}".prop_map(Value::from),
            Just(Value::Null),
        ];
        let tree = scalar.prop_map(Tree::Scalar).prop_recursive(3, 24, 5, |inner| {
            let name = prop_oneof![Just("trace"), Just("coupon"), Just("n"), Just("a"), Just("é")];
            let fields =
                prop::collection::btree_map(name.prop_map(str::to_owned), inner.clone(), 0..5);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(Tree::Array),
                fields.prop_map(|fields| Tree::Object(fields.into_iter().collect())),
            ]
        });
        prop::collection::vec(tree, 5).prop_map(|values| {
            let names = ["trace", "coupon", "n", "a", "quantity"].map(str::to_owned);
            Tree::Object(names.into_iter().zip(values).collect())
        })
    }

    proptest! {
        #[test]
        fn every_form_has_other_bytes_and_one_canonical_form(
            tree in trees(),
            number in 0_u32..40,
            seed: u64,
        ) {
            let request = request();
            let mut stream = Dice::of_seed(seed).form(PhaseId(0), 3, number);
            let form = another(&request, &tree, number, &mut stream);
            prop_assert_ne!(&form.text, &tree.text(), "{}", form.how);
            let value: Value = serde_json::from_str(&form.text).unwrap();
            let original: Value = serde_json::from_str(&tree.text()).unwrap();
            let prints = (fingerprint(&request, value), fingerprint(&request, original));
            prop_assert_eq!(&prints.0, &prints.1, "{}: {}", form.how, form.text);
        }
    }
}
