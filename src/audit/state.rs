//! What a reply says about the order that was acted on: its status, as the body names it.

use crate::history::{Attempt, History};

/// Names under which replies give a status.
const NAMES: [&str; 4] = ["status", "state", "orderStatus", "order_status"];

/// The status that a reply claims for its order.
pub(super) fn claimed(history: &History, attempt: &Attempt) -> Option<String> {
    let body = history.bodies.get(&attempt.body?)?;
    let value: serde_json::Value = serde_json::from_str(&body.text).ok()?;
    let of = |value: &serde_json::Value| {
        NAMES.iter().find_map(|name| Some(value.get(name)?.as_str()?.to_owned()))
    };
    of(&value).or_else(|| of(value.get("order")?))
}

/// Whether the text of a reply gives want of stock as its reason.
pub(super) fn says_sold_out(history: &History, attempt: &Attempt) -> bool {
    const WORDS: [&str; 6] =
        ["soldout", "outofstock", "insufficientstock", "nostock", "notenoughstock", "stockout"];
    let Some(body) = attempt.body.and_then(|id| history.bodies.get(&id)) else { return false };
    let letters: String =
        body.text.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_lowercase();
    WORDS.iter().any(|word| letters.contains(word))
}
