//! `[[phase.fault]]` and the rules of a proxy: what they mean, what is wrong with them, and what is written
//! back.

use std::path::Path;
use std::time::Duration;

use dupeproof::history::{Role, StepPoint, Wire};
use dupeproof::profile::{
    Act, Cut, Expire, Expired, Failure, Fault, Hold, Loss, Mistakes, Owned, Partition, Passing,
    StepTrigger, Trigger, Until, Which, parse_rules, reproduction,
};
use proptest::prelude::*;

use crate::schema::complaints;
use crate::{ATTACHED, LAUNCHED, PHASE, env, read};

/// A profile that uses every key of a fault.
pub const FAULTS: &str = r#"
lab.payments = {}
[[phase]]
name = "p"
burst.same-key = { users = 9, threads = 3 }
[[phase.fault]]
at.step = { after = "postgres COMMIT #2", role = "commit", of = "product", nth = 3, instance = 1, table = "a.b", sql = "COMMIT", parameter = "x", probability = 0.5 }
do.hold = { until = "taken-over", limit = "1s" }
armed = false
[[phase.fault]]
at.step = { before = "redis SET", key = "lock:{product}", every = true }
do.drop-request = { then = "stall" }
[[phase.fault]]
at.step = { after = "*", role = "unlock", first-of-each = true }
do.drop-reply = { then = "reset" }
[[phase.fault]]
at.step = { before = "redis *", role = "claim" }
do.delay = { for = "600ms" }
[[phase.fault]]
at.step = { in-buffer = "http POST /charges" }
do.reset = {}
[[phase.fault]]
at.step = { before = "postgres COMMIT" }
do.fail = { sqlstate = "40001", message = "no" }
[[phase.fault]]
at.step = { before = "redis SET" }
do.fail = { redis = "READONLY no" }
[[phase.fault]]
at.step = { before = "http POST" }
do.fail = { status = 503 }
[[phase.fault]]
at.step = { before = "redis SET" }
do.black-hole = {}
[[phase.fault]]
at.time = "0ms"
do.partition = { wire = "redis", instance = 0, how = "black-hole", for = "2s" }
[[phase.fault]]
at.time = "1s"
do.swap-upstream = { wire = "redis" }
[[phase.fault]]
at.step = { after = "postgres COMMIT" }
do.expire = { what = "record", how = "wait", replay = false, until = "limit", limit = "2s" }
[[phase.fault]]
at.time = "2s"
do.take-lease = { for = "5s" }
"#;

#[test]
fn every_key_of_a_fault_reads_back() {
    let profile = read(FAULTS).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let names: Vec<String> = profile.phases[0].faults.iter().map(Fault::name).collect();
    insta::assert_snapshot!(names.join("\n"));
    let written = profile.to_toml();
    let (_, faults) = written.split_once("[[phase.fault]]").expect("it has faults");
    insta::assert_snapshot!(faults);
    assert_eq!(read(&written).unwrap_or_else(|m| panic!("{}", m.render(false))), profile);
    assert_eq!(complaints(FAULTS), Vec::<String>::new());
}

/// The faults of a phase.
fn faults(text: &str) -> Vec<Fault> {
    let read = read(&format!("lab.payments = {{}}\n{PHASE}{text}"));
    read.unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false))).phases[0].faults.clone()
}

/// A fault, from what stands below its header.
fn fault(lines: &str) -> Fault {
    faults(&format!("[[phase.fault]]\n{lines}\n")).remove(0)
}

fn act(act: &str) -> Act {
    let at = match act {
        _ if act.starts_with("drop-request") => "before = 'redis SET'",
        _ if act.starts_with("fail = { sqlstate") => "before = 'postgres COMMIT'",
        _ if act.starts_with("fail = { redis") => "before = 'redis SET'",
        _ if act.starts_with("fail = { status") => "before = 'http POST /charges'",
        _ => "after = 'postgres COMMIT'",
    };
    fault(&format!("at.step = {{ {at} }}\ndo.{act}")).act
}

