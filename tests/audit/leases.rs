//! I29: whose a lease is, from the steps of its key on every link.

use dupeproof::audit::{GateState, Judgement};
use dupeproof::codes::Severity;
use dupeproof::history::{IntentId, LinkId, Role, RunTime, Step, StepEnd, Wire};

use std::time::Duration;

use crate::fixture::{Drill, gate, ids, ms};
use crate::wires::{Hand, link, watched};

/// Two intents whose attempts are in flight together, so that their lock steps name them.
struct Pair {
    drill: Drill,
}

impl Pair {
    fn new() -> Self {
        let mut drill = watched(2);
        for attempt in &mut drill.history.attempts {
            attempt.first_byte = Some(RunTime(0));
            attempt.completed = Some(ms(9_500));
        }
        drill.end();
        Self { drill }
    }

    fn step(&mut self, at_ms: u64, who: u32, verb: &str, role: Role, answer: &str) -> &mut Step {
        let mut hand = Hand::new(&mut self.drill, who);
        hand.now = at_ms * 1_000;
        hand.on_lock(verb, "", role, answer);
        let step = self.drill.history.steps.last_mut().unwrap();
        step.intent = Some(IntentId(who));
        step
    }

    fn grant(&mut self, at_ms: u64, who: u32) -> &mut Step {
        let step = self.step(at_ms, who, "SET", Role::Lock, "OK");
        (step.token, step.lease_ms) = (Some(u64::from(who) + 1), Some(3_000));
        step
    }

    fn unlock(&mut self, at_ms: u64, who: u32, answer: &str) -> &mut Step {
        let step = self.step(at_ms, who, "EVALSHA", Role::Unlock, answer);
        (step.token, step.compares) = (Some(u64::from(who) + 1), true);
        step
    }

    fn judge(&self) -> Judgement {
        self.drill.judge()
    }

    fn found(&self) -> Vec<&'static str> {
        let of_leases = |id: &&'static str| *id == "I29";
        ids(&self.judge()).into_iter().filter(of_leases).collect()
    }
}

const NONE: [&str; 0] = [];

#[test]
fn leases_one_after_the_other_are_their_holders_alone() {
    let mut pair = Pair::new();
    pair.grant(100, 0);
    pair.step(150, 1, "SET", Role::Lock, "nil");
    pair.unlock(200, 0, "1");
    pair.grant(300, 1);
    pair.unlock(400, 1, "1");
    let judgement = pair.judge();
    assert_eq!(gate(&judgement, "I29").state, GateState::Held);
    assert_eq!(gate(&judgement, "I29").detail, "2 leases, each its holder's alone");
    assert_eq!(ids(&judgement), NONE);
}

#[test]
fn what_was_asked_for_later_may_have_been_done_before() {
    let mut pair = Pair::new();
    pair.grant(100, 0);
    // It waited at the server, on another connection, while the holder let go.
    pair.drill.history.links.push(link(2, Wire::Redis, None));
    let late = pair.grant(300, 1);
    (late.link, late.answered) = (LinkId(2), Some(ms(420)));
    pair.unlock(350, 0, "1");
    assert_eq!(pair.found(), NONE);
    pair.drill.history.steps.last_mut().unwrap().asked = ms(430);
    let late = pair.drill.history.steps.last_mut().unwrap();
    (late.forwarded, late.answered) = (Some(ms(431)), Some(ms(432)));
    assert_eq!(pair.found(), ["I29"]);
}

#[test]
fn a_late_del_removes_the_next_holders_lease() {
    let mut pair = Pair::new();
    pair.grant(100, 0);
    pair.grant(3_500, 1);
    pair.step(4_000, 0, "DEL", Role::Unlock, "1");
    pair.grant(4_100, 0).token = Some(9);
    let judgement = pair.judge();
    let finding = judgement.findings.iter().find(|it| it.code.id == "I29").unwrap();
    assert_eq!(finding.severity, Severity::Protected);
    assert_eq!(finding.title, "a lease was removed by a request that did not hold it");
    let steps: Vec<&str> = finding.evidence.rows.iter().map(|row| &*row[3]).collect();
    assert_eq!(steps, ["redis SET lock:stock #1", "redis DEL lock:stock #1"]);
    assert_eq!(finding.count, 1);
}

#[test]
fn what_one_connection_asks_behind_a_del_is_done_behind_it() {
    for other in [0, 2] {
        let mut pair = Pair::new();
        pair.drill.history.links.push(link(2, Wire::Redis, None));
        pair.grant(100, 0);
        pair.grant(3_500, 1).link = LinkId(2);
        pair.step(4_000, 0, "DEL", Role::Unlock, "1");
        // It waited with the DEL, and got what that had set free.
        let behind = pair.grant(4_000, 0);
        (behind.token, behind.link) = (Some(9), LinkId(other));
        behind.asked = behind.asked.plus(Duration::from_micros(1));
        let found: &[&str] = if other == 0 { &["I29"] } else { &[] };
        assert_eq!(pair.found(), found);
    }
}

#[test]
fn a_removal_under_way_when_a_lease_was_got_came_before_it_or_did_it_wrong() {
    for (verb, found) in [("DEL", &["I29"][..]), ("GETDEL", &[])] {
        let mut pair = Pair::new();
        pair.drill.history.links.push(link(2, Wire::Redis, None));
        pair.grant(100, 0);
        pair.step(200, 0, verb, Role::Unlock, "1").answered = Some(ms(205));
        pair.grant(202, 1).link = LinkId(2);
        pair.step(300, 0, "DEL", Role::Unlock, "1");
        let judged: Vec<_> = pair.found().into_iter().collect();
        assert_eq!(judged, found, "{verb}");
    }
}

