//! Faults: what must be proved of them, what they excuse, and what may be concluded behind them.

use std::time::Duration;

use dupeproof::audit::{GateState, Verdict};
use dupeproof::codes::Severity;
use dupeproof::history::{
    Cause, FaultEvent, FiringEnd, InstanceId, Outcome, Proof, RunTime, StepPoint, Wire,
};
use dupeproof::profile::{Act, Burst, Expire, Expired, Hold, Loss, Passing, Trigger, Until};
use dupeproof::report;
use dupeproof::story::tell;

use crate::fixture::*;
use crate::struck::{Hurt, at_step, commit_held, redis_away};
use crate::wires::{Shop, served_by};

const COMMIT: &str = "postgres COMMIT";

/// Three requests of a correct shop, one after the other, none of which is a duplicate.
fn served() -> Drill {
    let mut drill = served_by(Shop::default(), 3);
    if let Burst::SameKey(crowd) = drill.profile.phases[0].burst.clone() {
        drill.profile.phases[0].burst = Burst::FreshKey(crowd);
    }
    drill
}

/// The same, and the COMMIT of the first is held for 2 ms.
fn held() -> Drill {
    let mut drill = served();
    hold_commit(&mut drill, 0);
    drill
}

fn hold_commit(drill: &mut Drill, intent: u32) {
    let mut hurt = Hurt::new(drill, commit_held());
    let at = hurt.fires_at(COMMIT, intent, StepPoint::Before).0;
    hurt.proves(at + 5, Proof::ServerNotAsked);
    hurt.ends(at + 2_000, FiringEnd::OthersAnswered);
    hurt.heals(at + 3_000);
}

#[test]
fn a_fault_that_fired_with_an_effect_and_an_end_passes() {
    let judgement = held().judge();
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    let detail = &gate(&judgement, "G2").detail;
    assert_eq!(detail, "1 fault fired 1 time, each with an effect");
    let fault = &judgement.faults[0];
    assert_eq!((fault.fired, fault.with_effect, fault.hit), (1, 1, 1));
    assert_eq!(fault.firings[0].key.as_deref(), Some(&*key(0)));
}

#[test]
fn a_run_without_faults_has_no_line_for_them() {
    let judgement = served().judge();
    for id in ["G2", "I11", "I24", "L11", "L12"] {
        assert!(judgement.gates.iter().all(|gate| gate.code.id != id), "{id}");
    }
}

#[test]
fn a_fault_that_was_not_armed_proves_nothing() {
    let mut drill = served();
    Hurt::planned(&mut drill, commit_held());
    assert!(assert_doubted(&drill, "G2").contains("was not armed"));
    drill.history.faults.clear();
    assert!(assert_doubted(&drill, "G2").contains("was not armed"));
}

#[test]
fn a_fault_that_never_fired_says_what_passed_in_its_place() {
    let mut drill = served();
    Hurt::new(&mut drill, commit_held());
    let what = assert_doubted(&drill, "G2");
    assert!(what.contains("never fired: 3 steps named \"postgres COMMIT\" passed"), "{what}");

    let mut drill = served();
    let trigger = at_step(Wire::Redis, "EVALSHA", Some("unlok"), StepPoint::After);
    Hurt::new(&mut drill, (trigger, Act::DropReply(Loss::Close)));
    let what = assert_doubted(&drill, "G2");
    assert!(what.contains("no step named \"redis EVALSHA unlok\""), "{what}");
    assert!(what.contains("\"redis EVALSHA unlock lock:stock\""), "{what}");
}

#[test]
fn a_fault_that_fired_less_often_than_planned_is_missed() {
    let mut drill = held();
    for facts in &mut drill.history.faults {
        if let FaultEvent::Planned(plan) = &mut facts.event {
            plan.at_least = 3;
        }
    }
    let what = assert_doubted(&drill, "G2");
    assert!(what.contains("fired once and not three times"), "{what}");
}

#[test]
fn a_firing_without_effect_or_end_or_at_another_step_proves_nothing() {
    let mut drill = held();
    drill.history.faults.retain(|it| !matches!(it.event, FaultEvent::Effect { .. }));
    assert!(assert_doubted(&drill, "G2").contains("no effect of 1 of 1 firing"));

    let mut drill = held();
    for facts in &mut drill.history.faults {
        if let FaultEvent::Effect { proof, .. } = &mut facts.event {
            *proof = Proof::KeysGone { keys: 0 };
        }
    }
    assert!(assert_doubted(&drill, "G2").contains("no effect"));

    let mut drill = held();
    drill.history.faults.retain(|it| !matches!(it.event, FaultEvent::Ended { .. }));
    assert!(assert_doubted(&drill, "G2").contains("no end on record"));

    let mut drill = held();
    for facts in &mut drill.history.faults {
        if let FaultEvent::Fired(firing) = &mut facts.event {
            firing.step.as_mut().unwrap().point = StepPoint::After;
        }
    }
    assert!(assert_doubted(&drill, "G2").contains("elsewhere than at its step"));
}