fn step(step: &str) -> StepTrigger {
    match fault(&format!("at.step = {{ {step} }}\ndo.reset = {{}}")).at {
        Trigger::Step(step) => step,
        Trigger::Time(time) => panic!("{time:?}"),
    }
}

/// What is told about a fault in the lab.
fn told(lines: &str) -> String {
    told_with("", &format!("[[phase.fault]]\n{lines}\n"))
}

fn told_with(head: &str, faults: &str) -> String {
    let text = format!("{head}\n{PHASE}{faults}");
    read(&text).expect_err("this profile has a mistake").render(false)
}

fn rules(text: &str) -> Result<Vec<Fault>, Mistakes> {
    parse_rules(Path::new("rules.toml"), text, &env)
}

#[test]
fn what_is_left_out_has_its_default() {
    let fault = fault("at.step = { after = 'postgres COMMIT' }\ndo.hold = {}");
    assert!(fault.armed);
    assert_eq!(fault.name(), "hold after \"postgres COMMIT\"");
    let five = Duration::from_secs(5);
    assert_eq!(fault.act, Act::Hold(Hold { until: Until::Others, limit: five }));
    let Trigger::Step(step) = fault.at else { panic!("a step") };
    assert_eq!((step.point, step.of, step.which), (StepPoint::After, Owned::Intent, Which::Nth(1)));
    assert_eq!((step.role, step.instance, step.probability), (None, None, 1.0));
    assert_eq!((step.key, step.table, step.sql, step.parameter), (None, None, None, None));
    assert_eq!(act("drop-reply = {}"), Act::DropReply(Loss::Close));
    assert_eq!(act("swap-upstream = {}"), Act::SwapUpstream { wire: Wire::Redis });
    let expire = Expire {
        what: Expired::Lease,
        how: Passing::Delete,
        replay: true,
        hold: Hold { until: Until::Others, limit: five },
    };
    assert_eq!(act("expire = {}"), Act::Expire(expire));
    let Act::Fail(Failure::Postgres { message, .. }) = act("fail = { sqlstate = '40001' }") else {
        panic!("an error of PostgreSQL")
    };
    assert_eq!(message, "injected by dupeproof");
}

#[test]
fn every_act_reaches_its_place() {
    let second = Duration::from_secs(1);
    let hold = Hold { until: Until::TakenOver, limit: second };
    assert_eq!(act("hold = { until = 'taken-over', limit = '1s' }"), Act::Hold(hold));
    assert_eq!(act("drop-request = { then = 'reset' }"), Act::DropRequest(Loss::Reset));
    assert_eq!(act("drop-reply = { then = 'stall' }"), Act::DropReply(Loss::Stall));
    assert_eq!(act("delay = { for = '600ms' }"), Act::Delay(Duration::from_millis(600)));
    assert_eq!((act("reset = {}"), act("black-hole = {}")), (Act::Reset, Act::BlackHole));
    assert_eq!(
        act("fail = { sqlstate = '40001', message = 'no' }"),
        Act::Fail(Failure::Postgres { sqlstate: "40001".to_owned(), message: "no".to_owned() })
    );
    assert_eq!(
        act("fail = { redis = 'READONLY no' }"),
        Act::Fail(Failure::Redis { error: "READONLY no".to_owned() })
    );
    assert_eq!(act("fail = { status = 503 }"), Act::Fail(Failure::Http { status: 503 }));
    let cut = Partition {
        wire: Wire::Redis,
        instance: Some(1),
        how: Cut::BlackHole,
        lasts: Some(second),
    };
    assert_eq!(
        act("partition = { wire = 'redis', instance = 1, how = 'black-hole', for = '1s' }"),
        Act::Partition(cut)
    );
    let expire = Expire {
        what: Expired::Record,
        how: Passing::Wait,
        replay: false,
        hold: Hold { until: Until::Limit, limit: second },
    };
    assert_eq!(
        act(
            "expire = { what = 'record', how = 'wait', replay = true, until = 'limit', limit = '1s' }"
        ),
        Act::Expire(expire),
        "where time really passes nothing is left to be replayed"
    );
    assert_eq!(act("take-lease = { for = '1s' }"), Act::TakeLease { lasts: second });
}

