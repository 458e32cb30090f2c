//! `dupeproof proxy`, as somebody types it: where to connect, what is seen, and how it ends.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dupeproof::history::{History, Step};
use rustix::process::Signal;
use serde_json::Value;

use crate::rig::{Ended, Rig, Running};
use crate::waiting::until;

const STARTED: &str = "Ctrl-C ends it";

/// A Redis of the test's own.
pub struct Redis {
    child: Child,
    port: u16,
}

impl Redis {
    pub fn start() -> Self {
        let port = free().port();
        let mut command = Command::new("redis-server");
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        let child = command.stdout(Stdio::null()).spawn().expect("redis-server is there");
        let redis = Self { child, port };
        until(Duration::from_secs(20), || {
            TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())
        });
        redis
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/3", self.port)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it has an address")
}

/// What stdout says once it listens.
pub fn addresses(rig: &Rig, running: &mut Running<'_>) -> String {
    running.until_said(STARTED);
    fs::read_to_string(rig.path().join("stdout")).expect("stdout is a file")
}

pub fn end(running: &mut Running<'_>, signal: Signal) -> Ended {
    running.signal(signal);
    running.wait()
}

#[test]
fn what_to_set_is_printed_and_what_crossed_is_told_and_kept() {
    let (rig, redis) = (Rig::new(), Redis::start());
    let args = ["proxy", "--redis", &redis.url(), "--steps", "steps.jsonl"];
    let mut running = rig.start(rig.command(&args));
    let told = addresses(&rig, &mut running);
    let (line, comment) = told.trim_end().split_once("  # ").expect("one line with a comment");
    assert_eq!(comment, format!("in front of 127.0.0.1:{}", redis.port));
    let url = line.strip_prefix("REDIS_URL=").expect("the variable comes first");
    assert!(url.ends_with("/3") && !url.contains(&redis.port.to_string()), "{url}");
    let client = redis::Client::open(url).expect("it is a URL");
    let mut connection = client.get_connection().expect("the proxy listens");
    let set = redis::cmd("SET").arg("lock:stock:7").arg("token").arg("NX").exec(&mut connection);
    set.expect("it is done");
    drop(connection);
    let address: SocketAddr =
        url["redis://".len()..url.len() - "/3".len()].parse().expect("it is an address");

    let ended = end(&mut running, Signal::TERM);
    assert_eq!((ended.code, &ended.stdout), (Some(0), &told), "{}", ended.stderr);
    assert!(ended.told().contains("redis 1 connection, 1 step"), "{}", ended.stderr);
    TcpListener::bind(address).expect("the port is free again");
    let history = History::read(&rig.path().join("steps.jsonl")).expect("it is a whole journal");
    assert!(history.sealed);
    let names: Vec<_> = history.steps.iter().map(Step::name).collect();
    assert_eq!(names, ["redis SET lock:stock"]);
    assert_eq!((history.links.len(), history.wires[0].steps), (1, 1));
}

#[test]
fn one_line_of_json_tells_no_password() {
    let rig = Rig::new();
    let url = "postgres://it:secret@localhost:1/orders?sslmode=require&application_name=x";
    let args = ["proxy", "--postgres", url, "--http", "https://localhost:1/v1", "--format", "json"];
    let mut running = rig.start(rig.command(&args));
    let told = addresses(&rig, &mut running);
    assert!(!told.contains("secret") && told.lines().count() == 1, "{told}");
    let told: Value = serde_json::from_str(&told).expect("it is JSON");
    let listen = told["postgres"]["listen"].as_str().expect("it listens");
    assert_eq!(
        told["postgres"],
        serde_json::json!({
            "variable": "DATABASE_URL",
            "url": format!(
                "postgres://it:${{PASSWORD}}@{listen}/orders?application_name=x&sslmode=disable"
            ),
            "listen": listen,
            "upstream": "localhost:1",
            "tls": true,
        })
    );
    assert_eq!(told["http"]["variable"], "HTTP_URL");
    drop(TcpStream::connect(listen).expect("it listens"));
    running.until_said("start the server");
    let ended = end(&mut running, Signal::INT);
    assert_eq!(ended.code, Some(0));
    for part in ["localhost:1 could not be reached", "1 without a server"] {
        assert!(ended.told().contains(part), "no \"{part}\" in:\n{}", ended.stderr);
    }
}

