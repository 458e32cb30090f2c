//! Vacuity gates: what proves too little never passes.

use std::time::Duration;

use dupeproof::audit::{GateState, Verdict};
use dupeproof::history::RunTime;
use dupeproof::history::{
    Cause, ClockFacts, Constraint, ConstraintKind, CounterFacts, Doubt, InstanceId, KeyForm,
    Outcome, PhaseId, Sent,
};
use dupeproof::profile::{
    BadKeys, Burst, LastUnit, Mixed, Mutated, Phase, Race, Rate, Sequential, SharedKey, SubmitToken,
};

use crate::fixture::*;

#[test]
fn a_burst_that_came_one_by_one_is_inconclusive() {
    let mut drill = Drill::clean(4, 2);
    for attempt in drill.history.attempts.iter_mut().skip(2).filter(|it| it.id.0 % 2 == 1) {
        let later = ms(200 + u64::from(attempt.id.0));
        (attempt.first_byte, attempt.released) = (Some(later), Some(later));
        attempt.completed = Some(later.plus(Duration::from_millis(1)));
    }
    drill.end();
    let what = assert_doubted(&drill, "G1");
    assert!(what.contains("only 1 of 4 keys had two attempts in flight"), "{what}");
    assert_eq!(drill.judge().accounting.overlap[0].overlapped, 1);
}

#[test]
fn an_answer_before_its_own_release_is_no_overlap() {
    let mut drill = Drill::clean(1, 3);
    assert_eq!(drill.judge().accounting.overlap[0].in_flight_worst, 3);
    drill.history.attempts[2].released = Some(ms(100));
    assert_eq!(drill.judge().accounting.overlap[0].in_flight_worst, 2);
    drill.history.attempts[1].released = Some(ms(100));
    assert_doubted(&drill, "G1");
}

#[test]
fn a_burst_that_is_not_concurrent_claims_no_overlap() {
    let mut drill = Drill::clean(1, 2);
    drill.history.attempts[1].released = Some(ms(100));
    assert_doubted(&drill, "G1");
    drill.history.phases[0].contended = None;
    assert_eq!(drill.judge().verdict, Verdict::Passed);
}

#[test]
fn a_run_without_a_second_answer_has_compared_nothing() {
    let mut drill = Drill::clean(3, 1);
    drill.history.phases[0].contended = None;
    assert_doubted(&drill, "G12");
}

#[test]
fn a_target_that_refuses_everything_proves_nothing() {
    let mut drill = Drill::clean(3, 2);
    for attempt in &mut drill.history.attempts {
        refuse(attempt, 404, "business");
    }
    drill.after().orders.clear();
    *drill.available() += 3;
    assert!(assert_doubted(&drill, "G3").contains("none of 6 attempts"));
    assert!(doubts(&Drill::empty().judge()).contains(&"G3"));
}

#[test]
fn a_busy_database_is_inconclusive_however_it_shows() {
    let busy = |plant: fn(&mut Drill)| {
        let mut drill = Drill::clean(3, 2);
        plant(&mut drill);
        assert_doubted(&drill, "G4")
    };
    assert!(busy(|drill| drill.history.drains[0].drained = false).contains("still at work"));
    assert!(busy(|drill| drill.history.drains.clear()).contains("nobody waited"));
    assert!(busy(|drill| drill.after = None).contains("not read at the end"));
    assert!(busy(|drill| drill.after().taken = ms(1)).contains("the drain ended at"));
    assert!(
        busy(|drill| drill.history.attempts[0].completed = Some(ms(900)))
            .contains("after the last")
    );
}

#[test]
fn a_baseline_that_knows_too_little_is_inconclusive() {
    let mut drill = Drill::clean(3, 2);
    drill.baseline.taken = ms(5);
    assert!(assert_doubted(&drill, "G7").contains("after the first request"));

    let mut drill = Drill::clean(3, 2);
    drill.baseline.stock.clear();
    assert!(assert_doubted(&drill, "G7").contains("1 of 1 product had no stock"));

    let mut drill = Drill::clean(3, 2);
    let mut old = row(1, 1);
    old.id = "7".into();
    drill.baseline.orders.push(old.clone());
    drill.after().orders.push(old);
    assert!(assert_doubted(&drill, "G7").contains("stood there before the load"));
}

