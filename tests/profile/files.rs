//! Files that aren't there, or aren't profiles: each message says what to do.

use std::path::Path;

use dupeproof::profile::{LONGEST_PROFILE, load};

use crate::{PHASE, env};

/// What is told about a file, with the temporary folder's name taken out.
fn told(folder: &Path, name: &str) -> String {
    let error = load(&folder.join(name), &env).expect_err("this can't be read");
    assert_eq!(error.code().id, "C021");
    error.render(false).replace(&folder.display().to_string(), "FOLDER")
}

#[test]
fn a_missing_file_is_told_with_its_likeness() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("nightly.toml"), PHASE).unwrap();
    insta::assert_snapshot!(told(folder.path(), "nigthly.toml"));
    insta::assert_snapshot!(told(folder.path(), "nightly"));
    insta::assert_snapshot!(told(folder.path(), "quite/another.toml"));
    insta::assert_snapshot!(told(folder.path(), "nothing-like-it.toml"));
    insta::assert_snapshot!(told(folder.path(), "chekout.toml"));
}

#[test]
fn a_folder_is_told_with_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(told(folder.path(), ""));
    std::fs::write(folder.path().join("a.toml"), PHASE).unwrap();
    std::fs::write(folder.path().join("b.txt"), PHASE).unwrap();
    insta::assert_snapshot!(told(folder.path(), ""));
}

#[test]
fn what_is_no_text_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.toml"), b"seed = 1\ntitle = \"\xff\"\n").unwrap();
    insta::assert_snapshot!(told(folder.path(), "x.toml"));
}

#[test]
fn a_file_of_the_limit_is_read_and_a_larger_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    let filled = |length: usize| format!("{PHASE}#{}", "x".repeat(length - PHASE.len() - 1));
    let limit = usize::try_from(LONGEST_PROFILE).unwrap();
    std::fs::write(&path, filled(limit)).unwrap();
    load(&path, &env).unwrap();
    std::fs::write(&path, filled(limit + 1)).unwrap();
    insta::assert_snapshot!(told(folder.path(), "x.toml"));
}

#[test]
fn a_file_with_mistakes_is_told_with_the_path_that_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    std::fs::write(&path, "sed = 1").unwrap();
    let error = load(&path, &env).unwrap_err();
    assert!(error.render(false).contains(&format!("2 mistakes in {}", path.display())));
    assert!(error.to_string().starts_with("2 mistakes in "));
}
