//! Holds in a crowd: more requests than the target has connections, and each user's first COMMIT held.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::checks::Drilled;
use crate::rig::Rig;

const USERS: u64 = 20;

/// `commit-held-crowd.toml` with a tenth of its users, and connections in proportion.
fn crowd(arguments: &[&str], exit: i32) -> Drilled {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/commit-held-crowd.toml");
    let text = fs::read_to_string(path).expect("the profile is in the repository");
    let small =
        text.replace("users = 200", "users = 20").replace("pool-size = 20", "pool-size = 5");
    drill(&small, arguments, exit)
}

fn drill(text: &str, arguments: &[&str], exit: i32) -> Drilled {
    let rig = Rig::new();
    let mut command = vec!["run", rig.profile(text), "--format", "json"];
    command.extend(arguments);
    Drilled::of(&rig, &rig.run(&command), exit)
}

/// How often the holds of the one fault ended in which way.
fn ends(drilled: &Drilled) -> Vec<(&str, u64)> {
    let ended = drilled.result["faults"][0]["ended"].as_object();
    let ended = ended.expect("holds have ended").iter();
    ended.map(|(how, count)| (how.as_str(), count.as_u64().unwrap_or(0))).collect()
}

/// All fired, each had an effect, and each ended by an event: none is lost, and none only by its limit.
fn each_was_held(drilled: &Drilled) {
    let fault = &drilled.result["faults"][0];
    assert_eq!(
        (&fault["fired"], &fault["with_effect"]),
        (&USERS.into(), &USERS.into()),
        "{fault:#}"
    );
    let by_event = [
        "the others had their answers",
        "the others were answered or waited for it",
        "the others needed its own connection",
    ];
    let ends = ends(drilled);
    assert!(ends.iter().all(|(how, _)| by_event.contains(how)), "{ends:?}");
    assert_eq!(ends.iter().map(|(_, count)| count).sum::<u64>(), USERS);
}

#[test]
fn a_correct_shop_passes_while_the_first_commit_of_everybody_is_held() {
    let drilled = crowd(&["--defects", ""], 0);
    each_was_held(&drilled);
    assert_eq!(drilled.result["findings"], serde_json::json!([]), "{}", drilled.text);
    assert_eq!(drilled.count("unknown") + drilled.count("not_sent"), 0);
}

#[test]
fn every_user_whose_requests_met_has_two_orders() {
    let drilled = crowd(&[], 1);
    each_was_held(&drilled);
    let count = |value: &Value| value.as_u64().expect("a count is a number");
    let reached = count(&drilled.result["bursts"][0]["reached"]);
    let found = count(&drilled.finding("I02", "critical")["count"]);
    let is_own = |(how, _): &(&str, u64)| how.contains("own connection");
    let in_vain: u64 = ends(&drilled).into_iter().filter(is_own).map(|(_, count)| count).sum();
    assert!(found + in_vain >= reached, "{found} of {reached}\n{}", drilled.text);
    assert!(found >= USERS / 2, "{found}");
}

#[test]
fn a_hold_that_blocks_the_others_by_its_own_connection_is_told_as_such() {
    let text = "title = \"One connection for two\"\n[lab]\ninstances = 1\npool-size = 1\n\
                begin = \"before-lock\"\nidempotency = \"none\"\n[[phase]]\nname = \"double click\"\n\
                burst.same-key = { users = 1, threads = 2 }\n[[phase.fault]]\n\
                at.step = { before = \"postgres COMMIT\" }\ndo.hold = {}\n";
    let drilled = drill(text, &[], 3);
    assert_eq!(ends(&drilled), [("the others needed its own connection", 1)]);
    assert_eq!(drilled.doubts(), ["G1"], "{}", drilled.text);
    assert_eq!(drilled.result["findings"], Value::Array(Vec::new()));
}
