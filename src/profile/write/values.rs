//! Values as TOML writes them.

use std::time::Duration;

use super::super::body::BodyTemplate;
use super::super::contract::Answer;
use super::super::template::TextTemplate;
use super::super::units;

/// A string in TOML. JSON escapes the same way, but lets DEL through.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

/// A text that isn't a template.
pub(super) fn text(text: &str) -> String {
    quoted(&text.replace("${", "$${"))
}

pub(super) fn template(template: &TextTemplate) -> String {
    quoted(&template.written())
}

pub(super) fn duration(duration: Duration) -> String {
    quoted(&units::write_duration(duration))
}

pub(super) fn size(bytes: usize) -> String {
    quoted(&units::write_size(bytes as u64))
}

pub(super) fn texts(texts: &[String]) -> String {
    list(texts.iter().map(|item| text(item)))
}

pub(super) fn numbers(numbers: &[u16]) -> String {
    list(numbers.iter().map(u16::to_string))
}

pub(super) fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// An inline table of what there is.
pub(super) fn inline(
    entries: impl IntoIterator<Item = (impl AsRef<str>, Option<String>)>,
) -> String {
    let entries: Vec<String> = entries
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{} = {}", key(name.as_ref()), value?)))
        .collect();
    if entries.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", entries.join(", ")) }
}

pub(super) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

pub(super) fn answer(answer: &Answer) -> String {
    with_answer(answer, [])
}

/// An answer, and what a clause has beside it.
pub(super) fn with_answer<const N: usize>(
    answer: &Answer,
    more: [(&str, Option<String>); N],
) -> String {
    let code = answer.code.as_ref();
    let own = [
        ("status", Some(numbers(&answer.statuses))),
        ("code", code.map(|code| texts(&code.values))),
        ("code-at", code.map(|code| text(&code.pointer))),
    ];
    inline(own.into_iter().chain(more))
}

/// A body. Its literals are numbers and flags, which TOML and JSON write alike.
pub(super) fn body(value: &BodyTemplate) -> String {
    match value {
        BodyTemplate::Literal(literal) => literal.to_string(),
        BodyTemplate::Text(text) => template(text),
        BodyTemplate::Array(items) => list(items.iter().map(body)),
        BodyTemplate::Object(fields) => {
            inline(fields.iter().map(|(name, value)| (name, Some(body(value)))))
        }
    }
}
