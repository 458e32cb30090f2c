//! Redis can't be reached: the database decides, or nobody does.

use dupeproof::guard::Signal;
use serde_json::json;

use crate::rig::Rig;

pub fn end_redis(rig: &Rig) {
    rig.lab.redis.open().unwrap().signal(Signal::Kill).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_arbitrates_and_a_crowd_is_still_one_order() {
    let (rig, shop) = Rig::with_shop("", 10).await;
    let first = shop.order("u1", "k1", 1).await;
    end_redis(&rig);
    let again = shop.order("u1", "k1", 1).await;
    assert_eq!((again.status, &again.body), (201, &first.body), "the order table knows");
    assert_eq!(shop.order("u1", "k1", 2).await.status, 409, "and its fingerprint too");
    let crowd: Vec<_> = (0..10).map(|_| shop.ordering("u2", "k2", 1)).collect();
    let mut ids = Vec::new();
    for reply in crowd {
        let reply = reply.await.unwrap();
        assert_eq!(reply.status, 201, "{reply:?}");
        ids.push(reply.body["orderId"].clone());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!((rig.orders().await, rig.left().await), (2, 8));
    assert!(shop.metric("shop_without_redis_total").await >= 12.0);
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_that_is_to_reject_says_so_and_leaves_nothing() {
    let (rig, shop) = Rig::with_shop("--redis-down reject", 10).await;
    end_redis(&rig);
    let refused = shop.order("u1", "k1", 1).await;
    assert_eq!((refused.status, &refused.body["code"]), (503, &json!("REDIS_UNREACHABLE")));
    assert!(refused.head.contains("retry-after: 1"), "{refused:?}");
    assert_eq!((rig.orders().await, rig.left().await), (0, 10));
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_whose_reply_was_lost_is_settled_before_the_answer() {
    use crate::gate::{Gate, Stop};
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.redis_url).await;
    let redis = gate.url(&rig.lab.redis_url);
    let shop = rig.shop_at(&rig.lab.postgres_url, &redis, "").await;
    rig.lab.stock_products(&[(1_001, 10)]).await.unwrap();
    gate.arm(Stop::After("idem:orders:u1:k1".to_owned()));
    let ordering = shop.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    gate.cut();
    assert_eq!(ordering.await.unwrap().status, 201);
    assert_eq!(rig.redis_do::<String>("HGET idem:orders:u1:k1 status"), "SUCCESS");
    assert_eq!(rig.orders().await, 1);
    shop.kill().await;
    rig.stop().await;
}
