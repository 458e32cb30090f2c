//! Faults on the wires of a drill: armed before the load leaves, fired and proved, ended by events,
//! healed and probed; and a run whose fault never fired proves nothing.

use dupeproof::history::{Cause, FaultEvent, Firing, FiringEnd, History, IntentId, Outcome, Proof};

use crate::rig::{Ended, Rig};

/// One pair of requests for each user, and a fault.
fn pairs(lab: &str, users: u32, fault: &str) -> String {
    format!(
        "{lab}\n[[phase]]\nname = \"pairs\"\n\
         burst.same-key = {{ users = {users}, threads = 2 }}\n[[phase.fault]]\n{fault}\n"
    )
}

struct Drilled {
    ended: Ended,
    history: History,
}

impl Drilled {
    fn of(profile: &str) -> Self {
        let rig = Rig::new();
        let name = rig.profile(profile);
        let ended = rig.run(&["run", name]);
        let folder = rig.run_folder().unwrap_or_else(|why| panic!("{why}: {}", ended.stderr));
        let journal = History::read(&folder.join("journal.jsonl")).expect("it is a journal");
        assert!(journal.sealed, "{}", ended.stderr);
        Self { ended, history: journal }
    }

    fn events(&self) -> impl Iterator<Item = &FaultEvent> {
        self.history.faults.iter().map(|facts| &facts.event)
    }

    fn firings(&self) -> Vec<&Firing> {
        let fired = self.events().filter_map(|event| match event {
            FaultEvent::Fired(firing) => Some(firing),
            _ => None,
        });
        fired.collect()
    }

    fn ends(&self) -> Vec<FiringEnd> {
        let ended = self.events().filter_map(|event| match event {
            FaultEvent::Ended { how, .. } => Some(*how),
            _ => None,
        });
        ended.collect()
    }

    fn proves(&self, claim: impl Fn(&Proof) -> bool) -> bool {
        self.events().any(|event| matches!(event, FaultEvent::Effect { proof, .. } if claim(proof)))
    }

    /// Every instance was asked for something new and for the same again, once all was healed.
    #[track_caller]
    fn is_probed(&self) {
        let healed = self
            .history
            .faults
            .iter()
            .rev()
            .find_map(|facts| matches!(facts.event, FaultEvent::Healed).then_some(facts.at));
        let healed = healed.expect("it is healed");
        let probes = self.history.attempts.iter().filter(|it| it.cause == Cause::Probe);
        let mut seen: Vec<(IntentId, u16)> = Vec::new();
        for probe in probes {
            assert_eq!(probe.outcome, Outcome::Acknowledged, "{}", self.ended.stderr);
            assert!(probe.first_byte.is_some_and(|first| first >= healed));
            seen.push((probe.intent, probe.instance.0));
        }
        seen.sort_unstable();
        let [first, again, other, last] = seen.as_slice() else { panic!("{seen:?}") };
        assert!(first == again && other == last && first.1 != other.1, "{seen:?}");
    }
}

const COMMIT_HELD: &str = r#"
    at.step = { before = "postgres COMMIT" }
    do.hold = { until = "others", limit = "5s" }
"#;

#[test]
fn one_pair_finds_the_lock_that_is_released_before_a_commit_that_is_held() {
    let lab = "[lab]\nidempotency = \"none\"\n\
               defects = [\"unlock-before-commit\", \"no-unique-constraint\"]\n";
    let drilled = Drilled::of(&pairs(lab, 1, COMMIT_HELD));
    assert_eq!(drilled.ended.code, Some(1), "{}", drilled.ended.stderr);
    assert!(drilled.ended.stdout.contains("error[I02]"), "{}", drilled.ended.stdout);
    let [firing] = drilled.firings()[..] else { panic!("{:?}", drilled.firings()) };
    let step = firing.step.as_ref().expect("a step triggered it");
    assert_eq!((step.name.as_str(), step.intent), ("postgres COMMIT", Some(IntentId(0))));
    assert!(matches!(drilled.ends()[..], [FiringEnd::OthersAnswered | FiringEnd::OthersBlocked]));
    assert!(drilled.proves(|proof| matches!(proof, Proof::ServerNotAsked)));
    drilled.is_probed();
    assert!(drilled.ended.told().contains("fault fired: hold before"), "{}", drilled.ended.stderr);
}

