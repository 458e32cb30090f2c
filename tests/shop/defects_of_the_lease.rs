//! What each defect of the lease does by itself, and what the correct shop does in its place.
//!
//! Every scenario is played twice, with the defect and without; it is held by a gate on the wire and
//! by the row of the shelf, so that both play the same one.

use serde_json::json;

use crate::gate::{Gate, Stop};
use crate::rig::{PRODUCT, Rig, Shop, until};

/// Nothing ends by itself while a scenario is held.
const PATIENT: &str = "--lease 60s --redis-timeout 20s";
const LOCK: &str = "lock:stock:1001";

/// A shop that reaches Redis by way of a gate.
async fn gated(flags: &str) -> (Rig, Gate, Shop) {
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.redis_url).await;
    let redis = gate.url(&rig.lab.redis_url);
    let shop = rig.shop_at(&rig.lab.postgres_url, &redis, &format!("{PATIENT} {flags}")).await;
    rig.lab.stock_products(&[(PRODUCT, 10)]).await.unwrap();
    (rig, gate, shop)
}

/// The unlock of a holder stops on its way; its lease ends meanwhile, and another one gets the
/// product. Then the unlock goes on as told. True if the other one still has its lease.
async fn another_keeps_its_lease(
    flags: &str,
    stop: fn(String) -> Stop,
    goes_on: fn(&Gate),
) -> bool {
    let (rig, gate, late) = gated(flags).await;
    let next = rig.shop(&format!("--instance 1 {PATIENT} {flags}")).await;
    let shelf = rig.hold_the_shelf().await;
    let ordering = late.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    gate.arm(stop(LOCK.to_owned()));
    shelf.release().await;
    gate.until_stopped().await;
    let _: i64 = rig.redis_do("DEL lock:stock:1001");
    let shelf = rig.hold_the_shelf().await;
    let other = next.ordering("u2", "k2", 1);
    rig.until_blocked(1).await;
    goes_on(&gate);
    assert_eq!(ordering.await.unwrap().status, 201);
    let is_kept = rig.redis_do("EXISTS lock:stock:1001");
    shelf.release().await;
    assert_eq!(other.await.unwrap().status, 201);
    late.kill().await;
    next.kill().await;
    rig.stop().await;
    is_kept
}

