//! What each verdict looks like from outside, on a shop with and without defects.

use std::fs;

use rustix::process::Signal;
use sqlx::{Connection, PgConnection};

use crate::checks::Drilled;
use crate::rig::Rig;

/// 20 buyers, 5 requests each.
pub const SMALL: &str = r#"
seed = 7
[[phase]]
name = "double click"
burst.same-key = { users = 20, threads = 5 }
"#;

/// One burst after the other, long enough to be disturbed in the middle.
pub const LONG: &str = r#"
seed = 7
[[phase]]
name = "first"
burst.same-key = { users = 20, threads = 5 }
[[phase]]
name = "second"
burst.same-key = { users = 100, threads = 20 }
[[phase]]
name = "third"
burst.same-key = { users = 100, threads = 20 }
"#;

/// The published experiment: check, then insert, under a lock that ends before COMMIT.
const LOCK_INSIDE: &str = r#"
seed = 7
[lab]
defects = ["unlock-before-commit", "no-unique-constraint"]
idempotency = "none"
one-order-per = "user"
lock-per = "user"
stock = "none"
begin = "before-lock"
lock-wait = "30s"
[contract]
one-order-per = ["user"]
[client]
timeout = "60s"
[[phase]]
name = "double click"
burst.same-key = { users = 200, threads = 20 }
"#;

#[test]
fn a_correct_shop_passes() {
    let rig = Rig::new();
    let drilled = Drilled::run(&rig, SMALL, 0);
    assert_eq!(drilled.result["verdict"], "passed");
    assert_eq!(drilled.result["findings"], serde_json::json!([]));
    assert_eq!(drilled.count("burst_attempts"), 100);
    assert_eq!(drilled.count("intents_with_one_order"), 20);
    assert!(drilled.text.contains("PASSED  38 of 38 gates"), "{}", drilled.text);
    let latest = fs::read_link(rig.path().join("results/latest")).expect("it is a link");
    assert_eq!(Some(latest.as_os_str()), drilled.folder.file_name());
}

#[test]
fn check_then_insert_without_a_constraint_is_violated() {
    let rig = Rig::new();
    let profile = "
        seed = 7
        lab.defects = ['D25', 'no-unique-constraint']
        lab.idempotency = 'none'
        [[phase]]
        name = 'double click'
        burst.same-key = { users = 40, threads = 10 }
    ";
    let drilled = Drilled::run(&rig, profile, 1);
    assert_eq!(drilled.result["verdict"], "violated");
    let duplicates = drilled.finding("I02", "critical");
    assert_eq!(duplicates["count"], drilled.count("intents_with_more"));
    assert_eq!(drilled.gate("I02"), "broken");
    assert!(drilled.text.contains("next     dupeproof explain I02"), "{}", drilled.text);

    let evidence = fs::read_to_string(drilled.folder.join("evidence/I02.csv"));
    let rows = evidence.expect("the evidence is there").lines().count() as u64;
    assert_eq!(rows, drilled.count("intents_with_more") + 1, "a row for each, and the head");
    let again = drilled.folder.join("repro/I02.toml");
    let again = fs::read_to_string(again).expect("the reproduction is there");
    assert!(again.contains("users = 40"), "{again}");
}

#[test]
fn a_lock_released_before_commit_is_violated() {
    let drilled = Drilled::run(&Rig::new(), LOCK_INSIDE, 1);
    assert!(drilled.findings("critical").contains(&"I02"), "{}", drilled.text);
    assert!(drilled.count("orders") > 200, "{}", drilled.text);
}

