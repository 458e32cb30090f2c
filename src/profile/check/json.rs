//! Request bodies: TOML becomes JSON, and its texts become templates.

use toml::Spanned;
use toml::de::DeValue;

use super::super::body::BodyTemplate;
use super::super::mistake::Mistake;
use super::super::node::Value;
use super::table::in_file_order;
use super::{About, Check};
use crate::codes;

impl Check<'_> {
    pub(super) fn json(&mut self, toml: &Spanned<DeValue<'_>>) -> Value {
        self.json_value("body", toml).map_or(Value::Broken, Value::JsonTemplate)
    }

    /// A value of which nothing is filled in.
    pub(super) fn plain_json(&mut self, about: About<'_>, toml: &Spanned<DeValue<'_>>) -> Value {
        let Some(template) = self.json_value(about.name, toml) else { return Value::Broken };
        match template.literal() {
            Some(value) => Value::Json(value),
            None => {
                let what = format!("`{}` takes no holes and no `${{NAME}}`", about.name);
                self.report(
                    Mistake::new(&codes::TEMPLATE, self.place(toml), what)
                        .label("this would differ between attempts, or be a secret")
                        .help("write the value itself; `{{` and `}}` are braces"),
                )
            }
        }
    }

    /// `None` after something in it was reported.
    fn json_value(&mut self, name: &str, toml: &Spanned<DeValue<'_>>) -> Option<BodyTemplate> {
        let span = self.place(toml);
        match toml.get_ref() {
            DeValue::Table(table) => {
                let fields: Vec<_> = in_file_order(table)
                    .into_iter()
                    .map(|(key, value)| {
                        let field = self.json_value(key.get_ref(), value)?;
                        Some((key.get_ref().to_string(), field))
                    })
                    .collect();
                Some(BodyTemplate::Object(fields.into_iter().collect::<Option<_>>()?))
            }
            DeValue::Array(array) => {
                let items: Vec<_> = array.iter().map(|item| self.json_value(name, item)).collect();
                Some(BodyTemplate::Array(items.into_iter().collect::<Option<_>>()?))
            }
            DeValue::String(text) => {
                let about = About { name, sample: "" };
                match self.template(None, about, text, &span) {
                    Value::Template(template) => Some(BodyTemplate::Text(template)),
                    _ => None,
                }
            }
            DeValue::Boolean(flag) => Some(BodyTemplate::Literal((*flag).into())),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => Some(BodyTemplate::Literal(number.into())),
                    Err(_) => self.not_json(name, "more than 64 bits", span),
                }
            }
            DeValue::Float(number) => {
                let float = number.as_str().parse::<f64>().ok();
                match float.and_then(serde_json::Number::from_f64) {
                    Some(number) => Some(BodyTemplate::Literal(number.into())),
                    None => self.not_json(name, "not a finite number", span),
                }
            }
            DeValue::Datetime(_) => self.not_json(name, "a date or time", span),
        }
    }

    fn not_json(
        &mut self,
        name: &str,
        label: &str,
        span: std::ops::Range<usize>,
    ) -> Option<BodyTemplate> {
        self.report(
            Mistake::new(
                &codes::WRONG_TYPE,
                span,
                format!("JSON can't carry the value of `{name}`"),
            )
            .label(label)
            .help("write it as a text, in quotes"),
        );
        None
    }
}
