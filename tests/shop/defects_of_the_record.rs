//! Defects of the idempotency record: what an attempt leaves behind when it ends otherwise than it
//! should, and what the next one makes of it.
//!
//! Each scene is played twice, with the defect and without it; the partners stay.

use std::time::Duration;

use crate::gate::{Gate, Stop};
use crate::rig::{Reply, Rig, Shop, flags, sha, until};

const RECORD: &str = "idem:orders:u1:k1";
/// A record is overdue soon, and its owner's lock gone before that.
const QUICK: &str = "--lease 200ms --processing-lease 300ms";

fn succeed() -> String {
    sha(include_str!("../../src/shop/lua/succeed.lua"))
}

fn now_ms(rig: &Rig) -> i64 {
    let (seconds, micros): (i64, i64) = rig.redis_do("TIME");
    seconds * 1_000 + micros / 1_000
}

/// Waits until the record was claimed so long ago, by the clock of Redis.
async fn until_claimed_before(rig: &Rig, age: Duration) {
    let started: i64 = rig.redis_do(&format!("HGET {RECORD} started_at_ms"));
    let until_ms = started + i64::try_from(age.as_millis()).unwrap();
    until(async || match until_ms - now_ms(rig) {
        left @ 1.. => Err(format!("{left} ms left")),
        _ => Ok(()),
    })
    .await;
}

/// Lets an instance die with its claim made and nothing else done, and starts another.
async fn die_after_the_claim(rig: &Rig, shop: Shop, flags: &str) -> Shop {
    let shelf = rig.hold_the_shelf().await;
    let ordering = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    shop.kill().await;
    assert_eq!(ordering.await.unwrap().status, 0);
    shelf.release().await;
    rig.shop(flags).await
}

/// The same between COMMIT and SUCCESS.
async fn die_after_commit(rig: &Rig, flags: &str) -> Shop {
    let gate = Gate::before(&rig.lab.redis_url).await;
    let redis = gate.url(&rig.lab.redis_url);
    let shop = rig.shop_at(&rig.lab.postgres_url, &redis, flags).await;
    rig.lab.stock_products(&[(1_001, 10)]).await.unwrap();
    gate.arm(Stop::Before(succeed()));
    let ordering = shop.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    shop.kill().await;
    assert_eq!(ordering.await.unwrap().status, 0);
    assert_eq!(rig.orders().await, 1);
    rig.shop(flags).await
}

/// Orders after a COMMIT whose reply was lost, and the retry's answer.
async fn lost_commit_reply(defects: &[&str]) -> (i64, Reply) {
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.postgres_url).await;
    let postgres = gate.url(&rig.lab.postgres_url);
    let shop = rig.shop_at(&postgres, &rig.lab.redis_url, &flags(QUICK, defects)).await;
    rig.lab.stock_products(&[(1_001, 10)]).await.unwrap();
    gate.arm(Stop::After("COMMIT\0".to_owned()));
    let ordering = shop.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    gate.cut();
    assert_eq!(ordering.await.unwrap().status, 500);
    let again = shop.order_until_definite("u1", "k1", 1).await;
    let orders = rig.orders().await;
    shop.kill().await;
    rig.stop().await;
    (orders, again)
}

#[tokio::test(flavor = "multi_thread")]
async fn d47_a_lost_reply_to_commit_deletes_the_record_and_the_retry_is_a_second_order() {
    let (orders, again) = lost_commit_reply(&["no-unique-constraint"]).await;
    assert_eq!((orders, again.status), (1, 201));
    let broken = ["delete-record-on-exception", "no-unique-constraint"];
    let (orders, again) = lost_commit_reply(&broken).await;
    assert_eq!((orders, again.status), (2, 201));
}

/// What a retry is told once the dead owner's processing lease is over.
async fn retry_after_a_death(defects: &[&str]) -> Reply {
    let flags = flags(QUICK, defects);
    let (rig, shop) = Rig::with_shop(&flags, 10).await;
    let shop = die_after_the_claim(&rig, shop, &flags).await;
    until_claimed_before(&rig, Duration::from_millis(301)).await;
    let reply = shop.order("u1", "k1", 1).await;
    let owners: i64 = rig.redis_do(&format!("HGET {RECORD} attempts"));
    assert_eq!(owners, if reply.status == 201 { 2 } else { 1 }, "{reply:?}");
    shop.kill().await;
    rig.stop().await;
    reply
}

#[tokio::test(flavor = "multi_thread")]
async fn d48_a_dead_owner_s_record_is_in_progress_although_it_is_overdue() {
    assert_eq!(retry_after_a_death(&[]).await.status, 201);
    let reply = retry_after_a_death(&["in-progress-never-expires"]).await;
    assert_eq!((reply.status, reply.body["code"].as_str()), (202, Some("IN_PROGRESS")));
}

