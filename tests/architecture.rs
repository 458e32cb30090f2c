//! Keeps the imports as the map in `src/lib.rs` says: each room may use the floors below its own,
//! the hands never import each other, and shop and payments are strangers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What each room may import. The face may use everything but strangers; only their subcommand may
/// start those.
fn allowed() -> BTreeMap<&'static str, Vec<&'static str>> {
    let base = ["profile", "history", "guard", "codes"];
    let judgement = ["audit", "story", "report"];
    let hands = ["load", "chaos", "observe", "lab", "wire"];
    let with = |own: &[&'static str]| [own, &base].concat();
    let conductor = |own: &[&'static str]| [own, &hands, &judgement, &base].concat();
    BTreeMap::from([
        (
            "cli",
            [&["ui", "drill", "settle", "shop", "payments"], hands.as_slice(), &judgement, &base]
                .concat(),
        ),
        ("ui", [&["drill", "settle"], hands.as_slice(), &judgement, &base].concat()),
        ("drill", conductor(&["settle"])),
        ("settle", conductor(&[])),
        ("load", with(&[])),
        ("chaos", with(&[])),
        ("observe", with(&[])),
        ("lab", with(&[])),
        ("wire", with(&[])),
        ("audit", with(&[])),
        ("story", with(&["audit"])),
        ("report", with(&["audit", "story"])),
        ("profile", vec!["history", "codes"]),
        ("history", vec![]),
        ("guard", vec![]),
        ("codes", vec![]),
        ("shop", vec![]),
        ("payments", vec![]),
    ])
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("src is there") {
        let path = entry.expect("src can be read").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Rooms that a file names: `crate::ROOM`, also within `crate::{a, b}`.
fn imports(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    let word = |text: &str| -> String {
        text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
    };
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut start = true;
            for (offset, letter) in group.char_indices() {
                match letter {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => start = true,
                    _ if start && letter.is_alphabetic() => {
                        found.insert(word(&group[offset..]));
                        start = false;
                    }
                    _ => {}
                }
            }
        } else {
            found.insert(word(rest));
        }
    }
    found
}

fn rooms() -> BTreeSet<String> {
    std::fs::read_dir("src")
        .expect("src is there")
        .filter_map(|entry| {
            let entry = entry.expect("src can be read");
            entry.path().is_dir().then(|| entry.file_name().into_string().expect("ASCII names"))
        })
        .collect()
}

#[test]
fn every_room_imports_only_what_the_map_allows() {
    let allowed = allowed();
    let rooms = rooms();
    let mut broken = Vec::new();
    for room in &rooms {
        let may = allowed.get(room.as_str()).unwrap_or_else(|| panic!("{room} is not on the map"));
        for file in rust_files(&Path::new("src").join(room)) {
            let text = std::fs::read_to_string(&file).expect("a source file can be read");
            for import in imports(&text) {
                if rooms.contains(&import) && import != *room && !may.contains(&import.as_str()) {
                    broken.push(format!("{} imports {import}", file.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "not on the map:\n{}", broken.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for() {
    for file in rust_files(Path::new("src")) {
        let text = std::fs::read_to_string(&file).expect("a source file can be read");
        assert!(text.starts_with("//! "), "{} does not open with what it is for", file.display());
    }
}

#[test]
fn only_ui_writes_to_the_terminal_and_only_main_ends_the_process() {
    for file in rust_files(Path::new("src")) {
        let text = std::fs::read_to_string(&file).expect("a source file can be read");
        let room = file.strip_prefix("src").expect("it lies in src");
        for (word, free) in [("println!", "ui"), ("process::exit", "main.rs")] {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let uses = code.into_iter().any(|line| line.contains(word));
            assert!(
                !uses || room.starts_with(free) || room.starts_with("shop"),
                "{} uses {word}",
                file.display()
            );
        }
    }
}

#[test]
fn the_readers_of_imports_see_groups_and_paths() {
    let text =
        "use crate::{audit::{a, b}, history::History};\nlet x = crate::lab::f();\n// crate::ui";
    let expected = ["audit", "history", "lab"].map(str::to_owned);
    assert_eq!(imports(text), BTreeSet::from(expected));
}
