//! What each defect of the fence does by itself, and what the correct shop does in its place.
//!
//! Every scenario is played twice, with the defect and without, and held by a gate on the wire. Told is
//! what a late writer was answered, how often its fence was refused, and what the shelf has then.

use tokio::task::JoinHandle;

use crate::gate::{Gate, Stop};
use crate::rig::{PRODUCT, Reply, Rig, Shop};

/// No lease ends by itself while a scenario is held.
const PATIENT: &str = "--lease 60s --redis-timeout 20s --pool-size 1";
const FENCE: &str = "SELECT last_fence::text FROM product_stock WHERE product_id = 1001";

#[derive(Debug, PartialEq, Eq)]
struct Late {
    status: u16,
    was_refused: bool,
    last_fence: i64,
}

impl Late {
    async fn of(rig: &Rig, shop: Shop, ordering: JoinHandle<Reply>) -> Self {
        let reply = ordering.await.unwrap();
        let was_refused = match reply.body["code"].as_str() {
            Some("SOLD_OUT") => true,
            _ => shop.metric("shop_fence_refusals_total").await > 0.5,
        };
        shop.kill().await;
        Self { status: reply.status, was_refused, last_fence: last_fence(rig).await }
    }
}

async fn last_fence(rig: &Rig) -> i64 {
    rig.ask(FENCE).await.parse().unwrap()
}

/// An order that stands right before its write, past every question that it can ask itself. Its fence
/// is 1.
async fn before_its_write(flags: &str) -> (Rig, Gate, Shop, JoinHandle<Reply>) {
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.postgres_url).await;
    let postgres = gate.url(&rig.lab.postgres_url);
    let shop = rig.shop_at(&postgres, &rig.lab.redis_url, &format!("{PATIENT} {flags}")).await;
    rig.lab.stock_products(&[(PRODUCT, 10)]).await.unwrap();
    gate.arm(Stop::Before("UPDATE product_stock".to_owned()));
    let ordering = shop.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    (rig, gate, shop, ordering)
}

/// A holder writes with fence 1 after the next one has written with 2.
async fn write_after_the_next_holder(flags: &str) -> Late {
    let (rig, gate, slow, ordering) = before_its_write(flags).await;
    let next = rig.shop(&format!("--instance 1 {PATIENT} {flags}")).await;
    let _: i64 = rig.redis_do("DEL lock:stock:1001");
    assert_eq!(next.order("u2", "k2", 1).await.status, 201);
    assert_eq!(last_fence(&rig).await, 2);
    gate.open();
    let late = Late::of(&rig, slow, ordering).await;
    assert!(rig.left().await >= 8, "there was stock enough for both");
    next.kill().await;
    rig.stop().await;
    late
}

#[tokio::test(flavor = "multi_thread")]
async fn d18_an_older_fence_is_written_over_a_newer_one() {
    let late = write_after_the_next_holder("--defects fence-not-checked").await;
    assert_eq!(late, Late { status: 201, was_refused: false, last_fence: 1 });
    let late = write_after_the_next_holder("").await;
    assert_eq!(late, Late { status: 201, was_refused: true, last_fence: 3 });
}

#[tokio::test(flavor = "multi_thread")]
async fn d22_a_late_holder_is_told_that_a_full_shelf_is_sold_out() {
    let late = write_after_the_next_holder("--defects fence-refusal-says-sold-out").await;
    assert_eq!(late, Late { status: 422, was_refused: true, last_fence: 2 });
    let late = write_after_the_next_holder("").await;
    assert_eq!(late, Late { status: 201, was_refused: true, last_fence: 3 });
}

/// A holder writes with fence 1, and that is what the shelf has by then.
async fn write_with_the_fence_that_is_stored(flags: &str) -> Late {
    let (rig, gate, shop, ordering) = before_its_write(flags).await;
    rig.run("UPDATE product_stock SET last_fence = 1 WHERE product_id = 1001").await;
    gate.open();
    let late = Late::of(&rig, shop, ordering).await;
    rig.stop().await;
    late
}

#[tokio::test(flavor = "multi_thread")]
async fn d21_the_fence_that_is_stored_is_accepted_once_more() {
    let late = write_with_the_fence_that_is_stored("--defects fence-not-strict").await;
    assert_eq!(late, Late { status: 201, was_refused: false, last_fence: 1 });
    let late = write_with_the_fence_that_is_stored("").await;
    assert_eq!(late, Late { status: 201, was_refused: true, last_fence: 2 });
}

/// A holder pauses once Redis has carried out its first command for the lock; its lease ends, and the
/// next one comes and goes. True if what it writes then is refused.
async fn a_holder_that_paused_at_its_grant_is_refused(flags: &str) -> bool {
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.redis_url).await;
    let redis = gate.url(&rig.lab.redis_url);
    let slow = rig.shop_at(&rig.lab.postgres_url, &redis, &format!("{PATIENT} {flags}")).await;
    let next = rig.shop(&format!("--instance 1 {PATIENT} {flags}")).await;
    rig.lab.stock_products(&[(PRODUCT, 10)]).await.unwrap();
    // From now on Redis knows the counter, and the first command for the lock takes it.
    assert_eq!(slow.order("u0", "k0", 1).await.status, 201);
    gate.arm(Stop::After("lock:stock:1001".to_owned()));
    let ordering = slow.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    let _: i64 = rig.redis_do("DEL lock:stock:1001");
    assert_eq!(next.order("u2", "k2", 1).await.status, 201);
    gate.open();
    let late = Late::of(&rig, slow, ordering).await;
    assert_eq!(late.status, 201);
    assert_eq!(rig.redis_do::<i64>("GET fence:stock:1001"), late.last_fence);
    next.kill().await;
    rig.stop().await;
    late.was_refused
}

#[tokio::test(flavor = "multi_thread")]
async fn d19_a_holder_that_paused_before_its_fence_comes_back_with_the_highest() {
    let flags = "--defects fence-not-atomic-with-lock";
    assert!(!a_holder_that_paused_at_its_grant_is_refused(flags).await);
    assert!(a_holder_that_paused_at_its_grant_is_refused("").await);
}

/// The answer to an order after Redis has lost its memory, the counter then, and what the shelf has.
async fn order_after_redis_was_emptied(flags: &str) -> (u16, i64, i64) {
    let (rig, shop) = Rig::with_shop(flags, 10).await;
    for key in ["k1", "k2", "k3"] {
        assert_eq!(shop.order("u1", key, 1).await.status, 201);
    }
    let _: String = rig.redis_do("FLUSHALL");
    let status = shop.order("u1", "k4", 1).await.status;
    let counter = rig.redis_do("GET fence:stock:1001");
    let stored = last_fence(&rig).await;
    shop.kill().await;
    rig.stop().await;
    (status, counter, stored)
}

#[tokio::test(flavor = "multi_thread")]
async fn d20_an_honest_order_is_refused_after_redis_was_emptied() {
    let (status, counter, stored) =
        order_after_redis_was_emptied("--defects fence-from-volatile-redis").await;
    assert_eq!((status, stored), (202, 3));
    assert!(counter < stored, "{counter}");
    assert_eq!(order_after_redis_was_emptied("").await, (201, 4, 4));
}