#[tokio::test(flavor = "multi_thread")]
async fn d02_a_late_unlock_removes_the_lock_of_another() {
    let is_kept = async |flags| another_keeps_its_lease(flags, Stop::Before, Gate::open).await;
    assert!(!is_kept("--defects unlock-plain-del").await);
    assert!(is_kept("").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn d03_a_lock_that_changed_hands_after_the_get_is_removed() {
    let is_kept = async |flags| another_keeps_its_lease(flags, Stop::After, Gate::open).await;
    assert!(!is_kept("--defects unlock-get-then-del").await);
    assert!(is_kept("").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn d06_a_late_unlock_finds_its_own_token_in_the_lock_of_another() {
    let is_kept = async |flags| another_keeps_its_lease(flags, Stop::Before, Gate::open).await;
    assert!(!is_kept("--defects constant-token").await);
    assert!(is_kept("").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn d16_the_retry_of_an_unlock_that_was_carried_out_removes_the_lock_of_another() {
    let is_kept = async |flags| another_keeps_its_lease(flags, Stop::After, Gate::cut).await;
    assert!(!is_kept("--defects unlock-retry-blind").await);
    assert!(is_kept("").await);
}

/// True if the lock is still there after an order whose unlock never arrived.
async fn a_lost_unlock_leaves_the_lock(flags: &str) -> bool {
    let (rig, gate, shop) = gated(flags).await;
    let shelf = rig.hold_the_shelf().await;
    let ordering = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    gate.arm(Stop::Before(LOCK.to_owned()));
    shelf.release().await;
    gate.until_stopped().await;
    gate.cut();
    assert_eq!(ordering.await.unwrap().status, 201);
    let lingers = rig.redis_do("EXISTS lock:stock:1001");
    shop.kill().await;
    rig.stop().await;
    lingers
}

#[tokio::test(flavor = "multi_thread")]
async fn d15_an_unlock_that_is_lost_leaves_the_product_locked() {
    assert!(a_lost_unlock_leaves_the_lock("--defects unlock-error-swallowed").await);
    assert!(!a_lost_unlock_leaves_the_lock("").await);
}

/// What is left of the life of a lock, in ms, whose holder was killed once Redis had carried out its
/// first command for it; -1 stands for ever.
async fn life_of_a_dead_holder_s_lock(flags: &str) -> i64 {
    let (rig, gate, shop) = gated(flags).await;
    // From now on Redis knows the counter, and the first command for the lock takes it.
    assert_eq!(shop.order("u0", "k0", 1).await.status, 201);
    gate.arm(Stop::After(LOCK.to_owned()));
    let ordering = shop.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    shop.kill().await;
    assert_eq!(ordering.await.unwrap().status, 0);
    let life_ms = rig.redis_do("PTTL lock:stock:1001");
    rig.stop().await;
    life_ms
}

#[tokio::test(flavor = "multi_thread")]
async fn d04_a_kill_between_setnx_and_pexpire_leaves_a_lock_for_ever() {
    assert_eq!(life_of_a_dead_holder_s_lock("--defects setnx-then-pexpire").await, -1);
    assert!((1..=60_000).contains(&life_of_a_dead_holder_s_lock("").await));
}

#[tokio::test(flavor = "multi_thread")]
async fn d05_a_lock_stays_for_ever_when_its_holder_is_killed() {
    assert_eq!(life_of_a_dead_holder_s_lock("--defects lock-without-ttl").await, -1);
    assert!((1..=60_000).contains(&life_of_a_dead_holder_s_lock("").await));
}

/// What is left of the life of another one's lease, in ms, after a holder that lost it to that one
/// has renewed.
async fn life_of_another_s_lease_after_a_renewal(flags: &str) -> i64 {
    let (rig, shop) = Rig::with_shop(&format!("--lease 300ms {flags}"), 10).await;
    let shelf = rig.hold_the_shelf().await;
    let ordering = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    let _: String = rig.redis_do("SET lock:stock:1001 another PX 60000");
    let renewed = async || shop.metric(r#"shop_renewals_total{result="Ok"}"#).await;
    let renewed_before = renewed().await;
    until(async || {
        let is_lost = shop.metric(r#"shop_renewals_total{result="Lost"}"#).await >= 1.0;
        // The second that counts was certainly sent after the lease changed hands.
        if is_lost || renewed().await >= renewed_before + 2.0 {
            return Ok(());
        }
        Err("neither lost nor renewed".to_owned())
    })
    .await;
    let life_ms = rig.redis_do("PTTL lock:stock:1001");
    shelf.release().await;
    ordering.await.unwrap();
    shop.kill().await;
    rig.stop().await;
    life_ms
}

#[tokio::test(flavor = "multi_thread")]
async fn d07_a_late_holder_gives_the_lease_of_another_its_own_term() {
    assert!(life_of_another_s_lease_after_a_renewal("--defects renew-without-token").await <= 300);
    assert!(life_of_another_s_lease_after_a_renewal("").await > 300);
}

/// An order that stands at the shelf until its lease is over, or was renewed past its first term.
/// True if it still has it, and what is answered once the shelf is free.
async fn work_past_the_first_term(flags: &str) -> (bool, u16) {
    let (rig, shop) = Rig::with_shop(&format!("--lease 1s {flags}"), 10).await;
    let shelf = rig.hold_the_shelf().await;
    let ordering = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    let is_held = until(async || {
        let renewals = shop.metric(r#"shop_renewals_total{result="Ok"}"#).await;
        match rig.redis_do::<bool>("EXISTS lock:stock:1001") {
            true if renewals < 4.0 => Err(format!("{renewals} renewals")),
            is_held => Ok(is_held),
        }
    })
    .await;
    shelf.release().await;
    let status = ordering.await.unwrap().status;
    shop.kill().await;
    rig.stop().await;
    (is_held, status)
}

#[tokio::test(flavor = "multi_thread")]
async fn d08_an_order_is_written_although_its_lease_was_over_in_mid_work() {
    let without_lease = work_past_the_first_term("--defects lease-shorter-than-work").await;
    assert_eq!(without_lease, (false, 201));
    assert_eq!(work_past_the_first_term("").await, (true, 201));
}

/// The answer to a holder whose lease is another's when it comes to write, and who was told so.
async fn answer_after_a_refused_renewal(flags: &str) -> u16 {
    let (rig, shop) = Rig::with_shop(&format!("--lease 2s {flags}"), 10).await;
    let shelf = rig.hold_the_shelf().await;
    let ordering = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    let _: String = rig.redis_do("SET lock:stock:1001 another PX 60000");
    until(async || match shop.metric(r#"shop_renewals_total{result="Lost"}"#).await {
        lost if lost >= 1.0 => Ok(()),
        _ => Err("nothing lost".to_owned()),
    })
    .await;
    shelf.release().await;
    let status = ordering.await.unwrap().status;
    assert_eq!(rig.redis_do::<String>("GET lock:stock:1001"), "another");
    assert_eq!(rig.orders().await, i64::from(status == 201));
    shop.kill().await;
    rig.stop().await;
    status
}

#[tokio::test(flavor = "multi_thread")]
async fn d09_a_holder_writes_on_after_its_renewal_was_refused() {
    assert_eq!(answer_after_a_refused_renewal("--defects renew-failure-ignored").await, 201);
    assert_eq!(answer_after_a_refused_renewal("").await, 202);
}

/// The answer to an order of one product while that of another is in mid work.
async fn answer_beside_another_product(flags: &str) -> u16 {
    let (rig, shop) = Rig::with_shop(&format!("--lock-wait 200ms {flags}"), 10).await;
    rig.lab.stock_products(&[(1_002, 10)]).await.unwrap();
    let shelf = rig.hold_the_shelf().await;
    let ordering = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    let other = shop.order_of("u2", "k2", json!({ "productId": 1_002, "quantity": 1 })).await;
    shelf.release().await;
    assert_eq!(ordering.await.unwrap().status, 201);
    shop.kill().await;
    rig.stop().await;
    other.status
}

#[tokio::test(flavor = "multi_thread")]
async fn d10_an_order_of_another_product_cannot_get_the_lock() {
    assert_eq!(answer_beside_another_product("--defects global-lock-key").await, 202);
    assert_eq!(answer_beside_another_product("").await, 201);
}

/// True if two users' orders of one product are both at its shelf at once.
async fn two_users_are_at_one_shelf(flags: &str) -> bool {
    let (rig, shop) = Rig::with_shop(&format!("--lock-wait 200ms {flags}"), 10).await;
    let shelf = rig.hold_the_shelf().await;
    let first = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    let second = shop.ordering("u2", "k2", 1);
    let are_both_there = until(async || {
        let blocked = rig.blocked().await;
        if blocked < 2 && !second.is_finished() {
            return Err(format!("{blocked} blocked"));
        }
        Ok(blocked == 2)
    })
    .await;
    shelf.release().await;
    assert_eq!(first.await.unwrap().status, 201);
    assert_eq!(second.await.unwrap().status, if are_both_there { 201 } else { 202 });
    shop.kill().await;
    rig.stop().await;
    are_both_there
}

#[tokio::test(flavor = "multi_thread")]
async fn d11_two_users_work_on_one_shelf_at_once() {
    assert!(two_users_are_at_one_shelf("--defects lock-on-user-not-stock").await);
    assert!(!two_users_are_at_one_shelf("").await);
}

/// Four times as many tries as fit into the longest wait.
const MANY_TRIES: u64 = 40;

/// True if an order goes on asking for a lock that somebody else has, well past its longest wait.
async fn asks_without_end(flags: &str) -> bool {
    let flags = format!("--lock-wait 100ms --lock-poll 20ms {flags}");
    let (rig, shop) = Rig::with_shop(&flags, 10).await;
    let _: String = rig.redis_do("SET lock:stock:1001 somebody PX 600000");
    let _: String = rig.redis_do("CONFIG RESETSTAT");
    let ordering = shop.ordering("u1", "k1", 1);
    let goes_on = until(async || {
        let tries = scripts_run(&rig);
        if tries < MANY_TRIES && !ordering.is_finished() {
            return Err(format!("{tries} tries"));
        }
        Ok(tries >= MANY_TRIES)
    })
    .await;
    let _: i64 = rig.redis_do("DEL lock:stock:1001");
    assert_eq!(ordering.await.unwrap().status, if goes_on { 201 } else { 202 });
    shop.kill().await;
    rig.stop().await;
    goes_on
}

/// How often a script was run since the counters of Redis were last set to zero.
fn scripts_run(rig: &Rig) -> u64 {
    let told: String = rig.redis_do("INFO commandstats");
    let calls = told.split_once("cmdstat_evalsha:calls=").map(|(_, calls)| calls);
    calls.and_then(|calls| calls.split_once(',')).map_or(0, |(calls, _)| calls.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn d12_a_lock_that_another_has_is_waited_for_without_end() {
    assert!(asks_without_end("--defects lock-wait-unbounded").await);
    assert!(!asks_without_end("").await);
}