#[test]
fn a_swap_that_a_step_sets_off_is_proved_by_the_other_server() {
    let swapped = |links: u64| {
        let mut drill = served();
        let trigger = at_step(Wire::Postgres, "COMMIT", None, StepPoint::After);
        let swap = Act::SwapUpstream { wire: Wire::Redis };
        let mut hurt = Hurt::new(&mut drill, (trigger, swap));
        let at = hurt.fires_at(COMMIT, 2, StepPoint::After).0;
        hurt.proves(at + 200, Proof::ServerAnswered { answer: "COMMIT".to_owned() });
        hurt.ends(at + 200, FiringEnd::AtOnce);
        hurt.fires(at + 210, None, None);
        hurt.proves(at + 220, Proof::Swapped { links });
        hurt.ends(at + 220, FiringEnd::AtOnce);
        hurt.heals(at + 1_000);
        drill
    };
    assert_eq!(swapped(1).judge().verdict, Verdict::Passed);
    assert!(assert_doubted(&swapped(0), "G2").contains("no effect of 2 of 2 firings"));
}

/// Two attempts for each of three users; the second of user 1 comes after the first's answer.
fn asked_again() -> Drill {
    let mut drill = Drill::clean(3, 2);
    let again = &mut drill.history.attempts[3];
    (again.first_byte, again.released, again.completed) =
        (Some(ms(50)), Some(ms(50)), Some(ms(55)));
    again.cause = Cause::Replay;
    drill.history.phases[0].planned -= 1;
    drill.end();
    drill
}

#[test]
fn what_was_lost_excuses_an_error_until_the_limit_behind_it_and_no_longer() {
    let mut drill = asked_again();
    forget(&mut drill.history.attempts[3]);
    drill.history.attempts[3].status = Some(503);
    drill.profile.contract.recovery_limit = Duration::from_millis(30);
    only(&drill.judge(), "I08");
    let mut struck = drill.clone();
    redis_away(&mut struck, 5, 30);
    let judgement = struck.judge();
    assert_eq!(ids(&judgement), [""; 0], "{judgement:#?}");
    // Long over.
    redis_away(&mut drill, 5, 11);
    for _ in 0..2 {
        for instance in 0..2 {
            let begin = ms(12 + u64::from(instance) + drill.history.attempts.len() as u64);
            let probe = drill.add_attempt(0, begin, begin.plus(Duration::from_millis(1)));
            acknowledge(probe, 0);
            (probe.cause, probe.instance) = (Cause::Replay, InstanceId(instance));
        }
    }
    drill.profile.contract.recovery_limit = Duration::from_millis(10);
    assert_eq!(ids(&drill.judge()), ["I08"]);
}

#[test]
fn a_hold_excuses_its_own_request_and_strangers_but_no_duplicate() {
    let wait = Duration::from_secs(1);
    let slow = |held_user: u32| {
        let mut drill = asked_again();
        drill.profile.contract.longest_wait = wait;
        // The second attempt of user 1 waits for two seconds while a COMMIT is held.
        drill.history.attempts[3].completed = Some(ms(2_050));
        let mut hurt = Hurt::new(&mut drill, commit_held());
        hurt.fires_unseen(40_000, Wire::Postgres, COMMIT, held_user, StepPoint::Before);
        hurt.proves(40_010, Proof::ServerNotAsked);
        hurt.ends(2_000_000, FiringEnd::OthersAnswered);
        hurt.heals(2_000_000);
        drill.end();
        drill
    };
    // Of another user: it may have waited for a row.
    assert_eq!(ids(&slow(0).judge()), [""; 0], "{:#?}", slow(0).judge());
    // Its own intent's COMMIT was held, but not by it, who came later.
    only(&slow(1).judge(), "I21");
    // The hold kept the connection that it needed.
    let mut own = slow(1);
    for facts in &mut own.history.faults {
        if let FaultEvent::Ended { how, .. } = &mut facts.event {
            *how = FiringEnd::OwnHold;
        }
    }
    assert_eq!(ids(&own.judge()), [""; 0]);
}

#[test]
fn a_pending_answer_behind_an_acknowledgement_is_excused_in_a_window_alone() {
    let mut drill = asked_again();
    put_off(&mut drill.history.attempts[3]);
    only(&drill.judge(), "R3");
    redis_away(&mut drill, 5, 60);
    assert_eq!(ids(&drill.judge()), [""; 0]);
}