#[test]
fn a_profile_says_where_its_proxies_listen() {
    let (rig, redis) = (Rig::new(), Redis::start());
    let (of_redis, of_postgres) = (free(), free());
    let profile = format!(
        r#"
        [target]
        urls = ["http://127.0.0.1:1"]
        [postgres]
        url = "postgres://it:${{ORDERS_PASSWORD}}@127.0.0.1:1/orders"
        proxy = "{of_postgres}"
        [redis]
        url = "{}"
        proxy = "{of_redis}"
        [[phase]]
        name = "double click"
        burst.same-key = {{ users = 2, threads = 2 }}
        "#,
        redis.url()
    );
    let mut command = rig.command(&["proxy", rig.profile(&profile)]);
    command.env("ORDERS_PASSWORD", "very-secret");
    let mut running = rig.start(command);
    let told = addresses(&rig, &mut running);
    let lines: Vec<_> = told.lines().filter_map(|line| line.split("  # ").next()).collect();
    assert_eq!(
        lines,
        [
            format!("REDIS_URL=redis://{of_redis}/3"),
            format!("DATABASE_URL=postgres://it:${{PASSWORD}}@{of_postgres}/orders"),
        ]
    );
    let client = redis::Client::open(format!("redis://{of_redis}")).expect("it is a URL");
    let mut connection = client.get_connection().expect("the proxy listens");
    redis::cmd("GET").arg("idem:1").exec(&mut connection).expect("it is done");
    drop(connection);
    let ended = end(&mut running, Signal::INT);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.told().contains("redis 1 connection, 1 step"), "{}", ended.stderr);

    let without = rig.profile("[[phase]]\nname = 'x'\nburst.same-key = { users = 2, threads = 2 }");
    let ended = rig.run(&["proxy", without]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.told().contains("asks for no proxy"), "{}", ended.stderr);
}

#[test]
fn mistakes_end_it_with_their_cure_before_anything_listens() {
    let rig = Rig::new();
    for (args, cure) in [
        (&["--redis", "127.0.0.1:6379"][..], "redis://127.0.0.1:6379"),
        (&["--postgres", "postgres://a,b/d"], "Name one"),
        (&["--redis", "redis://192.0.2.1"], "--allow-host 192.0.2.1"),
        (&["--redis", "redis://h.invalid"], "--allow-host h.invalid"),
        (&["--redis", "redis://127.0.0.1", "--listen-redis", "0.0.0.0:0"], "--beyond-loopback"),
        (&["--redis", "rediss://127.0.0.1", "--ca", "missing.pem"], "--ca FILE"),
        (&["--listen-http", "127.0.0.1:0"], "--http"),
        (&["drill.toml", "--redis", "redis://127.0.0.1"], "--help"),
        (&[], "--redis redis://127.0.0.1:6379"),
    ] {
        let ended = rig.run(&[&["proxy"], args].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{args:?} {}", ended.stderr);
        assert!(ended.told().contains(cure), "no \"{cure}\" in:\n{}", ended.stderr);
    }
    let allowed = ["proxy", "--redis", "redis://192.0.2.1", "--allow-host", "192.0.2.1"];
    let mut running = rig.start(rig.command(&allowed));
    addresses(&rig, &mut running);
    assert_eq!(end(&mut running, Signal::INT).code, Some(0));
}

#[test]
fn a_port_that_is_taken_and_a_file_that_is_there_are_the_environments() {
    let rig = Rig::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let listen = taken.local_addr().expect("it has an address").to_string();
    let upstream = ["proxy", "--redis", "redis://127.0.0.1"];
    let steps = ["--steps", "steps.jsonl"];
    let ended = rig.run(&[&upstream[..], &["--listen-redis", &listen], &steps].concat());
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(4), ""));
    for part in ["error[E11]", &format!("could not listen on {listen}"), "--listen-redis"] {
        assert!(ended.told().contains(part), "no \"{part}\" in:\n{}", ended.stderr);
    }
    assert!(!rig.path().join("steps.jsonl").exists(), "nothing was seen");
    fs::write(rig.path().join("steps.jsonl"), "mine").expect("the folder can be written");
    let ended = rig.run(&[&upstream[..], &steps].concat());
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(ended.told().contains("what is there is kept"), "{}", ended.stderr);
    let kept = fs::read_to_string(rig.path().join("steps.jsonl")).expect("it is there");
    assert_eq!(kept, "mine");
}