#[test]
fn a_correct_shop_passes_with_its_commit_held() {
    let drilled = Drilled::of(&pairs("[lab]\nidempotency = \"none\"\n", 1, COMMIT_HELD));
    assert_eq!(drilled.ended.code, Some(0), "{}", drilled.ended.stdout);
    // The other one polls the lease of the one that is held.
    assert_eq!(drilled.ends(), [FiringEnd::OthersBlocked]);
}

#[test]
fn a_fault_that_is_not_armed_does_not_fire_and_nothing_is_proved() {
    let drilled = Drilled::of(&pairs("", 1, &format!("armed = false\n{COMMIT_HELD}")));
    assert!(drilled.firings().is_empty());
    assert!(!drilled.events().any(|event| matches!(event, FaultEvent::Armed)));
    assert!(drilled.events().any(|event| matches!(event, FaultEvent::Planned(_))));
    assert_eq!(drilled.ended.code, Some(3), "{}", drilled.ended.stdout);
}

#[test]
fn the_lost_reply_of_an_unlock_is_asked_for_again_with_the_same_token() {
    let fault = "at.step = { after = \"redis EVAL unlock\" }\n\
                 do.drop-reply = { then = \"close\" }";
    let drilled = Drilled::of(&pairs("", 2, fault));
    assert_eq!(drilled.ended.code, Some(0), "{}", drilled.ended.stdout);
    assert_eq!((drilled.firings().len(), drilled.ends()), (1, vec![FiringEnd::AtOnce]));
    assert!(drilled.proves(|proof| matches!(proof, Proof::ServerAnswered { .. })));
    drilled.is_probed();
}

#[test]
fn leases_are_taken_before_the_load_and_given_back_when_their_time_is_over() {
    let fault = "at.time = \"0s\"\ndo.take-lease = { for = \"400ms\" }";
    let drilled = Drilled::of(&pairs("", 3, fault));
    assert_eq!(drilled.ended.code, Some(0), "{}", drilled.ended.stdout);
    assert!(drilled.proves(|proof| matches!(proof, Proof::KeysTaken { keys: 3 })));
    assert_eq!(drilled.ends(), [FiringEnd::TimeOver]);
    let fired =
        drilled.history.faults.iter().find(|facts| matches!(facts.event, FaultEvent::Fired(_)));
    let first = drilled.history.attempts.iter().filter_map(|attempt| attempt.first_byte).min();
    assert!(fired.map(|facts| facts.at) <= first, "the load left before");
    drilled.is_probed();
}

#[test]
fn a_failover_to_an_empty_redis_is_for_good() {
    let fault = "at.step = { after = \"redis EVAL lock\" }\ndo.swap-upstream = {}";
    let drilled = Drilled::of(&pairs("", 3, fault));
    assert_eq!(drilled.ended.code, Some(0), "{}", drilled.ended.stdout);
    assert!(drilled.proves(|proof| matches!(proof, Proof::Swapped { links: 1.. })));
    drilled.is_probed();
}

#[test]
fn an_instance_that_is_cut_off_from_redis_is_let_back() {
    let fault = "at.time = \"0s\"\n\
                 do.partition = { wire = \"redis\", instance = 1, how = \"refuse\" }";
    let drilled = Drilled::of(&pairs("", 3, fault));
    // A pair may not overlap where one of the two asks a server that it doesn't reach.
    assert!(matches!(drilled.ended.code, Some(0 | 3)), "{}", drilled.ended.stdout);
    assert!(drilled.proves(|proof| matches!(proof, Proof::Cut { links: 1.., .. })));
    assert_eq!(drilled.ends(), [FiringEnd::Healed]);
    drilled.is_probed();
}

#[test]
fn time_passes_for_a_lease_by_deleting_it_and_then_once_more_in_real_time() {
    let fault = "at.step = { before = \"postgres INSERT orders\", first-of-each = true }\n\
                 do.expire = { what = \"lease\", until = \"taken-over\", limit = \"3s\" }";
    let lab = "[lab]\nidempotency = \"none\"\nlease = \"1s\"\n";
    let drilled = Drilled::of(&pairs(lab, 2, fault));
    let names: Vec<_> = drilled.history.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["pairs", "pairs, in real time"]);
    assert!(drilled.proves(|proof| matches!(proof, Proof::KeysGone { keys: 1.. })));
    assert!(drilled.proves(|proof| matches!(proof, Proof::KeysExpired { keys: 1.. })));
    let taken_over = drilled.ends().into_iter().filter(|how| *how == FiringEnd::TakenOver);
    assert_eq!(taken_over.count(), 3, "two users, and one in real time");
    assert_eq!(drilled.ended.code, Some(0), "{}", drilled.ended.stdout);
}