/// An intent whose COMMIT's reply was lost at 5 ms and healed at 20 ms, and which is asked about until
/// `until`, answered as `settle` says.
fn asked_until(until: u64, settle: fn(&mut dupeproof::history::Attempt)) -> Drill {
    let mut drill = Drill::clean(3, 2);
    drill.profile.contract.recovery_limit = Duration::from_millis(2_000);
    drill.profile.client.retries.longest_wait = Duration::from_millis(100);
    for at in [2, 3] {
        forget(&mut drill.history.attempts[at]);
    }
    for begin in [500, 1_500, until] {
        let attempt = drill.add_attempt(1, ms(begin), ms(begin + 5));
        attempt.cause = Cause::Resolve;
        settle(attempt);
    }
    let trigger = at_step(Wire::Postgres, "COMMIT", None, StepPoint::After);
    let mut hurt = Hurt::new(&mut drill, (trigger, Act::DropReply(Loss::Close)));
    hurt.fires_unseen(11_000, Wire::Postgres, COMMIT, 1, StepPoint::After);
    hurt.proves(11_010, Proof::ServerAnswered { answer: "COMMIT".to_owned() });
    hurt.ends(11_010, FiringEnd::AtOnce);
    hurt.heals(20_000);
    drill.end();
    drill
}

#[test]
fn what_stays_open_past_the_recovery_limit_is_i11() {
    let drill = asked_until(1_960, put_off);
    let judgement = drill.judge();
    let finding = only(&judgement, "I11");
    assert_eq!(finding.severity, Severity::Contract);
    assert_eq!(gate(&judgement, "G11").state, GateState::NotJudged);
    // So is a stored error.
    let error = |attempt: &mut dupeproof::history::Attempt| {
        (attempt.status, attempt.failure) = (Some(500), None);
    };
    only(&asked_until(1_960, error).judge(), "I11");
}

#[test]
fn what_was_not_asked_for_long_enough_or_not_answered_is_inconclusive() {
    assert_doubted(&asked_until(1_600, put_off), "G11");
    let down = |attempt: &mut dupeproof::history::Attempt| forget(attempt);
    assert_doubted(&asked_until(1_960, down), "G11");
    // Without a fault on the intent nothing says that it was broken.
    let mut drill = asked_until(1_960, put_off);
    drill.history.faults.clear();
    drill.profile.phases[0].faults.clear();
    assert_doubted(&drill, "G11");
}

#[test]
fn what_becomes_definite_in_time_passes() {
    let settle = |attempt: &mut dupeproof::history::Attempt| acknowledge(attempt, 1);
    let judgement = asked_until(1_960, settle).judge();
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert_eq!(gate(&judgement, "I11").state, GateState::Held);
}

#[test]
fn an_intent_is_parked_for_a_reason() {
    let park = |attempt: &mut dupeproof::history::Attempt| {
        put_off(attempt);
        attempt.outcome = Outcome::Parked;
    };
    assert_eq!(ids(&asked_until(1_960, park).judge()), [""; 0]);
    let mut drill = Drill::clean(3, 2);
    drill.history.attempts.iter_mut().filter(|it| it.intent.0 == 1).for_each(park);
    only(&drill.judge(), "I11");
}

/// A second order of user 1, whose keys were deleted while it was asked for.
fn expired(proof: Proof, intent: u32) -> Drill {
    let mut drill = Drill::clean(3, 2);
    drill.add_order(dupeproof::history::OrderRow { id: order_id(500).into(), ..row(1, 1) });
    let mut hurt = Hurt::new(&mut drill, expiry());
    hurt.fires_unseen(
        u64::from(intent) * 10_000 + 1_000,
        Wire::Postgres,
        COMMIT,
        intent,
        StepPoint::Before,
    );
    let at = u64::from(intent) * 10_000 + 1_100;
    hurt.proves(at, proof);
    hurt.ends(at, FiringEnd::OthersAnswered);
    hurt.heals(at);
    drill
}

fn expiry() -> (Trigger, Act) {
    let hold = Hold { until: Until::Others, limit: Duration::from_secs(5) };
    let act =
        Act::Expire(Expire { what: Expired::Lease, how: Passing::Delete, replay: true, hold });
    (at_step(Wire::Postgres, "COMMIT", None, StepPoint::Before), act)
}

