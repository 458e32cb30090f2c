//! `dupeproof proxy --rules FILE`: steps are broken as the rules say, and each that was is told.

use std::fs;
use std::time::{Duration, Instant};

use dupeproof::history::{FaultEvent, History, Proof};
use redis::{Connection, RedisResult, cmd};
use rustix::process::Signal;
use serde_json::Value;

use crate::proxying::{Redis, addresses, end};
use crate::rig::{Ended, Rig, Running};
use crate::waiting::until;

/// A proxy in front of a Redis, with rules.
fn start<'a>(rig: &'a Rig, redis: &Redis, rules: &str, more: &[&str]) -> (Running<'a>, String) {
    fs::write(rig.path().join("rules.toml"), rules).expect("the folder can be written");
    let url = redis.url();
    let args = [&["proxy", "--redis", &url, "--rules", "rules.toml"], more].concat();
    let mut running = rig.start(rig.command(&args));
    let told = addresses(rig, &mut running);
    let url = match serde_json::from_str::<Value>(told.lines().next().unwrap_or_default()) {
        Ok(told) => told["redis"]["url"].as_str().expect("it has a URL").to_owned(),
        Err(_) => {
            let (line, _) = told.split_once("  # ").expect("one line with a comment");
            line.strip_prefix("REDIS_URL=").expect("the variable comes first").to_owned()
        }
    };
    (running, url)
}

fn connect(url: &str) -> RedisResult<Connection> {
    redis::Client::open(url).expect("it is a URL").get_connection()
}

fn ended(running: &mut Running<'_>) -> Ended {
    let ended = end(running, Signal::INT);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended
}

