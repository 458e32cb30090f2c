//! The schema is fresh, takes the profiles that are right, and refuses what an editor could see.
//!
//! `UPDATE_SCHEMAS=1 cargo test --test profile` writes it anew.

use std::path::Path;
use std::sync::LazyLock;

use dupeproof::profile::schema;
use serde_json::{Map, Value, json};
use toml::de::{DeTable, DeValue};

use crate::{ATTACHED, EVERYTHING, LAUNCHED, PHASE, profiles};

static VALIDATOR: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::validator_for(&schema()).expect("the schema is one"));

#[test]
fn the_schema_in_the_repository_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/profile.schema.json");
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, format!("{:#}\n", schema())).unwrap();
    }
    let stored: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(stored == schema(), "UPDATE_SCHEMAS=1 cargo test --test profile");
}

#[test]
fn the_schema_takes_every_profile() {
    for file in profiles::files() {
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(complaints(&text), Vec::<String>::new(), "{}", file.display());
    }
    for text in [EVERYTHING, ATTACHED, LAUNCHED] {
        assert_eq!(complaints(text), Vec::<String>::new());
    }
}

#[test]
fn the_schema_takes_what_is_written_back() {
    let written = crate::read(EVERYTHING).unwrap().to_toml();
    assert_eq!(complaints(&written), Vec::<String>::new());
}

#[test]
fn the_schema_refuses_what_an_editor_can_see() {
    for broken in [
        "sede = 1",
        "seed = 'one'",
        "seed = -1",
        "lab.instances = 2.5",
        "lab.lock-per = 'order'",
        "lab.lease = '3 seconds'",
        "lab.defects = ['Unlock']",
        "contract.hint = true",
        "contract.in-progress = { code = ['X'] }",
        "contract.first = []",
        "client.longest-reply = '1 MB'",
        "client.retries.at-most = '8'",
        "request.place = {}",
        "request.place = { post = '/a', put = '/b' }",
        "request.place = { post = 'orders' }",
        "request.place = { post = '/a', ignored = ['traceId'] }",
        "request.place = { post = '/a', headers = { 'a b' = 'c' } }",
        "request.Place = { post = '/a' }",
        "audit.orders = { table = 'orders' }",
        "audit.stock = { table = 'a-b', product = 'p', available = 'a' }",
        "title = ' '",
        "phase = []",
        "phase = [{ name = 'p' }]",
        "phase = [{ name = 'p', burst = { same-key = { users = 2, threads = 2 } }, rate = { per-second = 1, for = '1s' } }]",
        "phase = [{ name = 'p', rate = { per-second = 0, for = '1s' } }]",
        "target = {}",
        "target.urls = ['ftp://127.0.0.1']",
        "lab.proxies = 'no'",
        "redis.url = 'http://127.0.0.1'",
        "redis.proxy = 'localhost:16379'",
        "redis.lock-keys = 'lock:{order}'",
        "wires.roles = { 'redis SET lock' = 'locks' }",
        "wires.roles = { 'mysql SET lock' = 'lock' }",
        "wires.roles = { 'redis set lock' = 'lock' }",
        "contract.key.syntax = 'odd'",
        "contract.missing-key = 'refused'",
        "request.place = { post = '/{key}', number-forms = 1 }",
        "phase = [{ name = 'p', burst = {} }]",
        "phase = [{ name = 'p', burst = { same-key = { users = 0, threads = 1 } } }]",
        "phase = [{ name = 'p', burst.bad-keys = {}, fault = [{ at.time = '0s' }] }]",
        "phase = [{ name = 'p', burst.bad-keys = {}, fault = [{ at = {}, do.reset = {} }] }]",
        "phase = [{ name = 'p', burst.bad-keys = {}, fault = [{ at.step.after = 'postgres commit', do.reset = {} }] }]",
        "phase = [{ name = 'p', burst.bad-keys = {}, fault = [{ at.step = { after = 'redis SET', before = 'redis SET' }, do.reset = {} }] }]",
        "phase = [{ name = 'p', burst.bad-keys = {}, fault = [{ at.step.after = 'redis SET', do = { reset = {}, hold = {} } }] }]",
        "phase = [{ name = 'p', burst.bad-keys = {}, fault = [{ at.step.before = 'postgres COMMIT', do.fail = { sqlstate = '40p01' } }] }]",
        "phase = [{ name = 'p', burst.bad-keys = {}, fault = [{ at.step.before = 'redis SET', do.fail = { redis = '-ERR' } }] }]",
    ] {
        let text = if broken.starts_with("phase") { broken } else { &format!("{broken}\n{PHASE}") };
        assert!(!complaints(text).is_empty(), "the schema takes {broken}");
        assert!(crate::read(text).is_err(), "the check takes {broken}");
    }
}

/// What the schema says against a profile.
pub fn complaints(text: &str) -> Vec<String> {
    let toml = DeTable::parse(text).expect("these tests write TOML");
    let profile = table(toml.get_ref());
    VALIDATOR.iter_errors(&profile).map(|error| error.to_string()).collect()
}

fn table(table: &DeTable<'_>) -> Value {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &std::borrow::Cow<'_, str> = key.get_ref();
        (key.to_string(), json(value.get_ref()))
    };
    Value::Object(table.iter().map(entry).collect::<Map<_, _>>())
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => number.as_str().parse().expect("64 bits"),
        DeValue::Float(number) => json!(number.as_str().parse::<f64>().expect("a number")),
        DeValue::Boolean(flag) => json!(flag),
        DeValue::Datetime(moment) => json!(moment.to_string()),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(entries) => table(entries),
    }
}