#[test]
fn what_was_found_with_deleted_keys_alone_is_protected() {
    let judgement = expired(Proof::KeysGone { keys: 2 }, 1).judge();
    let finding = only(&judgement, "I02");
    assert_eq!(finding.severity, Severity::Protected);
    assert!(finding.therefore.iter().any(|it| it.contains("no replay")), "{finding:#?}");
    assert_eq!(gate(&judgement, "I02").state, GateState::Held);
    assert_eq!(judgement.verdict, Verdict::Passed);
    // In real time, or of another intent, it is what it is.
    for drill in
        [expired(Proof::KeysExpired { keys: 2 }, 1), expired(Proof::KeysGone { keys: 2 }, 2)]
    {
        let judgement = drill.judge();
        assert_eq!(only(&judgement, "I02").severity, Severity::Critical);
        assert_eq!(judgement.verdict, Verdict::Violated);
    }
}

#[test]
fn a_replay_in_real_time_that_breaks_the_same_proves_it() {
    let replayed = |breaks: bool| {
        let mut drill = expired(Proof::KeysGone { keys: 2 }, 1);
        if breaks {
            drill.add_order(dupeproof::history::OrderRow { id: order_id(501).into(), ..row(2, 1) });
        }
        let mut hurt = Hurt::new(&mut drill, expiry());
        hurt.fires_unseen(21_000, Wire::Postgres, COMMIT, 2, StepPoint::Before);
        hurt.proves(21_100, Proof::KeysExpired { keys: 2 });
        hurt.ends(21_100, FiringEnd::OthersAnswered);
        hurt.heals(21_100);
        drill.judge()
    };
    assert_eq!(only(&replayed(true), "I02").severity, Severity::Critical);
    let judgement = replayed(false);
    let finding = only(&judgement, "I02");
    assert_eq!(finding.severity, Severity::Protected);
    assert!(finding.therefore.iter().any(|it| it.contains("shows nothing of it")), "{finding:#?}");
}

#[test]
fn a_story_marks_what_was_done_and_what_ended_it() {
    let mut drill = Drill::clean(3, 2);
    drill.history.attempts[3].completed = Some(ms(16));
    drill.add_order(dupeproof::history::OrderRow { id: order_id(500).into(), ..row(1, 1) });
    drill.history.attempts[3].order = Some(order_id(500).into());
    drill.history.attempts[2].completed = Some(ms(18));
    let mut hurt = Hurt::new(&mut drill, commit_held());
    hurt.fires_unseen(11_000, Wire::Postgres, COMMIT, 1, StepPoint::Before);
    hurt.proves(11_010, Proof::ServerNotAsked);
    hurt.ends(16_100, FiringEnd::OthersAnswered);
    hurt.heals(17_000);
    let judgement = drill.judge();
    let scenes = tell(&drill.case(), &judgement.findings[0]);
    let lines: Vec<String> = scenes
        .into_iter()
        .map(|line| {
            format!(
                "{:9} {:9} {}",
                line.at.unwrap_or(RunTime(0)).to_string(),
                line.seen_by,
                line.what
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

fn budgets(drill: &Drill) -> Vec<bool> {
    let judgement = drill.judge();
    let result = report::build(report::Material {
        profile: &drill.profile,
        history: &drill.history,
        judgement: &judgement,
        tellings: Vec::new(),
        folder: String::new(),
        took: Duration::from_secs(1),
    });
    result.budgets.iter().map(|budget| budget.met).collect()
}

#[test]
fn budgets_are_for_phases_without_faults() {
    let mut drill = Drill::clean(3, 2);
    drill.profile.budget.p99_latency = Some(Duration::from_millis(1));
    assert_eq!(budgets(&drill), [false]);
    hold_commit_unseen(&mut drill);
    assert_eq!(budgets(&drill), [true; 0]);
    // A second phase, undisturbed and quick enough.
    let mut second = drill.history.phases[0].clone();
    (second.id, second.planned) = (dupeproof::history::PhaseId(1), 1);
    drill.history.phases.push(second);
    let mut phase = drill.profile.phases[0].clone();
    phase.faults.clear();
    drill.profile.phases.push(phase);
    let intent = drill.add_intent(3, 3, 1);
    drill.history.intents[intent.0 as usize].phase = dupeproof::history::PhaseId(1);
    let quick = drill.add_attempt(3, ms(200), RunTime(200_500));
    quick.cause = Cause::Burst;
    assert_eq!(budgets(&drill), [true]);
}

fn hold_commit_unseen(drill: &mut Drill) {
    let mut hurt = Hurt::new(drill, commit_held());
    hurt.fires_unseen(1_000, Wire::Postgres, COMMIT, 0, StepPoint::Before);
    hurt.proves(1_010, Proof::ServerNotAsked);
    hurt.ends(2_000, FiringEnd::OthersAnswered);
    hurt.heals(2_000);
}