#[test]
fn every_key_of_a_step_reaches_its_place() {
    let read = step(
        "in-buffer = 'redis SET lock:stock #2', role = 'lock', of = 'product', nth = 3, instance = 1, \
         key = 'lock:stock:{product}', parameter = 'NX', probability = 0.5",
    );
    assert_eq!(read.point, StepPoint::InBuffer);
    assert_eq!(
        read.step.as_ref().map(ToString::to_string).as_deref(),
        Some("redis SET lock:stock #2")
    );
    assert_eq!((read.role, read.of, read.which), (Some(Role::Lock), Owned::Product, Which::Nth(3)));
    assert_eq!((read.instance, read.probability), (Some(1), 0.5));
    assert_eq!(read.key.as_deref(), Some("lock:stock:{product}"));
    assert_eq!(read.parameter.as_deref(), Some("NX"));
    let read = step("before = '*', table = 'orders', sql = 'INSERT VALUES', every = true");
    assert_eq!((read.step, read.which), (None, Which::Every));
    assert_eq!(
        (read.table.as_deref(), read.sql.as_deref()),
        (Some("orders"), Some("INSERT VALUES"))
    );
    let read = step("before = 'redis *', role = 'unlock', first-of-each = true");
    let pattern = read.step.expect("a wire");
    assert_eq!((pattern.wire, pattern.verb), (Wire::Redis, None));
    assert_eq!(read.which, Which::FirstOfEach);
}

#[test]
fn a_time_triggers_what_needs_no_step() {
    let read = fault("at.time = '0ms'\ndo.swap-upstream = {}\narmed = false");
    assert_eq!((read.at.clone(), read.armed), (Trigger::Time(Duration::ZERO), false));
    assert_eq!(read.name(), "swap-upstream at 0s");
}

macro_rules! each {
    ($($name:ident: $lines:expr;)*) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(told($lines));
        }
    )*};
}

