//! Defects of what stands behind the record: the unique index, and the look for the order that it
//! stands for.
//!
//! Each scene is played twice, with the defect and without it; the partners stay.

use serde_json::{Value, json};
use sqlx::error::DatabaseError;

use crate::redis_down::end_redis;
use crate::rig::{Reply, Rig, flags, send, until};

/// Orders, and the answer to a retry while Redis is down.
async fn retry_without_redis(defects: &[&str]) -> (i64, Reply) {
    let (rig, shop) = Rig::with_shop(&flags("", defects), 10).await;
    assert_eq!(shop.order("u1", "k1", 1).await.status, 201);
    end_redis(&rig);
    let again = shop.order("u1", "k1", 1).await;
    let orders = rig.orders().await;
    shop.kill().await;
    rig.stop().await;
    (orders, again)
}

#[tokio::test(flavor = "multi_thread")]
async fn d13_a_retry_without_redis_is_a_second_order() {
    let (orders, again) = retry_without_redis(&["no-unique-constraint"]).await;
    assert_eq!((orders, again.status), (1, 201));
    let broken = ["redis-down-skips-guards", "no-unique-constraint"];
    let (orders, again) = retry_without_redis(&broken).await;
    assert_eq!((orders, again.status), (2, 201));
    let (orders, again) = retry_without_redis(&["redis-down-skips-guards"]).await;
    assert_eq!((orders, again.status), (1, 201), "the unique index had the last word");
}

/// The answer to the same key with another quantity, and the quantity of the only order.
async fn another_quantity(defects: &[&str]) -> (u16, String) {
    let (rig, shop) = Rig::with_shop(&flags("--idempotency postgres", defects), 10).await;
    assert_eq!(shop.order("u1", "k1", 1).await.status, 201);
    let changed = shop.order("u1", "k1", 3).await.status;
    assert_eq!(rig.orders().await, 1);
    let quantity = rig.ask("SELECT quantity::text FROM orders").await;
    shop.kill().await;
    rig.stop().await;
    (changed, quantity)
}

#[tokio::test(flavor = "multi_thread")]
async fn d31_a_changed_intent_takes_the_place_of_a_confirmed_order() {
    assert_eq!(another_quantity(&[]).await, (409, "1".to_owned()));
    let broken = ["upsert-overwrites-order"];
    assert_eq!(another_quantity(&broken).await, (201, "3".to_owned()));
}

/// Orders, and the answer to a retry of an order of one unit after its record's end.
async fn retry_without_record(units: i32, defects: &[&str]) -> (i64, Reply) {
    let (rig, shop) = Rig::with_shop(&flags("--record-ttl 300ms", defects), units).await;
    assert_eq!(shop.order("u1", "k1", 1).await.status, 201);
    until(async || match rig.redis_do::<bool>("EXISTS idem:orders:u1:k1") {
        true => Err("the record is still there".to_owned()),
        false => Ok(()),
    })
    .await;
    let again = shop.order("u1", "k1", 1).await;
    let orders = rig.orders().await;
    shop.kill().await;
    rig.stop().await;
    (orders, again)
}

#[tokio::test(flavor = "multi_thread")]
async fn d54_whoever_bought_the_last_unit_is_told_sold_out_once_the_record_is_gone() {
    let (orders, again) = retry_without_record(1, &[]).await;
    assert_eq!((orders, again.status), (1, 201));
    let (orders, again) = retry_without_record(1, &["expired-key-is-new-order"]).await;
    assert_eq!((orders, again.status, &again.body["code"]), (1, 422, &json!("SOLD_OUT")));
}

#[tokio::test(flavor = "multi_thread")]
async fn d54_a_key_without_a_record_is_a_new_order_unless_the_index_objects() {
    let (orders, again) = retry_without_record(10, &[]).await;
    assert_eq!((orders, again.status), (1, 201));
    let (orders, again) = retry_without_record(10, &["expired-key-is-new-order"]).await;
    assert_eq!((orders, again.status), (1, 500), "the unique index had the last word");
    let broken = ["expired-key-is-new-order", "no-unique-constraint"];
    let (orders, again) = retry_without_record(10, &broken).await;
    assert_eq!((orders, again.status), (2, 201));
}

/// Order ids before and after the order was closed.
async fn retry_of_a_closed_order(defects: &[&str]) -> (Value, Value) {
    let (rig, shop) = Rig::with_shop(&flags("--idempotency postgres", defects), 10).await;
    let first = shop.order("u1", "k1", 1).await.body["orderId"].clone();
    let head = format!("POST /orders/{first}/close HTTP/1.1\r\nX-User-Id: u1\r\n");
    let closed = send(&shop.address, &format!("{head}Content-Length: 0\r\n"), b"").await;
    assert_eq!((closed.status, &closed.body["status"]), (200, &json!("CLOSED")));
    let again = shop.order("u1", "k1", 1).await;
    assert_eq!(again.status, 201, "{again:?}");
    shop.kill().await;
    rig.stop().await;
    (first, again.body["orderId"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn d73_a_retry_after_the_order_was_closed_is_a_second_order() {
    let (first, again) = retry_of_a_closed_order(&[]).await;
    assert_eq!(first, again);
    let (first, again) = retry_of_a_closed_order(&["D73"]).await;
    assert_ne!(first, again);
}

/// What PostgreSQL says to two orders of one user without a key.
async fn two_orders_without_a_key(defects: &[&str]) -> Result<u64, String> {
    let (rig, shop) = Rig::with_shop(&flags("", defects), 10).await;
    let insert = "INSERT INTO orders (user_id, idempotency_key, product_id, quantity,
                                      address_version, request_fingerprint, status)
                  SELECT 'u1', NULL, 1001, 1, 1, 'f', 'CREATED' FROM generate_series(1, 2)";
    let inserted = sqlx::query(insert).execute(&mut rig.postgres().await).await;
    shop.kill().await;
    rig.stop().await;
    let code = |error: sqlx::Error| {
        error.as_database_error().and_then(DatabaseError::code).unwrap_or_default().into_owned()
    };
    inserted.map(|done| done.rows_affected()).map_err(code)
}

#[tokio::test(flavor = "multi_thread")]
async fn d73_orders_without_a_key_get_past_the_index() {
    assert_eq!(two_orders_without_a_key(&[]).await, Err("23502".to_owned()));
    let broken = ["unique-index-lets-null-or-deleted-escape"];
    assert_eq!(two_orders_without_a_key(&broken).await, Ok(2));
}
