//! JSON text with freedoms that its grammar (RFC 8259) leaves: white space between tokens, escapes in
//! strings, several ways to write one number.

use serde_json::Value;

use super::dice::{Stream, below};
use super::forms::is_integer;
use super::tree::Tree;

/// How a body is spelled.
pub(super) struct Spelling<'a> {
    pub spaced: bool,
    pub escaped: bool,
    pub numbers: bool,
    pub stream: &'a mut Stream,
}

/// A text in the making. Of each freedom that is taken, the first chance is used for certain, so
/// that the bytes truly differ.
struct Text {
    out: String,
    escapes: usize,
    numbers: usize,
}

impl Spelling<'_> {
    pub fn write(mut self, tree: &Tree) -> String {
        let mut text = Text { out: String::new(), escapes: 0, numbers: 0 };
        self.value(tree, &mut text);
        if self.spaced {
            text.out.push(' ');
        }
        text.out
    }

    fn value(&mut self, tree: &Tree, text: &mut Text) {
        match tree {
            Tree::Scalar(Value::String(string)) => self.string(string, text),
            Tree::Scalar(value) if self.numbers && is_integer(tree) => {
                let ways = if text.numbers == 0 { 2 } else { 3 };
                text.numbers += 1;
                let end = ["e0", ".0", ""][below(self.stream, ways)];
                text.out.push_str(&format!("{value}{end}"));
            }
            Tree::Scalar(value) => text.out.push_str(&value.to_string()),
            Tree::Array(items) => {
                text.out.push('[');
                for (place, item) in items.iter().enumerate() {
                    self.comma(place, text);
                    self.value(item, text);
                }
                self.space(text);
                text.out.push(']');
            }
            Tree::Object(fields) => {
                text.out.push('{');
                for (place, (name, value)) in fields.iter().enumerate() {
                    self.comma(place, text);
                    self.string(name, text);
                    self.space(text);
                    text.out.push(':');
                    self.space(text);
                    self.value(value, text);
                }
                self.space(text);
                text.out.push('}');
            }
        }
    }

    fn comma(&mut self, place: usize, text: &mut Text) {
        if place > 0 {
            self.space(text);
            text.out.push(',');
        }
        self.space(text);
    }

    fn space(&mut self, text: &mut Text) {
        if self.spaced {
            text.out.push_str(["", " ", "\n", "\t", "  ", "\r\n"][below(self.stream, 6)]);
        }
    }

    fn string(&mut self, string: &str, text: &mut Text) {
        if !self.escaped {
            text.out.push_str(&Value::from(string).to_string());
            return;
        }
        text.out.push('"');
        for letter in string.chars() {
            if text.escapes == 0 || below(self.stream, 4) == 0 {
                text.escapes += 1;
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    text.out.push_str(&format!("\\u{unit:04x}"));
                }
            } else {
                let plain = Value::from(letter.to_string()).to_string();
                text.out.push_str(&plain[1..plain.len() - 1]);
            }
        }
        text.out.push('"');
    }
}
