//! The README's examples are what the program does.
//!
//! Every `console` block is run, and what comes out is compared by shape: numbers, durations, names
//! of runs and orders may differ, words may not. Lines are rejoined first, because where a line
//! breaks depends on the numbers in it. Which moments a finding's story has depends on scheduling,
//! so there the words count, not their order, nor who made a step or how often one had to wait. Every command of an `sh` block must be one that the
//! program takes.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

const EXE: &str = env!("CARGO_BIN_EXE_dupeproof");

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(path).expect("the file is in the repository")
}

/// The texts of all blocks of this kind.
fn blocks(kind: &str) -> Vec<String> {
    let readme = read("README.md");
    let mut parts = readme.split("```");
    let _ = parts.next();
    let mut blocks = Vec::new();
    while let (Some(block), Some(_)) = (parts.next(), parts.next()) {
        if let Some(text) = block.strip_prefix(kind).and_then(|rest| rest.strip_prefix('\n')) {
            blocks.push(text.to_owned());
        }
    }
    blocks
}

/// What `make drill` runs of dupeproof, as the Makefile has it.
fn of_make(target: &str) -> Vec<String> {
    let makefile = read("Makefile");
    let recipe = makefile.split(&format!("\n{target}:\n")).nth(1).expect("the target is there");
    let mut lines = recipe.lines().take_while(|line| line.starts_with('\t'));
    let run = lines.find_map(|line| line.split_once("cargo run ")).expect("it runs the program").1;
    let (_, arguments) = run.split_once(" -- ").expect("arguments follow");
    arguments.split_whitespace().map(str::to_owned).collect()
}

fn arguments(command: &str) -> Vec<String> {
    let command = command.split(" #").next().unwrap_or_default();
    let mut words = command.split_whitespace().map(str::to_owned);
    match (words.next().as_deref(), words.next()) {
        (Some("dupeproof"), Some(first)) => std::iter::once(first).chain(words).collect(),
        (Some("make"), Some(target)) => of_make(&target),
        other => panic!("the README shows a command that this test doesn't know: {other:?}"),
    }
}

/// Runs dupeproof where a reader would, with the profiles beside it and results of its own.
fn run(arguments: &[String]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(), open).expect("the folder is ours");
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    symlink(profiles, folder.path().join("profiles")).expect("the folder can be written");
    let mut command = Command::new(EXE);
    command.args(arguments).current_dir(folder.path()).env("TMPDIR", folder.path());
    command.env_remove("CLICOLOR_FORCE").output().expect("the program starts")
}

#[test]
fn every_console_block_shows_what_the_program_says() {
    let blocks = blocks("console");
    assert!(blocks.len() >= 4, "the README has its examples");
    for block in blocks {
        let (command, shown) = block.split_once('\n').expect("a command and its output");
        let command = command.strip_prefix("$ ").expect("a block begins with its command");
        let output = run(&arguments(command));
        let said = String::from_utf8_lossy(&output.stdout);
        if let Err(difference) = compare(shown, &said) {
            let stderr = String::from_utf8_lossy(&output.stderr);
            panic!("{command}: {difference}\n--- it said\n{said}\n--- and\n{stderr}");
        }
    }
}

#[test]
fn every_sh_block_has_commands_that_the_program_takes() {
    let commands: Vec<String> =
        blocks("sh").iter().flat_map(|block| block.lines()).map(str::to_owned).collect();
    assert!(commands.iter().any(|command| command.starts_with("dupeproof run ")), "{commands:?}");
    for command in commands {
        let arguments = arguments(&command);
        let (subcommand, rest) = arguments.split_first().expect("a subcommand");
        let help = run(&[subcommand.clone(), "--help".to_owned()]);
        assert!(help.status.success(), "{command}");
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        for word in rest.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(&format!("{word} ")), "{command}: no {word} in\n{help}");
        }
        for profile in rest.iter().filter(|word| word.ends_with(".toml")) {
            assert!(read(profile).contains("[[phase]]"), "{command}");
        }
        let defects = rest.iter().skip_while(|word| *word != "--defects").nth(1);
        let known = run(&["shop".to_owned(), "--list-defects".to_owned()]);
        let known = String::from_utf8_lossy(&known.stdout).into_owned();
        for defect in defects.into_iter().flat_map(|defects| defects.split(',')) {
            assert!(known.contains(&format!("  {defect}\n")), "{command}: no {defect}");
        }
    }
}

