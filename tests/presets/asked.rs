//! A request as the service reads it: what is bought, and the key by the contract's rule.

use axum::http::HeaderMap;
use dupeproof::profile::{Contract, KeyCarrier, KeyRule, KeySyntax};
use serde_json::Value;

pub struct Asked {
    pub user: String,
    pub product: i64,
    pub quantity: i64,
    pub key: Key,
}

pub enum Key {
    Missing,
    /// As far as there is one to be taken.
    Malformed(String),
    Good(String),
}

impl Asked {
    pub fn read(contract: &Contract, headers: &HeaderMap, body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap();
        Self {
            user: body["user"].as_str().unwrap().to_owned(),
            product: body["productId"].as_i64().unwrap(),
            quantity: body["quantity"].as_i64().unwrap(),
            key: key(&contract.key, headers, &body),
        }
    }
}

fn key(rule: &KeyRule, headers: &HeaderMap, body: &Value) -> Key {
    let given: Vec<String> = match &rule.carrier {
        KeyCarrier::Header(name) => {
            headers.get_all(name).iter().map(|it| it.to_str().unwrap().to_owned()).collect()
        }
        KeyCarrier::Body(pointer) => {
            body.pointer(pointer).and_then(Value::as_str).map(str::to_owned).into_iter().collect()
        }
    };
    let Some(first) = given.first().filter(|key| !key.is_empty()) else { return Key::Missing };
    let unquoted = first.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
    let (key, is_written_well) = match rule.syntax {
        KeySyntax::Raw => (first.as_str(), true),
        KeySyntax::Quoted => (unquoted.unwrap_or(first), unquoted.is_some()),
        KeySyntax::Uuid => (first.as_str(), is_uuid(first)),
    };
    let fits = rule.longest.is_none_or(|longest| key.chars().count() <= longest);
    if given.len() == 1 && is_written_well && fits {
        Key::Good(key.to_owned())
    } else {
        Key::Malformed(key.to_owned())
    }
}

fn is_uuid(text: &str) -> bool {
    let is_dash = |place| [8, 13, 18, 23].contains(&place);
    let fits = |(place, byte): (usize, u8)| match is_dash(place) {
        true => byte == b'-',
        false => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}
