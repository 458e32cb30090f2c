//! Equality of JSON as values: order of fields and spelling of numbers don't matter.

use serde_json::Value;

/// Whether two texts mean the same; `None` if one of them isn't JSON (it may have been cut).
pub(super) fn same(one: &str, other: &str) -> Option<bool> {
    let one: Value = serde_json::from_str(one).ok()?;
    let other: Value = serde_json::from_str(other).ok()?;
    Some(equal(&one, &other))
}

fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other
                || (one.is_f64() || other.is_f64())
                    && one.as_f64().is_some_and(|one| Some(one) == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, value)| other.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn spelling_does_not_matter_and_values_do() {
        let order = r#"{"orderId":1417,"total":1.0}"#;
        assert_eq!(same(order, r#"{ "total": 1, "orderId": 1417 }"#), Some(true));
        assert_eq!(same(order, r#"{"orderId":1418,"total":1.0}"#), Some(false));
        assert_eq!(same("9007199254740993", "9007199254740992"), Some(false));
        assert_eq!(same(order, r#"{"orderId":14"#), None);
    }
}
