//! The JSON Schema of a profile, for editors: completion, descriptions and first warnings.
//!
//! It comes from the description that the check uses, so it never asks for something else. What
//! needs two values to be compared is left to the check.

use serde_json::{Map, Value, json};
use toml::de::DeValue;

use super::keys::PROFILE;
use super::shape::{Field, Presence, Shape, Table};
use super::units::{DURATION_PATTERN, SIZE_PATTERN};

/// The schema, in JSON Schema 2020-12.
pub fn schema() -> Value {
    let mut schema = table(&PROFILE);
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".to_owned(), "A profile of dupeproof".into());
    Value::Object(schema)
}

fn table(table: &Table) -> Map<String, Value> {
    let properties: Map<String, Value> =
        table.fields.iter().map(|one| (one.name.to_owned(), field(one))).collect();
    let required: Vec<&str> = table
        .fields
        .iter()
        .filter(|field| field.presence == Presence::Required)
        .map(|field| field.name)
        .collect();
    let alternatives: Vec<Value> =
        table.alternatives().map(|field| json!({ "required": [field.name] })).collect();
    let mut schema = object(json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    }));
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    if !alternatives.is_empty() {
        schema.insert("oneOf".to_owned(), alternatives.into());
    }
    schema
}

fn field(field: &Field) -> Value {
    let mut schema = shape(&field.shape);
    schema.insert("description".to_owned(), field.doc.into());
    if let Presence::Default(literal) = field.presence
        && literal != "{}"
    {
        schema.insert("default".to_owned(), literal_json(literal));
    }
    if let Some(sample) = field.sample() {
        schema.insert("examples".to_owned(), json!([literal_json(sample)]));
    }
    Value::Object(schema)
}

fn shape(shape: &Shape) -> Map<String, Value> {
    object(match shape {
        Shape::Table(inner) => return table(inner),
        Shape::Map { names, values } => json!({
            "type": "object",
            "propertyNames": { "pattern": names.pattern },
            "additionalProperties": self::shape(values),
        }),
        Shape::List { items, at_least } => json!({
            "type": "array",
            "items": self::shape(items),
            "minItems": at_least,
            "uniqueItems": !matches!(items, Shape::Table(_)),
        }),
        Shape::Text(rule) | Shape::Template(rule) => {
            json!({ "type": "string", "pattern": rule.pattern })
        }
        Shape::Secret(rule) => json!({
            "type": "string",
            "anyOf": [{ "pattern": rule.pattern }, { "pattern": "[$][{]" }],
        }),
        Shape::WordOr { words, or, .. } => {
            json!({ "anyOf": [{ "enum": words }, self::shape(or)] })
        }
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Json => json!({}),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::Count { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Shape::Duration { .. } => json!({ "type": "string", "pattern": DURATION_PATTERN }),
        Shape::Size { min, max } => json!({ "anyOf": [
            { "type": "integer", "minimum": min, "maximum": max },
            { "type": "string", "pattern": SIZE_PATTERN },
        ] }),
        Shape::JsonTemplate => json!({ "type": ["object", "array"] }),
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => unreachable!("schemas are objects, not {other}"),
    }
}

/// A value of the description, from TOML to JSON.
fn literal_json(literal: &str) -> Value {
    let value = DeValue::parse(literal).expect("a test reads every default and example");
    to_json(value.get_ref())
}

fn to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => number.as_str().parse::<u64>().map_or(Value::Null, Value::from),
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Datetime(moment) => moment.to_string().into(),
        DeValue::Array(items) => items.iter().map(|item| to_json(item.get_ref())).collect(),
        DeValue::Table(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, value)| (key.get_ref().to_string(), to_json(value.get_ref())))
                .collect(),
        ),
    }
}
