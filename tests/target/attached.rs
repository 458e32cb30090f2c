//! A service that runs already, on a good day and on bad ones.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dupeproof::audit::Verdict;
use dupeproof::codes;
use dupeproof::drill::DrillError;
use dupeproof::profile::Secret;

use crate::rig::{Database, Rig, TABLES, attached, full, profile, python};

/// A threading HTTP server of Python's standard library; `{}` is what it does with a POST.
const SERVER: &str = r#"
import http.server, os, sys, threading, time
posts = 0
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer(200 if self.path == "/ready" else 503, b"{}")
    def do_POST(self):
        global posts
        posts += 1
        length = int(self.headers.get("Content-Length", 0))
        self.rfile.read(length)
        DOES
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512
    def handle_error(self, *args): pass
server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

/// A program for [`python`] and [`Running`].
pub fn server(does: &str) -> String {
    SERVER.replace("DOES", &does.replace('\n', "\n        "))
}

/// A server of somebody else's, as far as the drill is concerned.
pub struct Running {
    child: Child,
    port: u16,
}

impl Running {
    pub fn start(does: &str) -> Self {
        let mut child = Command::new("python3")
            .args(["-u", "-c", &server(does), "0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is needed: apt-get install python3");
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap() }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn nobody_there_is_told_and_changes_nothing() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let database = Database::start().await;
    let rig = Rig::new();
    let mut profile = profile(attached(&format!("http://{free}"), Some("/ready")));
    profile.postgres = database.as_profile();
    profile.setup.sql = vec!["CREATE TABLE touched ()".to_owned()];
    let error = rig.drill(profile).await.unwrap_err();
    assert_eq!(error.code().unwrap().id, codes::E06.id);
    let text = full(&error);
    assert!(text.contains(&format!("instance target-0 (http://{free})")), "{text}");
    assert!(text.to_lowercase().contains("refused"), "{text}");
    let touched = database.ask("SELECT (to_regclass('touched') IS NOT NULL)::text").await;
    assert_eq!(touched, "false");
    database.stop().await;
}

#[tokio::test]
async fn an_instance_that_is_not_ready_says_so_and_one_that_speaks_no_http_too() {
    let database = Database::start().await;
    let busy = Running::start("pass");
    let garbage = Garbage::start();
    for (url, says) in [
        (busy.url(), "GET /health says 503, not 2xx".to_owned()),
        (garbage.url(), "the reply is not HTTP/1.1".to_owned()),
    ] {
        let mut profile = profile(attached(&url, Some("/health")));
        profile.postgres = database.as_profile();
        let error = Rig::new().drill(profile).await.unwrap_err();
        assert_eq!(error.code().unwrap().id, "E06");
        assert!(full(&error).contains(&says), "{}", full(&error));
    }
    database.stop().await;
}

#[tokio::test]
async fn what_is_not_on_this_machine_is_refused_before_anything_is_sent() {
    let refusal = async |profile| match Rig::new().drill(profile).await {
        Err(DrillError::Refused { what, cure }) => format!("{what}\n{cure}"),
        other => panic!("{other:?}"),
    };
    let base = |url: &str| {
        let mut profile = profile(attached(url, None));
        let url = Secret::plain("postgres://me@127.0.0.1:1/shop");
        profile.postgres = Some(dupeproof::profile::Postgres { url, proxy: None });
        profile
    };
    let text = refusal(base("http://192.0.2.7:8080")).await;
    assert!(
        text.contains("`192.0.2.7` is 192.0.2.7, and `allow-hosts` does not list it"),
        "{text}"
    );
    assert!(text.contains("allow-hosts = [\"192.0.2.7\"]"), "{text}");
    let text = refusal(base("http://[2001:db8::1]/")).await;
    assert!(text.contains("2001:db8::1"), "{text}");

    let mut elsewhere = base("http://127.0.0.1:1");
    let url = Secret::new("postgres://me:hunter22@192.0.2.9/shop".into(), "${DB}".into());
    elsewhere.postgres = Some(dupeproof::profile::Postgres { url, proxy: None });
    let text = refusal(elsewhere).await;
    assert!(text.contains("the audited PostgreSQL is not on this machine"), "{text}");
    assert!(!text.contains("hunter22"));

    let text = refusal(base("http://me:hunter22@127.0.0.1:1")).await;
    assert!(text.contains("has a user or password in it") && text.contains("header"), "{text}");
    let mut without = base("http://127.0.0.1:1");
    without.postgres = None;
    assert!(refusal(without).await.contains("names no database"));
}

#[tokio::test]
async fn an_allowed_host_is_let_through_to_the_next_hurdle() {
    let mut profile = profile(attached("http://orders.invalid", None));
    profile.allow_hosts = vec!["Orders.invalid".to_owned()];
    let url = Secret::plain("postgres://me@127.0.0.1:1/shop");
    profile.postgres = Some(dupeproof::profile::Postgres { url, proxy: None });
    let error = Rig::new().drill(profile).await.unwrap_err();
    assert!(matches!(error, DrillError::NotReady { .. }), "{error:?}");
    assert!(full(&error).contains("cannot connect to orders.invalid:80"), "{}", full(&error));
}

#[tokio::test]
async fn replies_that_never_make_sense_are_inconclusive_and_end() {
    let database = Database::start().await;
    for (does, seen) in [
        (
            "self.wfile.write(b'no such thing as HTTP\\r\\n\\r\\n')\nself.close_connection = True",
            "not HTTP",
        ),
        (
            "self.send_response(201)\nself.send_header('Content-Length', '900')\nself.end_headers()\n\
             self.wfile.write(b'{\"orderId\":')\nself.close_connection = True",
            "closed after 11 of 900 bytes",
        ),
        (
            "self.send_response(201)\nself.end_headers()\n\
             [self.wfile.write(b'x' * 65536) for _ in range(10**6)]",
            "longer than",
        ),
        ("time.sleep(3600)", "no complete reply within"),
    ] {
        let mut running = Running::start(does);
        let rig = Rig::new();
        let mut profile = profile(attached(&running.url(), Some("/ready")));
        profile.client.timeout = Duration::from_millis(500);
        profile.limits.drain = Duration::from_secs(2);
        profile.postgres = database.as_profile();
        profile.setup.sql = vec![TABLES.to_owned()];
        profile.teardown.sql = vec!["DROP TABLE orders".to_owned()];
        let began = Instant::now();
        let outcome = rig.drill(profile).await.unwrap();
        assert_eq!(outcome.result.verdict, Verdict::Inconclusive, "{does}");
        assert_eq!(outcome.result.exit_code, 3);
        assert!(outcome.trouble.is_none(), "{:?}", outcome.trouble);
        let journal = rig.text("journal.jsonl");
        assert!(journal.contains(seen), "{does}: {journal}");
        assert!(began.elapsed() < Duration::from_secs(30), "{does}: {:?}", began.elapsed());
        assert!(running.is_running(), "what isn't ours is left alone");
        let left = database.ask("SELECT (to_regclass('orders') IS NOT NULL)::text").await;
        assert_eq!(left, "false", "the teardown ran");
    }
    database.stop().await;
}

#[tokio::test]
async fn a_service_that_dies_in_the_middle_is_inconclusive_and_torn_down() {
    let database = Database::start().await;
    let mut running = Running::start("if posts > 7: os._exit(1)\nself.answer(503, b'{}')");
    let rig = Rig::new();
    let mut profile = profile(attached(&running.url(), Some("/ready")));
    profile.postgres = database.as_profile();
    profile.setup.sql = vec![TABLES.to_owned()];
    profile.teardown.sql = vec!["DROP TABLE orders".to_owned()];
    let outcome = rig.drill(profile).await.unwrap();
    assert_eq!((outcome.result.verdict, outcome.result.exit_code), (Verdict::Inconclusive, 3));
    assert_eq!(outcome.result.bursts[0].release, "loop", "what isn't ours is never paused");
    assert!(!running.is_running());
    assert_eq!(database.ask("SELECT (to_regclass('orders') IS NULL)::text").await, "true");
    database.stop().await;
}

#[tokio::test]
async fn an_order_that_nobody_wrote_is_missed_behind_a_url_too() {
    let database = Database::start().await;
    let running = Running::start("self.answer(201, b'{\"orderId\": 1}')");
    let rig = Rig::new();
    let mut profile = profile(attached(&running.url(), Some("/ready")));
    profile.postgres = database.as_profile();
    profile.setup.sql = vec![TABLES.to_owned()];
    let outcome = rig.drill(profile).await.unwrap();
    assert_eq!(outcome.result.verdict, Verdict::Violated);
    let found: Vec<&str> =
        outcome.result.findings.iter().map(|found| found.code.as_str()).collect();
    assert!(found.contains(&"I05"), "{found:?}");
    database.stop().await;
}

#[tokio::test]
async fn ctrl_c_before_the_first_request_is_heard_at_once() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let rig = Rig::new();
    let mut launched = python(&server("pass"));
    launched.ready = Some("/never".to_owned());
    launched.ready_within = Duration::from_secs(600);
    for target in
        [attached(&format!("http://{free}"), None), dupeproof::profile::Target::Launched(launched)]
    {
        let mut profile = profile(target);
        let url = Secret::plain("postgres://me@127.0.0.1:1/shop");
        if matches!(profile.target, dupeproof::profile::Target::Attached(_)) {
            profile.postgres = Some(dupeproof::profile::Postgres { url, proxy: None });
        }
        let stop = rig.stop.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            stop.cancel();
        });
        let error = rig.drill(profile).await.unwrap_err();
        assert!(matches!(error, DrillError::Interrupted), "{error:?}");
        assert!(error.code().is_none());
    }
}

/// Answers every connection with what is no HTTP.
struct Garbage {
    address: SocketAddr,
}

impl Garbage {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = TcpStream::set_read_timeout(&stream, Some(Duration::from_secs(1)));
                let _ = stream.read(&mut [0; 512]);
                let _ = stream.write_all(b"220 mail.example ESMTP\r\n");
            }
        });
        Self { address }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}
