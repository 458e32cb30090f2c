//! `dupeproof schema`: the schemas that it prints are those of the repository, and are schemas.
//!
//! `UPDATE_SCHEMAS=1 cargo test --test drill` writes `schemas/result.schema.json` anew.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::rig::Rig;

fn printed(which: &str) -> String {
    let ended = Rig::new().run(&["schema", which]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    ended.stdout
}

#[test]
fn what_is_printed_is_a_json_schema() {
    for which in ["profile", "result"] {
        let schema: Value = serde_json::from_str(&printed(which)).expect("stdout is JSON");
        assert!(jsonschema::meta::is_valid(&schema), "{which}");
        assert!(schema["$schema"].as_str().is_some_and(|uri| uri.contains("json-schema.org")));
    }
}

#[test]
fn the_schema_of_results_in_the_repository_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/result.schema.json");
    let printed = printed("result");
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        fs::write(&path, &printed).expect("the repository can be written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == printed, "UPDATE_SCHEMAS=1 cargo test --test drill");
}

#[test]
fn the_schema_of_profiles_in_the_repository_is_the_one_that_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/profile.schema.json");
    let stored = fs::read_to_string(path).expect("it is in the repository");
    assert_eq!(printed("profile"), stored);
}

/// A schema that takes anything would let every result pass.
#[test]
fn the_schema_of_results_refuses_what_is_no_result() {
    let schema: Value = serde_json::from_str(&printed("result")).expect("stdout is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    for wrong in [r#"{}"#, r#"{"verdict": "perhaps"}"#, "[]"] {
        let wrong: Value = serde_json::from_str(wrong).expect("it is JSON");
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}