#[test]
fn the_steps_for_a_service_of_ones_own_are_a_profile() {
    let text = blocks("toml").concat();
    let env = |name: &str| (name == "ORDERS_TOKEN").then(|| "a-token".to_owned());
    let profile = dupeproof::profile::parse(Path::new("README.md"), &text, &env);
    let profile = profile.unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert!(matches!(profile.target, dupeproof::profile::Target::Launched(_)));
}

#[test]
fn every_profile_and_page_that_the_readme_names_is_there() {
    let readme = read("README.md");
    for (_, link) in readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')').map(|(link, _)| ((), link)))
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(link);
        assert!(path.exists(), "{link}");
    }
}

/// Paragraph by paragraph; a line `...` stands for any number of them.
fn compare(shown: &str, said: &str) -> Result<(), String> {
    let said = paragraphs(said);
    let parts: Vec<_> = shown.split("\n...\n").map(paragraphs).collect();
    let (first, last) = (&parts[0], &parts[parts.len() - 1]);
    let shown_in_all: usize = parts.iter().map(Vec::len).sum();
    match parts.len() {
        1 if said.len() != shown_in_all => {
            return Err(format!("{} paragraphs instead of {shown_in_all}", said.len()));
        }
        1 | 2 if said.len() >= shown_in_all => {}
        2 => return Err(format!("only {} paragraphs", said.len())),
        _ => return Err("more than one `...`".to_owned()),
    }
    let from_the_end = &said[said.len() - last.len()..];
    for (shown, said) in first.iter().zip(&said).chain(last.iter().zip(from_the_end)) {
        let (expected, found) = (shape(shown), shape(said));
        if expected != found {
            return Err(format!("the README has\n{expected:#?}\nand it said\n{found:#?}"));
        }
    }
    Ok(())
}

fn paragraphs(text: &str) -> Vec<Vec<&str>> {
    let lines: Vec<&str> = text.lines().collect();
    let paragraphs = lines.split(|line| line.trim().is_empty()).map(<[&str]>::to_vec);
    paragraphs.filter(|paragraph| !paragraph.is_empty()).collect()
}

/// Words of a story that only some cases have: its maker is known, or it waited for its lock.
const CHANCE: [&str; 6] = ["(shop-#)", "(attempt", "#)", "nil,", "times", "until"];

/// What must be equal in two paragraphs, line by line.
fn shape(paragraph: &[&str]) -> Vec<Vec<String>> {
    let words = |line: &str| shapes(line).collect::<Vec<_>>();
    let is_finding = ["error[", "protected["].iter().any(|start| paragraph[0].starts_with(start));
    if is_finding {
        let mut all: BTreeSet<String> = paragraph.iter().flat_map(|line| words(line)).collect();
        all.retain(|word| !CHANCE.contains(&word.as_str()));
        return vec![words(paragraph[0]), all.into_iter().collect()];
    }
    let is_table = paragraph.iter().any(|line| line.trim().contains("  "));
    if !is_table {
        return vec![paragraph.iter().flat_map(|line| words(line)).collect()];
    }
    // A cell that was wrapped goes on far to the right of where its row began. Wrapping mixes the
    // words of neighbouring cells, so each row's words are sorted.
    let mut rows: Vec<(usize, Vec<String>)> = Vec::new();
    for line in paragraph {
        let indent = line.len() - line.trim_start().len();
        match rows.last_mut() {
            Some((start, row)) if indent >= *start + 8 => row.extend(words(line)),
            _ => rows.push((indent, words(line))),
        }
    }
    let sorted = |(_, mut row): (usize, Vec<String>)| {
        row.sort();
        row
    };
    rows.into_iter().map(sorted).collect()
}