each! {
    fault_of_nothing: "";
    fault_without_a_step_or_time: "at = {}\ndo = {}";
    fault_of_two_acts_at_two_points: "at.step = { after = 'postgres COMMIT', before = 'postgres COMMIT' }\ndo = { hold = {}, reset = {} }";
    fault_of_an_unknown_act: "at.step = { after = 'postgres COMMIT' }\ndo.holt = {}";
    fault_with_keys_of_another: "at.step = { afer = 'postgres COMMIT', per = 1 }\ndo.reset = { then = 'close' }";
    fault_that_is_no_table: "at.step = 'postgres COMMIT'\ndo = 'hold'";
    fault_at_a_step_of_no_wire: "at.step = { after = 'postgre COMMIT' }\ndo.hold = {}";
    fault_at_a_step_without_a_verb: "at.step = { after = 'redis' }\ndo.hold = {}";
    fault_at_a_step_of_a_verb_that_is_none: "at.step = { after = 'postgres COMIT' }\ndo.hold = {}";
    fault_at_a_step_in_small_letters: "at.step = { after = 'postgres commit' }\ndo.hold = {}";
    fault_at_a_step_with_a_bad_number: "at.step = { after = 'postgres COMMIT #first' }\ndo.hold = {}";
    fault_at_what_is_no_step: "at.step = { after = 'redis PING' }\ndo.hold = {}";
    fault_at_any_step_at_all: "at.step = { after = '*' }\ndo.hold = {}";
    fault_at_any_step_of_a_wire: "at.step = { after = 'redis *' }\ndo.hold = {}";
    fault_counted_in_two_ways: "at.step = { after = 'postgres COMMIT', nth = 2, every = true }\ndo.hold = {}";
    fault_that_is_too_unlikely: "at.step = { after = 'postgres COMMIT', probability = 0 }\ndo.hold = {}";
    fault_of_anyone: "at.step = { after = 'postgres COMMIT', of = 'anyone' }\ndo.hold = {}";
    fault_at_an_instance_that_is_not_there: "at.step = { after = 'postgres COMMIT', instance = 2 }\ndo.partition = { wire = 'redis', instance = 15, how = 'refuse' }";
    fault_with_a_key_of_postgres: "at.step = { after = 'postgres COMMIT', key = 'lock:{product}' }\ndo.hold = {}";
    fault_with_sql_of_redis: "at.step = { after = 'redis SET', table = 'orders', sql = 'a' }\ndo.hold = {}";
    fault_with_a_key_and_a_table: "at.step = { after = '*', key = 'lock:{product}', table = 'orders' }\ndo.hold = {}";
    fault_that_drops_a_request_after: "at.step = { after = 'postgres COMMIT' }\ndo.drop-request = {}";
    fault_that_drops_a_reply_before: "at.step = { before = 'postgres COMMIT' }\ndo.drop-reply = {}";
    fault_that_fails_what_is_done: "at.step = { in-buffer = 'postgres COMMIT' }\ndo.fail = { sqlstate = '40001' }";
    fault_that_holds_what_is_under_way: "at.step = { in-buffer = 'postgres COMMIT' }\ndo.hold = {}";
    fault_that_needs_a_step: "at.time = '1s'\ndo.drop-reply = {}";
    fault_that_fails_on_another_wire: "at.step = { before = 'redis SET' }\ndo.fail = { sqlstate = '40001' }";
    fault_that_fails_on_any_wire: "at.step = { before = '*', role = 'claim' }\ndo.fail = { redis = 'ERR no' }";
    fault_that_fails_in_two_ways: "at.step = { before = 'redis SET' }\ndo.fail = { redis = 'ERR no', status = 503 }";
    fault_with_a_message_for_nobody: "at.step = { before = 'redis SET' }\ndo.fail = { redis = 'ERR no', message = 'no' }";
    fault_with_an_sqlstate_that_is_none: "at.step = { before = 'postgres COMMIT' }\ndo.fail = { sqlstate = '40p01' }";
    fault_with_an_sqlstate_of_success: "at.step = { before = 'postgres COMMIT' }\ndo.fail = { sqlstate = '00000' }";
    fault_with_an_error_of_redis_that_is_none: "at.step = { before = 'redis SET' }\ndo.fail = { redis = '-ERR no' }";
    fault_with_a_status_of_success: "at.step = { before = 'http POST' }\ndo.fail = { status = 200 }";
    fault_at_a_provider_that_is_not_there: "at.step = { before = 'http POST /charges' }\ndo.fail = { status = 503 }";
    fault_that_swaps_postgres: "at.time = '0s'\ndo.swap-upstream = { wire = 'postgres' }";
    fault_that_lasts_no_time: "at.step = { after = 'postgres COMMIT' }\ndo.delay = { for = '0s' }";
}

#[test]
fn faults_of_a_lab_without_proxies_leases_or_records() {
    insta::assert_snapshot!(told_with(
        "lab = { proxies = false, lock = 'postgres-advisory', idempotency = 'postgres', instances = 1 }",
        "[[phase.fault]]\nat.step = { after = 'postgres COMMIT', instance = 1 }\ndo.hold = {}\n\
         [[phase.fault]]\nat.step = { after = '*', role = 'commit' }\ndo.hold = {}\n\
         [[phase.fault]]\nat.time = '0s'\ndo.partition = { wire = 'redis', how = 'refuse' }\n\
         [[phase.fault]]\nat.time = '0s'\ndo.swap-upstream = {}\n\
         [[phase.fault]]\nat.time = '0s'\ndo.take-lease = { for = '1s' }\n\
         [[phase.fault]]\nat.step = { after = 'postgres COMMIT' }\ndo.expire = { what = 'record' }\n",
    ));
}

const WIRE_FAULTS: &str = "[[phase.fault]]\nat.step = { after = 'postgres COMMIT', instance = 0 }\ndo.hold = {}\n\
     [[phase.fault]]\nat.step = { before = 'redis SET' }\ndo.reset = {}\n\
     [[phase.fault]]\nat.step = { before = 'http POST' }\ndo.reset = {}\n\
     [[phase.fault]]\nat.step = { after = '*', role = 'commit' }\ndo.expire = {}\n\
     [[phase.fault]]\nat.step = { after = '*', role = 'commit' }\ndo.expire = { what = 'record' }\n";

