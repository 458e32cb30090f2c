//! The provider alone: one id, one charge, whatever happens to replies and to the provider.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::http::{Reply, get, post};
use crate::rig::lines;
use crate::waiting::until;

const EXE: &str = env!("CARGO_BIN_EXE_dupeproof");

struct Provider {
    child: Child,
    charges: SocketAddr,
    control: SocketAddr,
    log: PathBuf,
}

impl Provider {
    fn start(folder: &Path, flags: &[&str]) -> Self {
        let log = folder.join("payments.jsonl");
        let mut child = Command::new(EXE)
            .args(["payments", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"])
            .arg("--log")
            .arg(&log)
            .args(flags)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut greeting = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut greeting).unwrap();
        let greeting: Value = serde_json::from_str(&greeting).unwrap();
        let address = |name: &str| greeting[name].as_str().unwrap().parse().unwrap();
        Self { child, charges: address("listening"), control: address("control"), log }
    }

    fn charge(&self, id: &str, amount: i64) -> Reply {
        let body = json!({
            "paymentRequestId": id, "orderId": "17", "userId": "u1", "amount": amount
        });
        post(self.charges, "/charges", "", &body)
    }

    fn refund(&self, id: &str, charge: &str, amount: i64) -> Reply {
        let body = json!({ "refundRequestId": id, "paymentRequestId": charge, "amount": amount });
        post(self.charges, "/refunds", "", &body)
    }

    fn state(&self, id: &str) -> Reply {
        get(self.charges, &format!("/charges/{id}"))
    }

    fn order(&self, order: &Value) {
        assert_eq!(post(self.control, "/next", "", order).status, 200);
    }

    fn logged(&self, event: &str) -> usize {
        lines(&self.log).iter().filter(|line| line["event"] == event).count()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_same_id_is_the_same_charge_and_other_content_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(folder.path(), &[]);
    let first = provider.charge("17:pay", 500);
    assert_eq!((first.status, &first.body["state"]), (201, &json!("SUCCEEDED")));
    let again = provider.charge("17:pay", 500);
    assert_eq!((again.status, again.body), (201, first.body));
    let other = provider.charge("17:pay", 501);
    assert_eq!((other.status, &other.body["code"]), (409, &json!("OTHER_CONTENT")));
    assert_eq!((provider.logged("charge"), provider.logged("charge-request")), (1, 3));
    assert_eq!(provider.state("18:pay").status, 404);
    assert_eq!(post(provider.charges, "/charges", "", &json!({ "amount": 5 })).status, 400);
}

#[test]
fn what_a_lost_reply_was_about_is_known_by_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(folder.path(), &[]);
    for (id, mood, status, state) in [
        ("1:pay", "fail", 500, 404),
        ("2:pay", "fail-after", 500, 200),
        ("3:pay", "drop-after", 0, 200),
    ] {
        provider.order(&json!({ "count": 1, "do": mood }));
        assert_eq!(provider.charge(id, 500).status, status, "{id}");
        assert_eq!(provider.state(id).status, state, "{id}");
        assert_eq!(provider.charge(id, 500).status, 201, "{id}");
    }
    assert_eq!(provider.logged("charge"), 3);
    let totals = get(provider.control, "/").body;
    assert_eq!((&totals["chargeRequests"], &totals["charges"]), (&json!(6), &json!(3)));
}

#[test]
fn a_decline_is_as_final_as_a_charge() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(folder.path(), &[]);
    provider.order(&json!({ "count": 1, "do": "decline" }));
    for _ in 0..2 {
        assert_eq!(provider.charge("17:pay", 500).status, 402);
        assert_eq!(provider.state("17:pay").body["state"], "DECLINED");
    }
    assert_eq!((provider.logged("charge"), provider.logged("decline")), (0, 1));
    assert_eq!(provider.refund("r1", "17:pay", 500).status, 404);
}

#[test]
fn a_refund_is_made_once_and_never_exceeds_its_charge() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(folder.path(), &[]);
    assert_eq!(provider.refund("r1", "17:pay", 300).status, 404);
    assert_eq!(provider.charge("17:pay", 500).status, 201);
    assert_eq!(provider.refund("r1", "17:pay", 300).status, 201);
    assert_eq!(provider.refund("r1", "17:pay", 300).status, 201);
    assert_eq!(provider.refund("r1", "17:pay", 200).status, 409);
    assert_eq!(provider.refund("r2", "17:pay", 201).status, 422);
    assert_eq!(provider.refund("r2", "17:pay", 200).status, 201);
    assert_eq!(
        (provider.logged("refund"), &provider.state("17:pay").body["refunded"]),
        (2, &json!(500))
    );
}

#[test]
fn a_killed_provider_remembers_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let mut provider = Provider::start(folder.path(), &[]);
    provider.order(&json!({ "count": 1, "do": "drop-after" }));
    assert_eq!(provider.charge("17:pay", 500).status, 0);
    provider.child.kill().unwrap();
    provider.child.wait().unwrap();

    let provider = Provider::start(folder.path(), &[]);
    assert_eq!(provider.state("17:pay").body["state"], "SUCCEEDED");
    assert_eq!(provider.charge("17:pay", 500).status, 201);
    assert_eq!(provider.charge("17:pay", 501).status, 409);
    assert_eq!(provider.logged("charge"), 1);
}

#[test]
fn what_is_under_way_at_sigterm_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut provider = Provider::start(folder.path(), &["--delay", "300ms"]);
    let process = Pid::from_child(&provider.child);
    let (reply, took) = std::thread::scope(|scope| {
        let charging = scope.spawn(|| {
            let began = Instant::now();
            (provider.charge("17:pay", 500), began.elapsed())
        });
        until(Duration::from_secs(10), || match provider.logged("charge-request") {
            0 => Err("no request yet".to_owned()),
            _ => Ok(()),
        });
        kill_process(process, Signal::TERM).unwrap();
        charging.join().unwrap()
    });
    assert_eq!(reply.status, 201);
    assert!(took >= Duration::from_millis(300), "{took:?}");
    assert!(provider.child.wait().unwrap().success());
}

#[test]
fn habits_are_shares_that_follow_from_the_seed() {
    let statuses = |flags: &[&str]| -> Vec<u16> {
        let folder = tempfile::tempdir().unwrap();
        let provider = Provider::start(folder.path(), flags);
        (0..40).map(|number| provider.charge(&format!("{number}:pay"), 500).status).collect()
    };
    let flags = ["--drop-share", "0.3", "--decline-share", "0.2", "--seed", "42"];
    let once = statuses(&flags);
    assert_eq!(once, statuses(&flags));
    for status in [0, 201, 402] {
        assert!(once.contains(&status), "no {status} in {once:?}");
    }
}

#[test]
fn it_listens_on_loopback_only() {
    let told = Command::new(EXE).args(["payments", "--listen", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(told.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&told.stderr).contains("isn't on loopback"));
}
