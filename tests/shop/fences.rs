//! The fence: granted with the lease, stored with the sale, monotonic whatever Redis forgets.

use serde_json::json;

use crate::gate::{Gate, Stop};
use crate::rig::Rig;

const FENCE: &str = "SELECT last_fence::text FROM product_stock WHERE product_id = 1001";

#[tokio::test(flavor = "multi_thread")]
async fn every_grant_has_a_higher_number_also_after_redis_was_emptied() {
    let (rig, shop) = Rig::with_shop("", 10).await;
    for key in ["k1", "k2", "k3"] {
        assert_eq!(shop.order("u1", key, 1).await.status, 201);
    }
    assert_eq!(rig.ask(FENCE).await, "3");
    let _: String = rig.redis_do("FLUSHALL");
    assert_eq!(shop.order("u1", "k4", 1).await.status, 201);
    assert_eq!(rig.ask(FENCE).await, "4");
    assert_eq!(rig.redis_do::<i64>("GET fence:stock:1001"), 4);
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_counter_that_fell_behind_is_raised_and_the_order_placed() {
    let (rig, shop) = Rig::with_shop("", 10).await;
    for key in ["k1", "k2", "k3"] {
        assert_eq!(shop.order("u1", key, 1).await.status, 201);
    }
    // A replica took over that had missed the last grants.
    let _: String = rig.redis_do("SET fence:stock:1001 1");
    assert_eq!(shop.order("u1", "k4", 1).await.status, 201);
    assert_eq!(rig.ask(FENCE).await, "4");
    assert!((shop.metric("shop_fence_refusals_total").await - 1.0).abs() < 0.1);
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_holder_is_refused_by_the_shelf_itself() {
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.postgres_url).await;
    let postgres = gate.url(&rig.lab.postgres_url);
    let slow = rig.shop_at(&postgres, &rig.lab.redis_url, "--pool-size 1").await;
    let quick = rig.shop("--instance 1").await;
    rig.lab.stock_products(&[(1_001, 10)]).await.unwrap();
    // The slow one stands right before its write, past every question that it can ask itself.
    gate.arm(Stop::Before("UPDATE product_stock".to_owned()));
    let late = slow.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    let _: i64 = rig.redis_do("DEL lock:stock:1001");
    assert_eq!(quick.order("u2", "k2", 1).await.status, 201);
    assert_eq!(rig.ask(FENCE).await, "2");
    gate.open();
    let late = late.await.unwrap();
    // It is granted again, by a higher number, and then it is in order.
    assert_eq!(late.status, 201, "{late:?}");
    assert!((slow.metric("shop_fence_refusals_total").await - 1.0).abs() < 0.1);
    assert_eq!(rig.ask(FENCE).await, "3");
    assert_eq!((rig.orders().await, rig.left().await), (2, 8));
    assert_eq!(late.body["status"], json!("CREATED"));
    slow.kill().await;
    quick.kill().await;
    rig.stop().await;
}