#[test]
fn the_gate_says_what_the_schema_forbids() {
    let mut drill = Drill::clean(3, 2);
    let detail = |drill: &Drill| gate(&drill.judge(), "G7").detail.clone();
    assert_eq!(
        detail(&drill),
        "unique: orders (user_id, idempotency_key); checks: product_stock_available_check"
    );
    drill.baseline.constraints = vec![
        unique_index(true),
        Constraint {
            name: "available_check".to_owned(),
            kind: ConstraintKind::Check,
            columns: Vec::new(),
            ..unique_index(false)
        },
    ];
    let expected = "unique: orders (user_id, idempotency_key, partial); checks: available_check";
    assert_eq!(detail(&drill), expected);
}

#[test]
fn a_clock_that_stepped_or_was_not_read_is_inconclusive() {
    let mut drill = Drill::clean(3, 2);
    drill.history.clock = Some(ClockFacts { at: RunTime(60_000_000), drift_us: -250_000 });
    assert_eq!(drill.judge().verdict, Verdict::Passed);
    drill.history.clock = Some(ClockFacts { at: RunTime(60_000_000), drift_us: -3_600_000_000 });
    assert!(assert_doubted(&drill, "G8").contains("3,600,000 ms"));
    drill.history.clock = None;
    assert_doubted(&drill, "G8");
}

#[test]
fn an_interrupted_or_unsealed_run_is_inconclusive() {
    let mut drill = Drill::clean(3, 2);
    drill.history.sealed = false;
    assert_doubted(&drill, "G9");
    drill.history.interrupted = Some(ms(40));
    assert!(assert_doubted(&drill, "G9").contains("interrupted at 0.040 s"));
}

#[test]
fn books_that_do_not_balance_are_inconclusive() {
    let odd = |plant: fn(&mut Drill)| {
        let mut drill = Drill::clean(3, 2);
        plant(&mut drill);
        assert_doubted(&drill, "G10")
    };
    assert!(odd(|drill| drill.history.phases[0].planned = 8).contains("8 attempts planned, 6"));
    assert!(odd(|drill| drill.history.attempts[1].sent = Sent::Nothing).contains("1 attempt has"));
    assert!(
        odd(|drill| {
            let twin = drill.history.attempts[5].clone();
            drill.history.attempts.push(twin);
            drill.history.phases[0].planned = 7;
        })
        .contains("recorded twice")
    );
}

#[test]
fn requests_that_multiply_on_their_way_are_noticed() {
    let mut drill = Drill::clean(3, 2);
    for (instance, posts) in [(0, 3), (1, 3)] {
        let instance = InstanceId(instance);
        drill.history.counters.push(CounterFacts { instance, posts });
    }
    assert_eq!(drill.judge().verdict, Verdict::Passed);
    drill.history.counters[1].posts = 5;
    let what = assert_doubted(&drill, "G10");
    assert_eq!(what, "the instances received 8 requests, but 6 were sent and 6 answered");
}

#[test]
fn an_intent_that_stays_open_is_inconclusive() {
    let mut drill = Drill::clean(3, 2);
    for attempt in drill.history.attempts.iter_mut().filter(|it| it.intent.0 == 1) {
        forget(attempt);
    }
    let what = assert_doubted(&drill, "G11");
    assert_eq!(what, format!("1 of 3 intents never got a definite answer: {}", key(1)));
    let again = drill.add_attempt(1, ms(500), ms(504));
    acknowledge(again, 1);
    again.cause = Cause::Resolve;
    drill.end();
    let judgement = drill.judge();
    assert_eq!(judgement.verdict, Verdict::Passed);
    assert_eq!((judgement.accounting.unknown, judgement.accounting.resolver_attempts), (2, 1));
}

