//! Rules at executions that come apart from what leads to them, message by message.

use dupeproof::history::{FiringEnd, Proof, StepPoint, Wire};
use dupeproof::profile::{Failure, Loss};
use dupeproof::wire::{Notice, WireAct};

use crate::armed::{HOLD, Notices, rule};
use crate::ends::{End, exactly, rest, send};
use crate::postgres_messages::{
    about, bind, execute, message, parse, ready, startup, sync, trouble,
};
use crate::rule_redis::brings_nothing;
use crate::watched::{Watched, exchange};

type Link = (std::net::TcpStream, std::net::TcpStream);

const BEFORE: StepPoint = StepPoint::Before;
const INSERT: &str = "INSERT INTO orders VALUES ($1)";

async fn connected(act: WireAct) -> (Watched, Link, Notices, dupeproof::wire::Armed) {
    let mut watched = Watched::set(Wire::Postgres).await;
    let link = watched.link();
    exchange(&link, &startup(), &[message(b'R', &[&[0; 4]]), ready(b'I')].concat());
    let rules = vec![rule(BEFORE, Wire::Postgres, "INSERT", act)];
    let (notices, armed) = Notices::of(&mut watched, rules).await;
    (watched, link, notices, armed)
}

/// As asyncpg does: it asks what a statement is, and waits for that.
fn prepare(link: &Link) {
    let asked = [parse("s1", INSERT, &[]), about(b'D', b'S', "s1"), message(b'H', &[])].concat();
    let told = [message(b'1', &[]), message(b't', &[&[0; 2]]), message(b'n', &[])].concat();
    exchange(link, &asked, &told);
}

fn insert(value: &[u8]) -> [Vec<u8>; 3] {
    [bind("", "s1", &[], &[Some(value)]), execute(""), sync()]
}

async fn release(watched: &mut Watched, notice: &Notice) {
    let how = FiringEnd::OthersAnswered;
    watched.proxies().release(notice.hold.unwrap(), how).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_execution_is_held_whose_statement_was_prepared_before_it() {
    let (mut watched, link, mut notices, _armed) = connected(HOLD).await;
    prepare(&link);
    let unit = insert(b"1").concat();
    send(&link.0, &unit);
    let (notice, _) = notices.fired().await;
    assert!(brings_nothing(&link.1));
    release(&mut watched, &notice).await;
    assert_eq!(exactly(&link.1, unit.len()), unit);
    assert_eq!(notices.effect().await, Proof::ServerNotAsked);
    watched.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_execution_is_held_whose_parameters_are_too_large_to_wait() {
    let (mut watched, link, mut notices, _armed) = connected(HOLD).await;
    prepare(&link);
    let [bound, executed, synced] = insert(&[b'x'; 300_000]);
    let unit = [bound.clone(), executed.clone(), synced.clone()].concat();
    let client = link.0.try_clone().unwrap();
    let sending = std::thread::spawn(move || send(&client, &unit));
    assert!(exactly(&link.1, bound.len()) == bound);
    let (notice, _) = notices.fired().await;
    assert!(brings_nothing(&link.1));
    release(&mut watched, &notice).await;
    let behind = [executed, synced].concat();
    assert_eq!(exactly(&link.1, behind.len()), behind);
    sending.join().unwrap();
    watched.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_execution_fails_or_is_lost_whose_statement_was_prepared_before_it() {
    let (sqlstate, text) = ("40001".to_owned(), "injected".to_owned());
    let act = WireAct::Fail(Failure::Postgres { sqlstate, message: text });
    let (watched, link, mut notices, _armed) = connected(act).await;
    prepare(&link);
    let [bound, executed, synced] = insert(b"1");
    send(&link.0, &[bound.clone(), executed, synced.clone()].concat());
    assert_eq!(exactly(&link.1, bound.len()), bound);
    let poison = parse("dupeproof_injected", "dupeproof injected", &[]);
    assert_eq!(exactly(&link.1, poison.len()), poison);
    assert_eq!(exactly(&link.1, synced.len()), synced);
    let answer = trouble(b'E', "42601", "syntax error at or near \"dupeproof\"");
    send(&link.1, &[message(b'2', &[]), answer, ready(b'I')].concat());
    let told = [message(b'2', &[]), trouble(b'E', "40001", "injected"), ready(b'I')].concat();
    assert_eq!(exactly(&link.0, told.len()), told);
    notices.fired().await;
    assert_eq!(notices.effect().await, Proof::ErrorDelivered { error: "40001".to_owned() });
    watched.end().await;

    let (watched, link, mut notices, _armed) = connected(WireAct::DropRequest(Loss::Reset)).await;
    prepare(&link);
    send(&link.0, &insert(b"1").concat());
    notices.fired().await;
    assert_eq!(notices.effect().await, Proof::ServerNotAsked);
    assert_eq!((rest(&link.0), rest(&link.1)), ((vec![], End::Reset), (vec![], End::Reset)));
    watched.end().await;
}
