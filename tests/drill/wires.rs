//! The proxies of a drill: they stand between every instance and its servers, write down what they
//! saw, and are gone afterwards.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::Value;

use crate::checks::{Drilled, read_journal};
use crate::rig::Rig;
use crate::verdicts::{LONG, SMALL};

/// Instances whose connections of this wire were seen.
fn instances(drilled: &Drilled, wire: &str) -> BTreeSet<u64> {
    let links = drilled.facts("link").filter(|link| link["wire"] == wire);
    links.map(|link| link["instance"].as_u64().expect("it is an instance's own")).collect()
}

/// What this wire saw in all.
fn saw<'a>(drilled: &'a Drilled, wire: &str) -> &'a Value {
    let mut all = drilled.facts("wire").filter(|facts| facts["wire"] == wire);
    let facts = all.next().unwrap_or_else(|| panic!("no facts of {wire}"));
    assert!(all.next().is_none(), "one line for each wire");
    facts
}

#[test]
fn every_instance_has_wires_of_its_own_and_what_they_saw_is_written_down() {
    let rig = Rig::new();
    let drilled = Drilled::run(&rig, SMALL, 0);
    for wire in ["redis", "postgres"] {
        assert_eq!(instances(&drilled, wire), BTreeSet::from([0, 1]), "{wire}");
    }
    for facts in drilled.facts("wire") {
        let name = facts["wire"].as_str().expect("a wire has a name");
        let links = drilled.facts("link").filter(|link| link["wire"] == name).count();
        assert_eq!(facts["links"], links, "{name}");
        let steps = drilled.facts("step").filter(|step| step["wire"] == name).count();
        assert_eq!(facts["steps"], steps, "{name}");
        for trouble in ["unread", "refused", "unreached", "lost"] {
            assert_eq!(facts[trouble], 0, "{name}: {trouble}");
        }
        let told = format!("{name} ");
        assert!(drilled.text.contains(&told), "{}", drilled.text);
    }
    assert!(saw(&drilled, "redis")["of_the_run"].as_u64() > Some(0), "keys name their intents");
    let ids: BTreeSet<_> = drilled.facts("link").map(|link| link["id"].as_u64()).collect();
    assert_eq!(ids.len(), drilled.facts("link").count(), "each link has a number of its own");
    let inserts = drilled.facts("step").filter(|step| step["role"] == "order-insert");
    let inserts: Vec<_> = inserts.filter(|step| step["end"] == "done").collect();
    let intents: BTreeSet<_> = inserts.iter().filter_map(|step| step["intent"].as_u64()).collect();
    assert_eq!(intents, (0..drilled.count("intents")).collect(), "each order is somebody's");
    assert_eq!(inserts.len(), intents.len(), "and nothing was inserted twice");
    let wires = drilled.result["wires"].as_array().expect("a list");
    assert_eq!(wires.len(), drilled.facts("wire").count());
    assert!(drilled.text.contains("    wires  "), "{}", drilled.text);
}

#[test]
fn charges_cross_a_wire_too() {
    let rig = Rig::new();
    let profile = r#"
        seed = 7
        [lab.payments]
        [request.place]
        post = "/orders"
        headers = { Idempotency-Key = "{key}", X-User-Id = "{user}" }
        body = { userId = "{user}", productId = "{product}", quantity = "{quantity}" }
        [request.pay]
        post = "/orders/{order}/pay"
        headers = { X-User-Id = "{user}" }
        [[phase]]
        name = "pay"
        burst.race = { users = 10, first = "place", requests = ["pay"], threads = 4 }
    "#;
    let drilled = Drilled::run(&rig, profile, 0);
    assert_eq!(instances(&drilled, "http"), BTreeSet::from([0, 1]));
    let charges = drilled.facts("step").filter(|step| step["verb"] == "POST").count();
    assert!(charges >= 10, "one for each order at least: {charges}");
    assert_eq!(saw(&drilled, "http")["unreached"], 0);
}

#[test]
fn a_steady_load_is_known_to_the_wires_before_it_begins() {
    let rig = Rig::new();
    let profile = "
        seed = 7
        [[phase]]
        name = 'steady'
        rate = { per-second = 40, for = '1s', duplicate-share = 0.5 }
    ";
    let drilled = Drilled::run(&rig, profile, 0);
    let named: BTreeSet<_> =
        drilled.facts("step").filter_map(|step| step["intent"].as_u64()).collect();
    assert_eq!(named.len() as u64, drilled.count("intents"), "every intent is seen at work");
}

#[test]
fn without_proxies_nothing_is_seen() {
    let rig = Rig::new();
    let drilled = Drilled::run(&rig, &format!("{SMALL}[lab]\nproxies = false\n"), 0);
    for kind in ["link", "step", "statement", "wire"] {
        assert_eq!(drilled.facts(kind).count(), 0, "{kind}");
    }
    assert_eq!(drilled.result["wires"], serde_json::json!([]));
    assert!(!drilled.text.contains("wires"), "{}", drilled.text);
}

#[test]
fn a_drill_that_is_interrupted_tells_what_its_wires_saw_and_closes_every_port() {
    let rig = Rig::new();
    let profile = rig.profile(LONG);
    let mut running = rig.start(rig.command(&["run", profile]));
    running.until_said("  second: 2,000 attempts");
    running.footprint.look();
    running.signal(Signal::INT);
    let ended = running.wait();
    assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
    running.leaves_nothing();
    let journal = read_journal(&rig.run_folder().expect("one run").join("journal.jsonl"));
    let wires: Vec<_> = journal.iter().filter_map(|line| line["wire"]["wire"].as_str()).collect();
    assert!(wires.contains(&"redis") && wires.contains(&"postgres"), "{wires:?}");
    assert!(journal.last().is_some_and(|line| line["sealed"].is_object()));
}