#[test]
fn faults_of_an_attached_target_without_proxies() {
    let target =
        "target.urls = ['http://127.0.0.1:8080']\npostgres.url = 'postgres://u@127.0.0.1/d'";
    insta::assert_snapshot!(told_with(target, WIRE_FAULTS));
}

#[test]
fn faults_of_a_launched_target_without_proxies() {
    let target = "target.launch = { command = ['a', '{postgres.url}'], instances = 1 }";
    insta::assert_snapshot!(told_with(target, WIRE_FAULTS));
    let off = target.replace("instances", "proxies = false, instances");
    insta::assert_snapshot!(told_with(&off, WIRE_FAULTS));
}

#[test]
fn faults_of_targets_of_ones_own_are_right_where_their_wires_are_known() {
    let faults = WIRE_FAULTS.replace(", instance = 0", "");
    let attached = format!("{ATTACHED}{faults}");
    read(&attached).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let launched = LAUNCHED
        .replace("proxies = false", "proxies = true")
        .replace("[redis]", "[redis]\nidempotency-keys = 'idem:{key}'")
        .replace("env = {", "env = { REDIS_URL = '{redis.url}',");
    let of_redis = faults.replace("http POST", "redis SET");
    read(&format!("{launched}{of_redis}"))
        .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
}

#[test]
fn faults_of_steady_load_are_right() {
    let rate = "rate = { per-second = 10, for = '1s' }";
    let phase = PHASE.replace("burst.same-key = { users = 2, threads = 2 }", rate);
    let fault = "[[phase.fault]]\nat.step = { after = 'postgres COMMIT', every = true }\ndo.delay = { for = '1ms' }\n";
    read(&format!("{phase}{fault}"))
        .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
}

#[test]
fn rules_are_faults_of_anyone() {
    let read = rules(
        "[[rule]]\nat.step = { after = 'postgres COMMIT', nth = 3 }\ndo.hold = {}\n\
         [[rule]]\nat.time = '10s'\ndo.partition = { wire = 'redis', how = 'refuse' }\n",
    )
    .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let Trigger::Step(step) = &read[0].at else { panic!("a step") };
    assert_eq!((step.of, step.which, read[0].armed), (Owned::Anyone, Which::Nth(3), true));
    let hold = Hold { until: Until::Limit, limit: Duration::from_secs(5) };
    assert_eq!(read[0].act, Act::Hold(hold));
    assert_eq!(read[1].at, Trigger::Time(Duration::from_secs(10)));
}

#[test]
fn rules_that_proxies_alone_cannot_keep() {
    let told = |text: &str| rules(text).expect_err("these rules have a mistake").render(false);
    insta::assert_snapshot!(told(
        "[[rule]]\nat.step = { after = 'postgres COMMIT #2', first-of-each = true }\ndo.hold = { until = 'others' }\n\
         [[rule]]\nat.step = { after = 'redis SET', of = 'intent', instance = 0 }\ndo.expire = {}\n\
         [[rule]]\nat.step = { after = 'redis SET' }\ndo.drop-request = {}\n\
         [[rule]]\nat.step = { before = 'redis *' }\ndo.partition = { wire = 'redis', instance = 1, how = 'refuse' }\n"
    ));
    insta::assert_snapshot!(told(""));
    insta::assert_snapshot!(told("[rule]\nat.step = after"));
}