#[test]
fn a_del_of_ones_own_or_of_nothing_takes_from_nobody() {
    for (who, answer) in [(1, "1"), (0, "0")] {
        let mut pair = Pair::new();
        pair.grant(100, 0);
        pair.grant(3_500, 1);
        pair.step(4_000, who, "DEL", Role::Unlock, answer);
        assert_eq!(pair.found(), NONE);
    }
}

#[test]
fn a_renewal_by_name_that_reaches_another_lease_is_found() {
    let mut pair = Pair::new();
    pair.grant(100, 0);
    pair.grant(3_500, 1);
    pair.step(4_000, 0, "PEXPIRE", Role::Renew, "1").lease_ms = Some(3_000);
    assert_eq!(pair.found(), ["I29"]);
    let renewal = pair.drill.history.steps.last_mut().unwrap();
    (renewal.token, renewal.compares) = (Some(1), true);
    assert_eq!(pair.found(), NONE);
}

#[test]
fn one_word_for_all_tokens_lets_anybody_remove_a_lease() {
    let mut pair = Pair::new();
    pair.grant(100, 0);
    pair.grant(3_500, 1).token = Some(1);
    pair.unlock(4_000, 0, "1");
    assert_eq!(pair.found(), ["I29"]);
}

#[test]
fn a_second_token_beside_a_living_lease_is_found_and_after_its_end_is_not() {
    for (second_ms, found) in [(2_000, true), (3_090, true), (3_101, false), (9_000, false)] {
        let mut pair = Pair::new();
        pair.grant(100, 0);
        pair.grant(second_ms, 1);
        assert_eq!(!pair.found().is_empty(), found, "{second_ms} ms");
    }
}

#[test]
fn a_renewal_lets_a_lease_live_on() {
    for (answer, found) in [("1", true), ("0", false)] {
        let mut pair = Pair::new();
        pair.grant(100, 0);
        let renewal = pair.step(2_000, 0, "EVALSHA", Role::Renew, answer);
        (renewal.token, renewal.compares, renewal.lease_ms) = (Some(1), true, Some(3_000));
        pair.grant(4_000, 1);
        assert_eq!(!pair.found().is_empty(), found, "{answer}");
    }
}

#[test]
fn steps_that_overlap_have_no_order() {
    let mut pair = Pair::new();
    pair.grant(100, 0);
    pair.grant(2_000, 1);
    let answered = pair.drill.history.steps[1].answered;
    pair.unlock(1_999, 0, "1").answered = answered;
    assert_eq!(pair.found(), NONE);
    // Also where the release was asked for afterwards: the grant says that the key was free.
    let release = pair.drill.history.steps.last_mut().unwrap();
    (release.asked, release.forwarded) = (RunTime(1_999_999), Some(RunTime(2_000_005)));
    assert_eq!(pair.found(), NONE);
}

#[test]
fn what_may_have_ended_a_lease_leaves_it_open() {
    for end in [StepEnd::Unanswered, StepEnd::Done] {
        for verb in ["DEL", "SET", "EVAL", "RENAME", "GETDEL"] {
            let mut pair = Pair::new();
            pair.grant(100, 0);
            let step = pair.step(1_000, 0, verb, Role::Unlock, "?");
            (step.role, step.end) = (None, end);
            if end == StepEnd::Unanswered {
                (step.answer, step.answered) = (None, None);
            } else {
                step.answer = Some("1".into());
            }
            pair.grant(2_000, 1);
            assert_eq!(pair.found(), NONE, "{verb} {end:?}");
        }
    }
}

#[test]
fn a_release_of_several_locks_may_have_been_of_this_one() {
    let mut pair = Pair::new();
    pair.grant(100, 0);
    pair.step(1_000, 0, "DEL", Role::Unlock, "2").subject = Some("lock:user:1".into());
    pair.grant(2_000, 1);
    assert_eq!(pair.found(), NONE);
}

#[test]
fn a_script_that_says_nil_when_it_grants_is_not_taken_for_the_opposite() {
    // It answers the rest of the holder's term to those who have to wait.
    let mut pair = Pair::new();
    for (at, who, answer) in [(100, 0, "nil"), (200, 1, "2900"), (600, 1, "nil")] {
        let step = pair.step(at, who, "EVALSHA", Role::Lock, answer);
        (step.token, step.lease_ms) = (Some(u64::from(who) + 1), Some(3_000));
        if at == 200 {
            pair.unlock(500, 0, "1");
        }
    }
    pair.unlock(700, 1, "1");
    let judgement = pair.judge();
    assert_eq!(ids(&judgement), NONE);
    assert_eq!(gate(&judgement, "I29").state, GateState::NotJudged);
}

#[test]
fn nothing_is_claimed_where_steps_are_missing() {
    let mut pair = Pair::new();
    pair.grant(100, 0);
    pair.grant(2_000, 1);
    assert_eq!(pair.found(), ["I29"]);
    let whole = pair.drill.clone();
    pair.drill.history.wires[0].unread = 1;
    assert_eq!(pair.found(), NONE);
    pair.drill = whole.clone();
    pair.drill.history.wires[1].lost = 1;
    assert_eq!(pair.found(), NONE);
    pair.drill = whole;
    pair.drill.history.sealed = false;
    assert_eq!(pair.found(), NONE);
}