/// Words with a placeholder for each number, duration and name of a run. An exit code is no number;
/// how many orders the luckiest user got is one, also in words.
fn shapes(line: &str) -> impl Iterator<Item = String> {
    let line = line.replace("got up to ", "got ").replace("of up to ", "of ");
    let mut before = "";
    let shapes: Vec<_> = line
        .split_whitespace()
        .filter_map(|word| {
            let shape = match word {
                "us" | "ms" | "s" if before.ends_with(|last: char| last.is_ascii_digit()) => None,
                exit if before == "exit" => Some(exit.to_owned()),
                word => Some(shape_of(word)),
            };
            before = word;
            shape
        })
        .collect();
    shapes.into_iter()
}

fn shape_of(word: &str) -> String {
    for prefix in ["u-", "k-"] {
        if word.starts_with(prefix) && word.len() > 12 {
            return format!("{prefix}ID");
        }
    }
    if let Some((key, _)) = word.split_once(":u-") {
        return format!("{key}:u-ID");
    }
    const SPELLED: [&str; 9] =
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    if SPELLED.contains(&word) {
        return "#".to_owned();
    }
    if let Some((before, name)) = word.split_once("results/20") {
        // 2026-11-30T15-06-12Z-NAME-7c1e
        let name = name.split_once("Z-").and_then(|(_, rest)| rest.rsplit_once('-'));
        return format!("{before}results/{}", name.map_or("?", |(name, _)| name));
    }
    let word = match word.strip_suffix("us,").or(word.strip_suffix("s,")) {
        Some(number) if number.ends_with(|last: char| last.is_ascii_digit()) => number,
        _ => word,
    };
    let is_instance = word.starts_with("shop-");
    let first = word.find(|letter: char| letter.is_ascii_alphanumeric());
    let is_number = first.is_some_and(|at| word.as_bytes()[at].is_ascii_digit());
    if !(is_number || is_instance) {
        return word.to_owned();
    }
    let mut shape = String::new();
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        let inside = |next: Option<&char>| next.is_some_and(char::is_ascii_digit);
        match letter {
            '0'..='9' if !shape.ends_with('#') => shape.push('#'),
            '0'..='9' => {}
            ',' | '.' if shape.ends_with('#') && inside(letters.peek()) => {}
            other => shape.push(other),
        }
    }
    shape
}

#[test]
fn a_shape_keeps_words_and_forgets_numbers() {
    let shape = |text: &str| shapes(text).collect::<Vec<_>>().join(" ");
    assert_eq!(shape("0 of 1,570 attempts I02"), "# of # attempts I02");
    assert_eq!(shape("at 1.103 s, 99 us exit 0"), "at # s, # exit 0");
    assert_eq!(shape("u-dqwb2mk6d1st4-002 shop-1 (231 orders,"), "u-ID shop-# (# orders,");
    assert_eq!(shape("SET lock:create:u-dqwb2mk6d1st4-002 NX"), "SET lock:create:u-ID NX");
    let run = "results/2026-11-30T15-06-12Z-lock-inside-1st4";
    assert_eq!(shape(run), "results/lock-inside");
}

#[test]
fn a_comparison_sees_a_changed_word_a_lost_row_and_another_exit() {
    let shown =
        "  GATE\n    ok a  0 of 2 x\n                y\n    ok b  1\n\n  PASSED  in 3 s   exit 0\n";
    let same = "\n  GATE\n    ok a  0 of 200 x y\n    ok b  7\n\n  PASSED  in 3.4 s   exit 0\n";
    assert_eq!(compare(shown, same), Ok(()));
    assert_eq!(
        compare(
            "  GATE\n...\n  PASSED  in 3 s   exit 0\n",
            "  GATE\n\n x\n\n PASSED  in 1 s exit 0"
        ),
        Ok(())
    );
    for different in [
        same.replace("ok b", "x b"),
        same.replace("    ok b  7\n", ""),
        same.replace("exit 0", "exit 1"),
        same.replace("\n\n  PASSED", "\n\n  MORE\n\n  PASSED"),
    ] {
        assert!(compare(shown, &different).is_err(), "{different}");
    }
}
