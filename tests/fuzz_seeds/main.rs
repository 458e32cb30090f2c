//! What the fuzzer starts from, and some thousands of mutations of it, through the same drive
//! functions. `.ci/fuzz` goes on from there for hours; what it finds becomes a seed here.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world should end there")]

#[path = "../../fuzz/src/lib.rs"]
mod codecs;
mod mutations;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use mutations::Mutations;

const MUTATIONS: usize = 3_000;

/// The seeds of a protocol, by their names.
fn seeds(protocol: &str) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder().join("seeds").join(protocol))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

/// What fails is left where the fuzzer can take it up.
fn run(drive: fn(&[u8]), protocol: &str, name: &str, bytes: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| drive(bytes))).is_err() {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{protocol}"));
        fs::write(&path, bytes).unwrap();
        panic!("{name} fails for {protocol}; its bytes are in {}", path.display());
    }
}

fn all(drive: fn(&[u8]), protocol: &str) {
    let seeds = seeds(protocol);
    assert!(seeds.len() >= 10, "{protocol} has seeds");
    for (name, bytes) in &seeds {
        run(drive, protocol, name, bytes);
    }
    let words = fs::read_to_string(folder().join(format!("dictionaries/{protocol}.dict"))).unwrap();
    let mut mutations = Mutations::of(seeds.into_iter().map(|(_, bytes)| bytes), &words);
    for number in 0..MUTATIONS {
        run(drive, protocol, &format!("mutation {number}"), &mutations.next());
    }
}

#[test]
fn redis_passes_whatever_is_made_of_its_seeds() {
    all(codecs::redis, "redis");
}

#[test]
fn postgres_passes_whatever_is_made_of_its_seeds() {
    all(codecs::postgres, "postgres");
}

#[test]
fn http_passes_whatever_is_made_of_its_seeds() {
    all(codecs::http, "http");
}