#[test]
fn a_step_is_held_and_the_next_one_of_its_kind_is_not() {
    let (rig, redis) = (Rig::new(), Redis::start());
    let rules = "[[rule]]\nat.step = { before = 'redis SET lock', nth = 2 }\ndo.hold = { limit = '300ms' }\n";
    let (mut running, url) = start(&rig, &redis, rules, &["--steps", "steps.jsonl"]);
    let mut connection = connect(&url).expect("the proxy listens");
    let took = [0, 1, 2].map(|number| {
        let begun = Instant::now();
        let set = cmd("SET").arg(format!("lock:{number}")).arg("x").exec(&mut connection);
        set.expect("it is done in the end");
        begun.elapsed()
    });
    assert!(took[1] >= Duration::from_millis(300), "{took:?}");
    assert!(took[0] + took[2] < Duration::from_millis(300), "{took:?}");
    running.until_said("rule 1 (hold before \"redis SET lock\") fired at redis SET lock (lock:1)");
    let ended = ended(&mut running);
    let summary = "rule 1 (hold before \"redis SET lock\") fired once, as the other side shows";
    assert!(ended.told().contains(summary), "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().count(), 1, "firings are no result in words");
    let history = History::read(&rig.path().join("steps.jsonl")).expect("it is a whole journal");
    let events: Vec<_> = history.faults.iter().map(|facts| &facts.event).collect();
    assert!(matches!(events[..2], [FaultEvent::Planned(_), FaultEvent::Armed]), "{events:?}");
    assert!(matches!(events[2], FaultEvent::Fired(_)), "{events:?}");
    assert!(matches!(events.last(), Some(FaultEvent::Healed)), "{events:?}");
}

#[test]
fn a_reply_is_lost_and_json_says_what_the_server_had_answered() {
    let (rig, redis) = (Rig::new(), Redis::start());
    let rules = "[[rule]]\nat.step = { after = 'redis INCR' }\ndo.drop-reply = { then = 'reset' }\n\
                 [[rule]]\nat.step = { before = 'redis GETDEL' }\ndo.reset = {}\n";
    let (mut running, url) = start(&rig, &redis, rules, &["--format", "json"]);
    let mut connection = connect(&url).expect("the proxy listens");
    let lost: RedisResult<i64> = cmd("INCR").arg("orders").query(&mut connection);
    lost.expect_err("its reply is lost");
    let mut connection = connect(&url).expect("the proxy still listens");
    let count: i64 = cmd("GET").arg("orders").query(&mut connection).expect("it is done");
    assert_eq!(count, 1, "the server had done it");
    running.until_said("fired at redis INCR");
    let ended = ended(&mut running);
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    let of = |event: &str| -> Vec<&Value> {
        lines.iter().filter_map(|line| line["event"].get(event)).collect()
    };
    assert_eq!(lines[1]["rule"], 1);
    assert_eq!(lines[1]["name"], "drop-reply after \"redis INCR\"");
    let fired = of("fired");
    assert_eq!((fired.len(), &fired[0]["step"]["subject"]), (1, &Value::from("orders")));
    let answered =
        of("effect").into_iter().find_map(|effect| effect["proof"].get("server-answered"));
    assert_eq!(answered.expect("the server had answered")["answer"], "1");
    for words in [
        "rule 1 (drop-reply after \"redis INCR\") fired once",
        "rule 2 (reset before \"redis GETDEL\") never fired",
    ] {
        assert!(ended.told().contains(words), "no {words} in:\n{}", ended.stderr);
    }
}

#[test]
fn a_server_is_said_to_fail_and_never_asked() {
    let (rig, redis) = (Rig::new(), Redis::start());
    let rules = "[[rule]]\nat.step = { before = 'redis *', key = 'stock:{product}', every = true }\n\
                 do.fail = { redis = 'READONLY not now' }\n";
    let (mut running, url) = start(&rig, &redis, rules, &[]);
    let mut connection = connect(&url).expect("the proxy listens");
    for _ in 0..3 {
        let failed = cmd("SET").arg("stock:7").arg("1").exec(&mut connection);
        let error = failed.expect_err("it is said to fail");
        assert_eq!(error.code(), Some("READONLY"), "{error}");
    }
    let there: bool = cmd("EXISTS").arg("other:7").query(&mut connection).expect("another key");
    assert!(!there);
    drop(connection);
    let mut direct = connect(&redis.url()).expect("the server is there");
    let there: bool = cmd("EXISTS").arg("stock:7").query(&mut direct).expect("it is done");
    assert!(!there, "the server did it");
    let ended = ended(&mut running);
    assert!(ended.told().contains("fired 3 times, each shown"), "{}", ended.stderr);
}

#[test]
fn a_server_is_cut_off_for_a_while_at_a_step_and_at_a_time() {
    for at in ["at.time = '0s'", "at.step = { before = 'redis GET' }"] {
        let (rig, redis) = (Rig::new(), Redis::start());
        let rules = format!(
            "[[rule]]\n{at}\ndo.partition = {{ wire = 'redis', how = 'refuse', for = '400ms' }}\n"
        );
        let (mut running, url) = start(&rig, &redis, &rules, &["--steps", "steps.jsonl"]);
        let ask = || -> RedisResult<()> { cmd("GET").arg("a").exec(&mut connect(&url)?) };
        let begun = Instant::now();
        ask().expect_err("the server can't be reached");
        ask().expect_err("nor by a new connection");
        until(Duration::from_secs(10), || ask().map_err(|error| error.to_string()));
        assert!(begun.elapsed() > Duration::from_millis(100), "{at}: it was healed at once");
        let ended = ended(&mut running);
        assert!(ended.told().contains("fired once, as the other side shows"), "{}", ended.stderr);
        assert_eq!(ended.told().matches(" fired").count(), 2, "{}", ended.stderr);
        let history = History::read(&rig.path().join("steps.jsonl")).expect("a whole journal");
        let is_cut = |event: &FaultEvent| match event {
            FaultEvent::Effect { proof: Proof::Cut { refused, .. }, .. } => *refused > 0,
            _ => false,
        };
        assert!(history.faults.iter().any(|facts| is_cut(&facts.event)), "{:?}", history.faults);
    }
}

#[test]
fn what_is_silenced_is_reset_when_the_command_ends() {
    let (rig, redis) = (Rig::new(), Redis::start());
    let rules = "[[rule]]\nat.step = { before = 'redis SET' }\ndo.black-hole = {}\n";
    let (mut running, url) = start(&rig, &redis, rules, &[]);
    let mut connection = connect(&url).expect("the proxy listens");
    let waiting = std::thread::spawn(move || cmd("SET").arg("a").arg("1").exec(&mut connection));
    running.until_said("fired at redis SET a");
    ended(&mut running);
    waiting.join().expect("it doesn't panic").expect_err("its connection was reset");
}

#[test]
fn mistakes_in_rules_end_it_before_anything_listens() {
    let rig = Rig::new();
    let rules = rig.path().join("rules.toml");
    let run = |text: &str| {
        fs::write(&rules, text).expect("the folder can be written");
        let args = ["proxy", "--redis", "redis://127.0.0.1:1", "--rules", "rules.toml"];
        let ended = rig.run(&args);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
        ended.told()
    };
    let told = run("[[rule]]\nat.step = { after = 'redis SETT' }\ndo.drop-reply = {}\n");
    assert!(told.contains("error[C041]") && told.contains("rules.toml:2:28"), "{told}");
    let told = run("[[rule]]\nat.step = { after = 'postgres COMMIT' }\ndo.drop-reply = {}\n");
    assert!(told.contains("no proxy stands there") && told.contains("--postgres"), "{told}");
    let ended = rig.run(&["proxy", "--redis", "redis://127.0.0.1:1", "--rules", "none.toml"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.told().contains("none.toml can't be read"), "{}", ended.stderr);
}