#[tokio::test(flavor = "multi_thread")]
async fn d49_a_dead_owner_is_let_alone_for_as_long_as_its_record_lives() {
    let reply = retry_after_a_death(&["in-progress-lives-as-long-as-the-record"]).await;
    assert_eq!((reply.status, reply.body["code"].as_str()), (202, Some("IN_PROGRESS")));

    let lease_ms = async |defects: &[&str]| {
        let flags = flags("--record-ttl 1h", defects);
        let (rig, shop) = Rig::with_shop(&flags, 10).await;
        let shop = die_after_the_claim(&rig, shop, &flags).await;
        let from: i64 = rig.redis_do(&format!("HGET {RECORD} started_at_ms"));
        let until: i64 = rig.redis_do(&format!("HGET {RECORD} processing_until_ms"));
        shop.kill().await;
        rig.stop().await;
        until - from
    };
    assert_eq!(lease_ms(&[]).await, 12_000);
    assert_eq!(lease_ms(&["in-progress-lives-as-long-as-the-record"]).await, 3_600_000);
}

/// Orders, and the answer to a retry after a death between COMMIT and SUCCESS.
async fn retry_after_commit(defects: &[&str]) -> (i64, Reply, String) {
    let rig = Rig::start().await;
    let shop = die_after_commit(&rig, &flags(QUICK, defects)).await;
    until_claimed_before(&rig, Duration::from_millis(301)).await;
    let reply = shop.order("u1", "k1", 1).await;
    let (orders, status) = (rig.orders().await, rig.redis_do(&format!("HGET {RECORD} status")));
    shop.kill().await;
    rig.stop().await;
    (orders, reply, status)
}

#[tokio::test(flavor = "multi_thread")]
async fn d50_an_overdue_record_whose_order_exists_becomes_a_second_order() {
    let (orders, reply, _) = retry_after_commit(&["no-unique-constraint"]).await;
    assert_eq!((orders, reply.status), (1, 201));
    let (orders, reply, _) = retry_after_commit(&["blind-takeover", "no-unique-constraint"]).await;
    assert_eq!((orders, reply.status), (2, 201));
    let (orders, reply, _) = retry_after_commit(&["blind-takeover"]).await;
    assert_eq!((orders, reply.status), (1, 201), "the unique index had the last word");
}

/// How many owners an overdue record had, when a second duplicate took it between the first one's
/// look and its takeover.
async fn two_take_over(word: &str, defects: &[&str]) -> (i64, Reply) {
    let flags = flags(QUICK, defects);
    let (rig, shop) = Rig::with_shop(&flags, 10).await;
    let quick = die_after_the_claim(&rig, shop, &flags).await;
    until_claimed_before(&rig, Duration::from_millis(301)).await;
    let gate = Gate::before(&rig.lab.redis_url).await;
    let redis = gate.url(&rig.lab.redis_url);
    let slow = rig.shop_at(&rig.lab.postgres_url, &redis, &flags).await;
    gate.arm(Stop::Before(word.to_owned()));
    let late = slow.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    let shelf = rig.hold_the_shelf().await;
    let first = quick.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    gate.open();
    let owners = until(async || {
        let owners: i64 = rig.redis_do(&format!("HGET {RECORD} attempts"));
        if owners == 3 || late.is_finished() { Ok(owners) } else { Err(format!("{owners}")) }
    })
    .await;
    shelf.release().await;
    assert_eq!(first.await.unwrap().status, 201);
    let late = late.await.unwrap();
    quick.kill().await;
    slow.kill().await;
    rig.stop().await;
    (owners, late)
}

#[tokio::test(flavor = "multi_thread")]
async fn d50_a_record_that_changed_hands_meanwhile_is_taken_over_once_more() {
    let comparing = sha(include_str!("../../src/shop/lua/take_over.lua"));
    let (owners, late) = two_take_over(&comparing, &[]).await;
    assert_eq!((owners, late.status), (2, 202), "it was too late, and noticed");
    let (owners, late) = two_take_over("HINCRBY", &["blind-takeover"]).await;
    assert_eq!((owners, late.status), (3, 201));
}

#[tokio::test(flavor = "multi_thread")]
async fn d51_an_order_that_exists_is_answered_in_progress_and_its_record_stays_so() {
    let (orders, reply, status) = retry_after_commit(&[]).await;
    assert_eq!((orders, reply.status, status.as_str()), (1, 201, "SUCCESS"));
    let (orders, reply, status) = retry_after_commit(&["no-repair-after-commit"]).await;
    assert_eq!((orders, reply.status, status.as_str()), (1, 202, "IN_PROGRESS"));
}

/// Answers to an attempt whose connection broke before anything was written, and to its retry.
async fn broken_connection(defects: &[&str]) -> (Reply, Reply) {
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.postgres_url).await;
    let postgres = gate.url(&rig.lab.postgres_url);
    let shop = rig.shop_at(&postgres, &rig.lab.redis_url, &flags("", defects)).await;
    rig.lab.stock_products(&[(1_001, 10)]).await.unwrap();
    gate.arm(Stop::Before("UPDATE product_stock".to_owned()));
    let ordering = shop.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    gate.cut();
    let failed = ordering.await.unwrap();
    let again = shop.order("u1", "k1", 1).await;
    shop.kill().await;
    rig.stop().await;
    (failed, again)
}