#[test]
fn attempts_that_were_not_sent_decide_nothing() {
    let mut drill = Drill::clean(3, 2);
    for attempt in drill.history.attempts.iter_mut().filter(|it| it.intent.0 == 1) {
        forget(attempt);
        (attempt.outcome, attempt.sent) = (Outcome::NotSent, Sent::Nothing);
        (attempt.first_byte, attempt.released) = (None, None);
    }
    drill.after().orders.remove(1);
    *drill.available() += 1;
    let judgement = drill.judge();
    assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    assert_eq!(judgement.accounting.intents_with_none, 1);
}

#[test]
fn a_doubt_of_the_run_itself_is_carried_over() {
    let mut drill = Drill::clean(3, 2);
    let text = |text: &str| text.to_owned();
    drill.history.doubts.push(Doubt {
        code: text("G2"),
        what: text("the fault never fired"),
        cure: text("see its step"),
    });
    assert_eq!(assert_doubted(&drill, "G2"), "the fault never fired");
}

/// A clean drill of a profile with this burst.
fn with_burst(users: u32, threads: u32, burst: Burst) -> Drill {
    let mut drill = Drill::clean(users, threads);
    drill.history.phases[0].contended = None;
    drill.profile.phases[0].burst = burst;
    drill
}

fn rate(duplicate_share: f64) -> Burst {
    let lasts = Duration::from_secs(1);
    Burst::Rate(Rate { per_second: 3, lasts, duplicate_share, quantity: 1, request: 0 })
}

#[test]
fn a_steady_load_alone_that_repeats_nothing_proves_nothing() {
    let drill = with_burst(3, 1, rate(0.0));
    assert!(assert_doubted(&drill, "G12").contains("nothing was asked for twice"));
}

#[test]
fn a_last_unit_with_plenty_on_the_shelf_proves_nothing() {
    let Burst::SameKey(crowd) = Drill::empty().profile.phases.remove(0).burst else {
        panic!("the fixture's burst is one of same keys")
    };
    let mut drill = with_burst(3, 1, Burst::LastUnit(LastUnit { crowd, stock: 1 }));
    assert!(assert_doubted(&drill, "G7").contains("wants 1 unit"));
    // What asks whether the target answers again takes from other shelves.
    drill.history.attempts.iter_mut().for_each(|attempt| attempt.cause = Cause::Probe);
    assert_eq!(gate(&drill.judge(), "G7").state, GateState::Held);
}

#[test]
fn only_phases_that_set_out_to_ask_twice_owe_a_second_answer() {
    let crowd = || match Drill::empty().profile.phases.remove(0).burst {
        Burst::SameKey(crowd) => crowd,
        other => panic!("not a crowd: {other:?}"),
    };
    let shelf = *Drill::clean(3, 1).available() as u32 + 3;
    let race = Race { crowd: crowd(), first: 0, requests: vec![1, 2], in_turn: false };
    for burst in [
        Burst::BadKeys(BadKeys { users: 3, quantity: 1, request: 0 }),
        Burst::FreshKey(crowd()),
        Burst::Race(race.clone()),
        Burst::Race(Race { in_turn: true, ..race }),
        Burst::LastUnit(LastUnit { crowd: crowd(), stock: shelf }),
        Burst::SharedKey(SharedKey { crowd: crowd(), sharing: 2 }),
    ] {
        let word = burst.word();
        let judgement = with_burst(3, 1, burst).judge();
        assert_eq!(gate(&judgement, "G12").state, GateState::NotJudged, "{word}");
        assert_eq!(judgement.verdict, Verdict::Passed, "{word}: {judgement:#?}");
    }
    for burst in [
        Burst::SameKey(crowd()),
        Burst::SameFingerprint(crowd()),
        Burst::Mutated(Mutated { crowd: crowd(), mutated_share: 0.5, again: 1 }),
        Burst::Mixed(Mixed {
            crowd: crowd(),
            variant_share: 0.5,
            mutated_share: 0.0,
            fresh_share: 0.0,
        }),
        Burst::SubmitToken(SubmitToken { crowd: crowd(), token: 1, token_at: "/token".to_owned() }),
        Burst::Sequential(Sequential {
            users: 3,
            repeats: 1,
            quantity: 1,
            request: 0,
            vary: Vec::new(),
            route: None,
        }),
        rate(0.3),
    ] {
        let what = assert_doubted(&with_burst(3, 1, burst.clone()), "G12");
        assert_eq!(what, "0 of 3 keys answered twice: no duplicate was compared with anything");
        let judgement = with_burst(3, 2, burst).judge();
        assert_eq!(gate(&judgement, "G12").detail, "3 of 3 keys answered twice");
        assert_eq!(judgement.verdict, Verdict::Passed, "{judgement:#?}");
    }
}