#[test]
fn a_unique_key_behind_a_broken_lock_protects() {
    let rig = Rig::new();
    let profile = LOCK_INSIDE.replace(r#", "no-unique-constraint""#, "");
    let drilled = Drilled::run(&rig, &profile, 0);
    assert_eq!(drilled.result["verdict"], "passed");
    assert_eq!(drilled.findings("protected"), ["I02"]);
    let refused = drilled.finding("I02", "protected")["count"].as_u64();
    let log = drilled.folder.join("logs/postgres.log");
    let log = fs::read_to_string(log).expect("PostgreSQL wrote a log");
    let lines = log.lines().filter(|line| line.contains("duplicate key value violates unique"));
    let lines = lines.count() as u64;
    assert!(lines > 0, "the lock held");
    assert_eq!(refused, Some(lines));
    assert_eq!(drilled.count("orders"), 200);
}

#[test]
fn stock_written_back_under_the_wrong_lock_is_violated() {
    let profile = "
        seed = 7
        products.count = 1
        [lab]
        defects = ['rmw-stock']
        idempotency = 'none'
        lock-per = 'user'
        lock-wait = '30s'
        [[phase]]
        name = 'one product'
        burst.same-key = { users = 200, threads = 5 }
    ";
    let drilled = Drilled::run(&Rig::new(), profile, 1);
    assert_eq!(drilled.findings("critical"), ["I03", "I03b"], "{}", drilled.text);
    assert_eq!(drilled.count("intents_with_one_order"), 200, "the orders themselves are right");
}

#[test]
fn a_missed_budget_is_no_violation_but_an_exit_of_its_own() {
    let profile = format!("budget.p99-latency = '1ms'\n{SMALL}");
    let drilled = Drilled::run(&Rig::new(), &profile, 5);
    assert_eq!(drilled.result["verdict"], "passed");
    assert_eq!(drilled.result["budgets"][0]["met"], false);
    assert!(drilled.text.contains("but 1 budget missed"), "{}", drilled.text);
}

#[test]
fn a_burst_that_asks_nothing_twice_is_a_mistake_of_the_profile() {
    let rig = Rig::new();
    let profile = rig.profile(&SMALL.replace("threads = 5", "threads = 1"));
    let ended = rig.run(&["run", profile]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("with one thread sends nothing twice"), "{}", ended.stderr);
}

#[test]
fn a_database_that_does_not_come_to_rest_is_inconclusive() {
    let rig = Rig::new();
    let profile = rig.profile(&format!("limits.drain = '300ms'\n{SMALL}"));
    let mut running = rig.start(rig.command(&["run", profile, "--format", "json"]));
    running.until_said("lab ready");
    let (_, url) = running.postgres();
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    // A transaction that has an id, as one that has written, and never ends.
    let open = runtime.block_on(async {
        let mut connection = PgConnection::connect(&url).await?;
        sqlx::raw_sql("BEGIN; SELECT pg_current_xact_id()").execute(&mut connection).await?;
        Ok::<_, sqlx::Error>(connection)
    });
    let ended = running.wait();
    drop(open.expect("the lab's PostgreSQL takes connections"));
    let drilled = Drilled::of(&rig, &ended, 3);
    assert_eq!(drilled.result["verdict"], "inconclusive");
    assert_eq!(drilled.doubts(), ["G4"]);
    assert!(drilled.text.contains("dupeproof explain G4"), "{}", drilled.text);
}

#[test]
fn ctrl_c_stops_the_load_and_the_audit_still_follows() {
    let rig = Rig::new();
    let profile = rig.profile(LONG);
    let mut running = rig.start(rig.command(&["run", profile, "--format", "json"]));
    running.until_said("  second: 2,000 attempts");
    running.signal(Signal::INT);
    let ended = running.wait();
    assert!(ended.stderr.contains("interrupted: the load stops"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("third:"), "{}", ended.stderr);
    let drilled = Drilled::of(&rig, &ended, 3);
    assert_eq!(drilled.result["verdict"], "inconclusive");
    assert!(drilled.doubts().contains(&"G9"), "{}", drilled.text);
    assert!(drilled.text.contains("interrupted at"), "{}", drilled.text);
    assert_eq!(drilled.facts("interrupted").count(), 1);
    assert!(drilled.folder.join("rows/after.json").exists(), "the rows were read all the same");
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_leaves_nothing() {
    let rig = Rig::new();
    let profile = rig.profile(LONG);
    let mut running = rig.start(rig.command(&["run", profile]));
    running.until_said("  second: 2,000 attempts");
    running.footprint.look();
    assert!(running.footprint.left().is_err(), "a running drill is seen");
    running.signal(Signal::INT);
    running.until_said("interrupted");
    running.signal(Signal::INT);
    let ended = running.wait();
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
    running.leaves_nothing();
}
