//! A record that outlives its owner: repaired, taken over, or left to a person.

use serde_json::json;

use crate::rig::{Rig, Shop};

const QUICK: &str = "--lease 200ms --processing-lease 300ms --owners-at-most 2";

/// Lets an instance die in the middle of the order of u1 and k1, and starts another.
async fn die(rig: &Rig, shop: Shop) -> Shop {
    let shelf = rig.hold_the_shelf().await;
    let ordering = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    shop.kill().await;
    assert_eq!(ordering.await.unwrap().status, 0);
    shelf.release().await;
    rig.shop(QUICK).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_owner_s_claim_changes_hands_once_its_processing_lease_is_over() {
    let (rig, shop) = Rig::with_shop(QUICK, 10).await;
    let shop = die(&rig, shop).await;
    let owners: i64 = rig.redis_do("HGET idem:orders:u1:k1 attempts");
    assert_eq!(owners, 1);
    let placed = shop.order_until_definite("u1", "k1", 1).await;
    assert_eq!(placed.status, 201, "{placed:?}");
    assert!((shop.metric("shop_takeovers_total").await - 1.0).abs() < 0.1);
    assert_eq!((rig.orders().await, rig.left().await), (1, 9));
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_exists_repairs_the_record_and_is_replayed() {
    let (rig, shop) = Rig::with_shop(QUICK, 10).await;
    let first = shop.order("u1", "k1", 1).await;
    // As a kill between COMMIT and SUCCESS leaves it: its processing lease was over long ago.
    let _: i64 = rig.redis_do(
        "HSET idem:orders:u1:k1 status IN_PROGRESS started_at_ms 1 processing_until_ms 1 owner gone",
    );
    let again = shop.order("u1", "k1", 1).await;
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(rig.redis_do::<String>("HGET idem:orders:u1:k1 status"), "SUCCESS");
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_intent_whose_owners_keep_dying_is_left_to_a_person_and_listed() {
    let (rig, mut shop) = Rig::with_shop(QUICK, 10).await;
    shop = die(&rig, shop).await;
    // The second owner comes by taking over, and dies as well.
    let shelf = rig.hold_the_shelf().await;
    crate::rig::until(async || {
        let ordering = shop.ordering("u1", "k1", 1);
        let taken: i64 = rig.redis_do("HGET idem:orders:u1:k1 attempts");
        ordering.abort();
        if taken == 2 { Ok(()) } else { Err(format!("{taken} owners")) }
    })
    .await;
    rig.until_blocked(1).await;
    shop.kill().await;
    shelf.release().await;
    let shop = rig.shop(QUICK).await;
    let parked = shop.order_until_definite("u1", "k1", 1).await;
    assert_eq!((parked.status, parked.body["code"].as_str()), (423, Some("UNKNOWN_OUTCOME")));
    let open = shop.get("/reconciliation").await.body;
    assert_eq!(open[0]["userId"], json!("u1"));
    assert_eq!(open[0]["orderId"], json!(null));
    assert_eq!((rig.orders().await, rig.left().await), (0, 10));

    // A person places the order by hand: the next duplicate finds it, and the case is closed.
    let by_hand = "WITH placed AS (
        INSERT INTO orders (user_id, idempotency_key, product_id, quantity, address_version,
                            request_fingerprint, status)
        SELECT user_id, idempotency_key, 1001, 1, 1, request_fingerprint, 'CREATED'
        FROM reconciliation RETURNING order_id)
        SELECT order_id::text FROM placed";
    let order_id: i64 = rig.ask(by_hand).await.parse().unwrap();
    assert_eq!(shop.get("/reconciliation").await.body[0]["orderId"], json!(order_id));
    let found = shop.order("u1", "k1", 1).await;
    assert_eq!((found.status, &found.body["orderId"]), (201, &json!(order_id)));
    assert_eq!(shop.get("/reconciliation").await.body, json!([]));
    shop.kill().await;
    rig.stop().await;
}