#[test]
fn one_phase_that_compared_nothing_is_missed_among_others() {
    let mut drill = Drill::clean(3, 2);
    let (mut other, planned) = (drill.history.phases[0].clone(), drill.profile.phases[0].clone());
    (other.id, other.name, other.planned) = (PhaseId(1), "at leisure".to_owned(), 1);
    other.contended = None;
    drill.history.phases.push(other);
    drill.profile.phases.push(Phase {
        name: "at leisure".to_owned(),
        burst: rate(0.3),
        faults: Vec::new(),
    });
    let id = drill.add_intent(8, 8, 1);
    drill.history.intents[id.0 as usize].phase = PhaseId(1);
    let attempt = drill.add_attempt(id.0, ms(100), ms(104));
    attempt.cause = Cause::Steady;
    acknowledge(attempt, 8);
    drill.add_order(row(8, 1));
    drill.end();
    let what = assert_doubted(&drill, "G12");
    assert_eq!(what, "phase `at leisure`: no duplicate was compared with anything");
    // What is refused in front is no answer about a key, an answer to the resolver is.
    refuse(drill.add_attempt(id.0, ms(200), ms(204)), 429, "shed");
    drill.end();
    assert_doubted(&drill, "G12");
    let again = drill.add_attempt(id.0, ms(300), ms(304));
    acknowledge(again, 8);
    again.cause = Cause::Resolve;
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "{:#?}", drill.judge());
    drill.profile.phases = vec![planned];
    drill.history.attempts.truncate(7);
    drill.end();
    assert_eq!(drill.judge().verdict, Verdict::Passed, "a phase that the profile doesn't have");
}

#[test]
fn a_phase_in_which_nothing_was_asked_proves_nothing() {
    let mut drill = Drill::clean(3, 2);
    for attempt in &mut drill.history.attempts {
        attempt.cause = Cause::Prepare;
    }
    (drill.history.phases[0].contended, drill.history.phases[0].planned) = (None, 0);
    assert_eq!(assert_doubted(&drill, "G3"), "phase `double click`: nothing was asked in it");
}

#[test]
fn bad_keys_alone_are_content_with_the_rejection_that_is_due_to_them() {
    let plan = |status: u16, why: &str| {
        let mut drill = Drill::empty();
        drill.profile.phases[0].burst =
            Burst::BadKeys(BadKeys { users: 1, quantity: 1, request: 0 });
        drill.history.phases[0].contended = None;
        for (number, form) in (0..).zip(KeyForm::BAD) {
            let id = drill.add_intent(number, number, 1);
            drill.history.intents[id.0 as usize].key_form = form;
            let attempt = drill.add_attempt(number, ms(10), ms(14));
            attempt.cause = Cause::Burst;
            refuse(attempt, status, why);
        }
        drill.history.phases[0].planned = 5;
        drill.end();
        drill
    };
    assert_eq!(plan(400, "missing-key").judge().verdict, Verdict::Passed);
    // All of them refused in one other way: perhaps by whoever stands at a wrong path.
    let mut drill = plan(404, "business");
    let what = assert_doubted(&drill, "G3");
    assert!(what.contains("none of 5 attempts with a bad key got an answer"), "{what}");
    assert_eq!(gate(&drill.judge(), "I26").state, GateState::NotJudged);
    // One that is as it is due shows that the service read them.
    refuse(&mut drill.history.attempts[0], 400, "missing-key");
    assert_eq!(only(&drill.judge(), "I26").count, 4);
}
