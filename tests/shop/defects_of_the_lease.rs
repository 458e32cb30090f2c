//! What each defect of the lease does by itself, and what the correct shop does in its place.
//!
//! Every scenario is played twice, with the defect and without; it is held by a gate on the wire and
//! by the row of the shelf, so that both play the same one.

use crate::gate::{Gate, Stop};
use crate::rig::{PRODUCT, Rig, Shop};

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
