//! The command line itself: help, codes, colours, and mistakes of those who type.

use dupeproof::codes;

use crate::checks::fits_a_terminal;
use crate::rig::{Ended, Rig};
use crate::verdicts::SMALL;

const ESCAPE: char = '\u{1b}';

fn run(args: &[&str]) -> Ended {
    Rig::new().run(args)
}

#[test]
fn help_fits_a_terminal_and_says_how_to_call_each_command() {
    let help = run(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    fits_a_terminal(&help.stdout);
    let commands = help.stdout.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next());
    let commands = commands.expect("the commands are listed").lines();
    let commands = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let commands: Vec<_> = commands.filter(|name| !name.is_empty() && *name != "help").collect();
    for wanted in ["run", "audit", "demo", "lab", "shop", "proxy", "explain", "schema"] {
        assert!(commands.contains(&wanted), "{commands:?}");
    }
    for command in commands {
        let help = run(&[command, "--help"]);
        assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""), "{command}");
        fits_a_terminal(&help.stdout);
        let usage = format!("Usage: dupeproof {command}");
        assert!(help.stdout.contains(&usage), "{}", help.stdout);
    }
}

#[test]
fn help_tells_every_exit_code() {
    let help = run(&["--help"]).stdout;
    let told = help.split("Exit codes:").nth(1).expect("the exit codes are told");
    let told: Vec<u8> = told
        .split(|letter: char| !letter.is_ascii_digit())
        .filter_map(|n| n.parse().ok())
        .collect();
    assert_eq!(told, [0, 1, 2, 3, 4, 5, 70, 130]);
}

#[test]
fn every_code_is_explained_within_80_columns() {
    let list = run(&["explain"]);
    assert_eq!(list.code, Some(0));
    for code in codes::all() {
        let listed = format!("{:<5} {}", code.id, code.title);
        assert!(list.stdout.lines().any(|line| line == listed), "{} isn't listed", code.id);
        let ended = run(&["explain", code.id]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", code.id);
        let (head, _) = ended.stdout.split_once("\n\n").expect("a head and sections");
        let head = head.replace('\n', " ");
        assert!(head.contains(code.title), "{head}");
        for part in ["What it means", "How it is checked", "What to do"] {
            assert!(ended.stdout.contains(part), "no \"{part}\" in:\n{}", ended.stdout);
        }
        fits_a_terminal(&ended.stdout);
    }
}

#[test]
fn a_code_may_be_typed_in_small_letters_and_an_unknown_one_is_a_mistake() {
    assert_eq!(run(&["explain", "i02"]).stdout, run(&["explain", "I02"]).stdout);
    let unknown = run(&["explain", "XX"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(2), ""));
    assert!(unknown.stderr.contains("no code `XX`"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("dupeproof explain"), "{}", unknown.stderr);
}

#[test]
fn an_unknown_defect_is_a_mistake_with_a_suggestion() {
    let rig = Rig::new();
    let profile = rig.profile(SMALL);
    let ended = rig.run(&["run", profile, "--defects", "rmw-stok"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    for part in ["no defect `rmw-stok`", "`rmw-stock`", "--list-defects"] {
        assert!(ended.stderr.contains(part), "no \"{part}\" in:\n{}", ended.stderr);
    }
    assert!(rig.run_folder().is_err(), "nothing has been started");
}

#[test]
fn a_profile_that_is_not_there_is_a_mistake_with_a_suggestion() {
    let rig = Rig::new();
    rig.profile(SMALL);
    let ended = rig.run(&["run", "dril.toml"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    for part in ["error[C021]", "dril.toml", "`drill.toml`"] {
        assert!(ended.stderr.contains(part), "no \"{part}\" in:\n{}", ended.stderr);
    }
    assert!(rig.run_folder().is_err(), "nothing has been started");
}

#[test]
fn every_mistake_of_a_profile_is_told_at_its_place() {
    let rig = Rig::new();
    let profile = rig.profile(&format!("sede = 1\nlab.instances = 0\n{SMALL}"));
    let ended = rig.run(&["run", profile]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    for part in ["drill.toml:1:1", "`seed`", "drill.toml:2:17"] {
        assert!(ended.stderr.contains(part), "no \"{part}\" in:\n{}", ended.stderr);
    }
}

#[test]
fn what_is_missing_on_the_command_line_is_a_mistake() {
    for args in [&["run"][..], &["audit"], &["shop"], &["frobnicate"], &[], &["run", "a", "b"]] {
        let ended = run(args);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{args:?} {}", ended.stderr);
        assert!(ended.stderr.contains("--help") || ended.stderr.contains("Usage"), "{args:?}");
    }
}

/// Whether there are colours in stdout and stderr of a drill, and of a mistake.
fn colours(args: &[&str], variables: &[(&str, &str)]) -> (bool, bool) {
    let rig = Rig::new();
    rig.profile(SMALL);
    let started = |args: &[&str]| {
        let mut command = rig.command(args);
        command.envs(variables.iter().copied());
        rig.start(command).wait()
    };
    let drill = started(&[&["run", "drill.toml"], args].concat());
    assert_eq!(drill.code, Some(0), "{}", drill.stderr);
    let mistake = started(&[&["explain", "XX"], args].concat());
    (drill.stdout.contains(ESCAPE), mistake.stderr.contains(ESCAPE))
}

#[test]
fn there_are_colours_only_where_they_are_wanted() {
    let force = [("CLICOLOR_FORCE", "1")];
    assert_eq!(colours(&[], &[]), (false, false), "into a pipe or a file");
    assert_eq!(colours(&["--color", "always"], &[]), (true, true), "always");
    assert_eq!(colours(&["--color", "never"], &force), (false, false), "never");
    assert_eq!(colours(&[], &force), (true, true), "forced");
    assert_eq!(colours(&[], &[("NO_COLOR", "1")]), (false, false), "NO_COLOR");
}

#[test]
fn without_colours_the_text_is_the_same() {
    let rig = Rig::new();
    rig.profile(SMALL);
    assert_eq!(rig.run(&["run", "drill.toml"]).code, Some(0));
    let plain = rig.run(&["audit", "results/latest"]).stdout;
    let coloured = rig.run(&["audit", "results/latest", "--color", "always"]).stdout;
    assert_ne!(plain, coloured);
    assert_eq!(plain, without_styles(&coloured));
    fits_a_terminal(&plain);
}

/// Takes out `ESC [ ... m`.
fn without_styles(text: &str) -> String {
    let mut parts = text.split(ESCAPE);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn every_listed_defect_is_taken_by_its_name_and_by_its_number() {
    let list = run(&["shop", "--list-defects"]);
    assert_eq!((list.code, list.stderr.as_str()), (Some(0), ""));
    let defects: Vec<_> = list.stdout.lines().filter(|line| line.starts_with('D')).collect();
    assert!(defects.len() >= 4, "{}", list.stdout);
    // The address can't be had, which is found out after the flags have been read.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let nobody = ["--database-url=postgres://a@127.0.0.1:1/a", "--redis-url=redis://127.0.0.1:1/"];
    for name in defects.iter().flat_map(|line| line.split_whitespace()) {
        let ended = run(&["shop", "--listen", &address, nobody[0], nobody[1], "--defects", name]);
        assert!(ended.stderr.contains("another process has this port"), "{name}: {}", ended.stderr);
    }
}