#[tokio::test(flavor = "multi_thread")]
async fn d55_a_failure_is_replayed_although_its_cause_is_gone() {
    let (failed, again) = broken_connection(&[]).await;
    assert_eq!((failed.status, again.status), (503, 201));
    let (failed, again) = broken_connection(&["stores-5xx-as-final"]).await;
    assert_eq!((failed.status, again.status), (503, 503));
    assert_eq!(again.body, failed.body);
}

/// The answer to a duplicate while the first attempt is at work; `None` if it was still waiting
/// when it had asked the record 50 times.
async fn duplicate_while_at_work(defects: &[&str]) -> Option<Reply> {
    let (rig, shop) = Rig::with_shop(&flags("", defects), 10).await;
    let shelf = rig.hold_the_shelf().await;
    let first = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    let scripts_run = || -> u64 {
        let stats: String = rig.redis_do("INFO commandstats");
        let (_, line) = stats.split_once("cmdstat_evalsha:calls=").unwrap();
        line.split(',').next().unwrap().parse().unwrap()
    };
    let before = scripts_run();
    let duplicate = shop.ordering("u1", "k1", 1);
    let is_waiting = until(async || match scripts_run() - before {
        _ if duplicate.is_finished() => Ok(false),
        asked @ ..50 => Err(format!("asked {asked} times")),
        _ => Ok(true),
    })
    .await;
    shelf.release().await;
    let first = first.await.unwrap();
    let duplicate = duplicate.await.unwrap();
    assert!(!is_waiting || duplicate.body == first.body, "{duplicate:?}");
    shop.kill().await;
    rig.stop().await;
    (!is_waiting).then_some(duplicate)
}

#[tokio::test(flavor = "multi_thread")]
async fn d56_a_duplicate_is_not_answered_before_the_first_is_done() {
    let reply = duplicate_while_at_work(&[]).await.expect("an answer at once");
    assert_eq!((reply.status, reply.body["code"].as_str()), (202, Some("IN_PROGRESS")));
    assert_eq!(duplicate_while_at_work(&["waits-for-first"]).await, None);
}

/// Orders, and the answer to a duplicate that comes when the first has been at work for longer
/// than its lease.
async fn duplicate_of_long_work(defects: &[&str]) -> (i64, Reply) {
    let flags = flags("--lease 300ms --processing-lease 60s --lock-wait 20s", defects);
    let (rig, shop) = Rig::with_shop(&flags, 10).await;
    let gate = Gate::before(&rig.lab.redis_url).await;
    let redis = gate.url(&rig.lab.redis_url);
    let other = rig.shop_at(&rig.lab.postgres_url, &redis, &flags).await;
    let shelf = rig.hold_the_shelf().await;
    let first = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    let claimed = now_ms(&rig);
    until(async || match now_ms(&rig) - claimed {
        301.. => Ok(()),
        passed => Err(format!("{passed} ms")),
    })
    .await;
    gate.arm(Stop::Before("lock:stock:1001".to_owned()));
    let mut duplicate = other.ordering("u1", "k1", 1);
    let early = tokio::select! {
        reply = &mut duplicate => Some(reply.unwrap()),
        () = gate.until_stopped() => None,
    };
    shelf.release().await;
    assert_eq!(first.await.unwrap().status, 201);
    gate.open();
    let duplicate = match early {
        Some(reply) => reply,
        None => duplicate.await.unwrap(),
    };
    let orders = rig.orders().await;
    shop.kill().await;
    other.kill().await;
    rig.stop().await;
    (orders, duplicate)
}

#[tokio::test(flavor = "multi_thread")]
async fn d61_a_claim_that_ends_before_its_work_lets_a_second_order_in() {
    let (orders, duplicate) = duplicate_of_long_work(&["no-unique-constraint"]).await;
    assert_eq!((orders, duplicate.status), (1, 202));
    let broken = ["record-expires-before-commit", "no-unique-constraint"];
    let (orders, duplicate) = duplicate_of_long_work(&broken).await;
    assert_eq!((orders, duplicate.status), (2, 201));
}

/// Statuses of one request at an instance with an even number, then at one with an odd one.
async fn at_two_releases(defects: &[&str]) -> (u16, u16) {
    let (rig, even) = Rig::with_shop(&flags("--instance 0", defects), 10).await;
    let odd = rig.shop(&flags("--instance 1", defects)).await;
    let first = even.order("u1", "k1", 1).await.status;
    let again = odd.order("u1", "k1", 1).await.status;
    assert_eq!(rig.orders().await, 1);
    even.kill().await;
    odd.kill().await;
    rig.stop().await;
    (first, again)
}

#[tokio::test(flavor = "multi_thread")]
async fn d75_a_retry_at_another_release_is_a_mismatch() {
    assert_eq!(at_two_releases(&[]).await, (201, 201));
    let broken = ["fingerprint-rules-differ-between-instances"];
    assert_eq!(at_two_releases(&broken).await, (201, 409));
}
