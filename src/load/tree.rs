//! A request's body with its fields in the order in which they are written.
//!
//! `serde_json` keeps that order only with a feature that any crate in the build may switch, and
//! here the order is the point.

use serde_json::Value;

use crate::profile::{BodyTemplate, Filling};

/// JSON whose fields have an order.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Scalar(Value),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Tree {
    /// The body of a request, its holes filled.
    pub fn fill(template: &BodyTemplate, filling: &Filling<'_>) -> Self {
        match template {
            BodyTemplate::Array(items) => {
                Self::Array(items.iter().map(|item| Self::fill(item, filling)).collect())
            }
            BodyTemplate::Object(fields) => Self::Object(
                fields
                    .iter()
                    .map(|(name, value)| (name.clone(), Self::fill(value, filling)))
                    .collect(),
            ),
            BodyTemplate::Literal(_) | BodyTemplate::Text(_) => Self::of(template.render(filling)),
        }
    }

    pub fn of(value: Value) -> Self {
        match value {
            Value::Array(items) => Self::Array(items.into_iter().map(Self::of).collect()),
            Value::Object(fields) => Self::Object(
                fields.into_iter().map(|(name, value)| (name, Self::of(value))).collect(),
            ),
            scalar => Self::Scalar(scalar),
        }
    }

    pub fn value(&self) -> Value {
        match self {
            Self::Scalar(value) => value.clone(),
            Self::Array(items) => items.iter().map(Self::value).collect(),
            Self::Object(fields) => Value::Object(
                fields.iter().map(|(name, value)| (name.clone(), value.value())).collect(),
            ),
        }
    }

    /// Compact text, byte for byte what [`BodyTemplate::render_text`] gives.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// What a JSON pointer (RFC 6901) leads to.
    pub fn at_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        steps(pointer)?.into_iter().try_fold(self, |here, step| match here {
            Self::Object(fields) => {
                fields.iter_mut().find(|(name, _)| *name == step).map(|(_, value)| value)
            }
            Self::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
            Self::Scalar(_) => None,
        })
    }

    /// Writes a value where a pointer leads: over what is there, or as the last field of an object
    /// that is there. Whether there was a place for it.
    pub fn put(&mut self, pointer: &str, value: Value) -> bool {
        if let Some(place) = self.at_mut(pointer) {
            *place = Self::of(value);
            return true;
        }
        let Some((parent, last)) = split(pointer) else { return false };
        let Some(Self::Object(fields)) = self.at_mut(parent) else { return false };
        fields.push((last, Self::of(value)));
        true
    }

    /// Takes a field out of its object; elements of arrays stay, or others would move.
    pub fn remove(&mut self, pointer: &str) -> bool {
        let Some((parent, last)) = split(pointer) else { return false };
        let Some(Self::Object(fields)) = self.at_mut(parent) else { return false };
        let before = fields.len();
        fields.retain(|(name, _)| *name != last);
        fields.len() < before
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Scalar(value) => out.push_str(&value.to_string()),
            Self::Array(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    out.push_str(if place == 0 { "" } else { "," });
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                for (place, (name, value)) in fields.iter().enumerate() {
                    out.push_str(if place == 0 { "" } else { "," });
                    out.push_str(&Value::from(name.as_str()).to_string());
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn split(pointer: &str) -> Option<(&str, String)> {
    let (parent, last) = pointer.rsplit_once('/')?;
    Some((parent, unescape(last)))
}

fn steps(pointer: &str) -> Option<Vec<String>> {
    match pointer {
        "" => Some(Vec::new()),
        _ => Some(pointer.strip_prefix('/')?.split('/').map(unescape).collect()),
    }
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tree() -> Tree {
        Tree::Object(vec![
            ("b".to_owned(), Tree::of(json!([1, {"x": null}]))),
            ("a/b".to_owned(), Tree::of(json!("text"))),
        ])
    }

    #[test]
    fn fields_keep_their_order() {
        assert_eq!(tree().text(), r#"{"b":[1,{"x":null}],"a/b":"text"}"#);
        assert_eq!(tree().value(), json!({"a/b": "text", "b": [1, {"x": null}]}));
    }

    #[test]
    fn pointers_write_and_take_out() {
        let mut tree = tree();
        assert!(tree.put("/b/1/x", json!(2)) && tree.put("/c", json!(true)));
        assert!(!tree.put("/d/e", json!(0)) && !tree.remove("/b/0"));
        assert!(tree.remove("/a~1b") && !tree.remove("/a~1b"));
        assert_eq!(tree.text(), r#"{"b":[1,{"x":2}],"c":true}"#);
    }
}