/// A fault of any kind that is right in the lab.
fn any_fault() -> impl Strategy<Value = String> {
    let which = prop::sample::select(vec!["", "nth = 7", "every = true", "first-of-each = true"]);
    let narrowed = prop::sample::select(vec![
        "",
        "role = 'claim'",
        "of = 'product'",
        "instance = 1",
        "parameter = 'a\"b$${'",
        "probability = 0.125",
    ]);
    let kind = prop::sample::select(vec![
        ("after = 'postgres COMMIT #3'", "hold = { until = 'lease-over', limit = '1500us' }"),
        ("before = 'postgres ROLLBACK TO sp'", "hold = { until = 'limit' }"),
        ("before = 'redis SET lock:stock'", "drop-request = { then = 'stall' }"),
        ("after = 'redis EVAL unlock', key = 'lock:{product}'", "drop-reply = { then = 'reset' }"),
        ("after = '*', sql = \"SELECT '$${' FROM\"", "delay = { for = '7ms' }"),
        ("in-buffer = 'redis JSON.SET cart', role = 'success'", "reset = {}"),
        (
            "before = '*', table = 'shop.orders'",
            "fail = { sqlstate = '57P01', message = '$${x} \"y\"' }",
        ),
        ("before = 'redis * lock:stock'", "fail = { redis = 'READONLY \"no\"' }"),
        ("before = 'http POST /orders/{}/pay'", "fail = { status = 599 }"),
        ("before = 'redis GET'", "black-hole = {}"),
        ("in-buffer = 'postgres COMMIT'", "partition = { wire = 'http', how = 'black-hole' }"),
        ("after = 'postgres COMMIT'", "swap-upstream = {}"),
        ("after = 'postgres COMMIT'", "expire = { what = 'record', how = 'wait', limit = '1s' }"),
        ("after = 'postgres COMMIT'", "expire = { replay = false }"),
        ("after = 'postgres COMMIT'", "take-lease = { for = '5s' }"),
    ]);
    (kind, which, narrowed, any::<bool>()).prop_map(|((at, act), which, narrowed, armed)| {
        let keys = [at, which, narrowed].into_iter().filter(|key| !key.is_empty());
        let first = |key: &str| key.split(' ').next().unwrap_or_default().to_owned();
        // The same key isn't given twice, and HTTP has no parameters.
        let mut seen = std::collections::HashSet::new();
        let keys: Vec<&str> = keys
            .filter(|key| {
                seen.insert(first(key)) && !(at.contains("http") && key.starts_with("parameter"))
            })
            .filter(|key| !(at.contains("role") && key.starts_with("role")))
            .collect();
        format!("[[phase.fault]]\nat.step = {{ {} }}\ndo.{act}\narmed = {armed}\n", keys.join(", "))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn faults_of_every_kind_read_back(faults in prop::collection::vec(any_fault(), 1..4)) {
        let text = format!("lab.payments = {{}}\n{PHASE}{}", faults.concat());
        let profile = match read(&text) {
            Ok(profile) => profile,
            Err(mistakes) => return Err(TestCaseError::fail(format!("{text}\n{}", mistakes.render(false)))),
        };
        let written = profile.to_toml();
        prop_assert!(complaints(&text).is_empty() && complaints(&written).is_empty());
        match read(&written) {
            Ok(again) => prop_assert_eq!(again, profile.clone()),
            Err(mistakes) => prop_assert!(false, "{}\n{}", written, mistakes.render(false)),
        }
        let small = reproduction(&profile, 0, 2, "Small.");
        let small = read(&small).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        prop_assert_eq!(&small.phases[0].faults, &profile.phases[0].faults);
    }
}

#[test]
fn a_reproduction_with_fewer_users_waits_for_no_step_that_they_never_take() {
    let many = PHASE.replace("users = 2", "users = 200");
    let fault = "[[phase.fault]]\nat.step = { after = 'postgres COMMIT', nth = 3 }\ndo.hold = {}\n";
    let which = |text: &str, users: u32| {
        let small = reproduction(&read(text).expect("a profile"), 0, users, "Small.");
        let small = read(&small).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        let Trigger::Step(step) = &small.phases[0].faults[0].at else { panic!("a step") };
        step.which
    };
    assert_eq!(which(&format!("{many}{fault}"), 1), Which::Nth(1));
    assert_eq!(which(&format!("{many}{fault}"), 50), Which::Nth(3));
    assert_eq!(which(&format!("{PHASE}{fault}"), 2), Which::Nth(3), "nothing was made smaller");
}
