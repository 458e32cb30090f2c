//! `POST /orders` without any trouble: what is answered, and what is left behind.

use serde_json::json;

use crate::rig::{PRODUCT, Rig, send};

#[tokio::test(flavor = "multi_thread")]
async fn an_order_leaves_a_row_a_movement_a_fence_and_a_record() {
    let (rig, shop) = Rig::with_shop("", 10).await;
    let first = shop.order("u1", "k1", 2).await;
    assert_eq!(first.status, 201, "{first:?}");
    let again = shop.order("u1", "k1", 2).await;
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(shop.order("u1", "k1", 3).await.status, 409, "another quantity, another intent");

    assert_eq!(rig.orders().await, 1);
    assert_eq!(rig.left().await, 8);
    let movements = rig.ask("SELECT string_agg(delta::text, ',') FROM stock_movements").await;
    assert_eq!(movements, "-2");
    let fence = rig.ask("SELECT last_fence::text FROM product_stock WHERE product_id = 1001").await;
    assert_eq!(fence, "1");
    assert_eq!(rig.redis_do::<String>("HGET idem:orders:u1:k1 status"), "SUCCESS");
    let life_ms: i64 = rig.redis_do("PTTL idem:orders:u1:k1");
    assert!(life_ms > 86_000_000, "{life_ms}");
    assert_eq!(rig.redis_do::<Vec<String>>("KEYS lock:*"), Vec::<String>::new());

    assert!((shop.metric(r#"shop_attempts_total{outcome="Created"}"#).await - 1.0).abs() < 0.1);
    assert!((shop.metric(r#"shop_attempts_total{outcome="Replayed"}"#).await - 1.0).abs() < 0.1);
    assert!((shop.metric(r#"shop_attempts_total{outcome="Mismatch"}"#).await - 1.0).abs() < 0.1);
    assert!((shop.metric(r#"shop_unlocks_total{result="Released"}"#).await - 1.0).abs() < 0.1);
    assert!((shop.metric("shop_lease_left_seconds_count").await - 1.0).abs() < 0.1);
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_too_late_gets_nothing_and_leaves_nothing() {
    let (rig, shop) = Rig::with_shop("", 3).await;
    assert_eq!(shop.order("u1", "k1", 2).await.status, 201);
    let late = shop.order("u2", "k2", 2).await;
    assert_eq!((late.status, &late.body["code"]), (422, &json!("SOLD_OUT")));
    assert_eq!(rig.left().await, 1);
    assert_eq!(rig.orders().await, 1);
    let exists: bool = rig.redis_do("EXISTS idem:orders:u2:k2");
    assert!(!exists, "a retry may find stock again");
    // The buyer of the last unit is owed that order, also when the record is gone.
    let _: i64 = rig.redis_do("DEL idem:orders:u1:k1");
    let again = shop.order("u1", "k1", 2).await;
    assert_eq!(again.status, 201);
    assert_eq!(rig.orders().await, 1);
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_request_is_told_why_and_has_no_effect() {
    let (rig, shop) = Rig::with_shop("", 10).await;
    let head = |headers: &str, length: usize| {
        format!("POST /orders HTTP/1.1\r\nContent-Length: {length}\r\n{headers}")
    };
    let good = r#"{"productId":1001,"quantity":1}"#;
    let user_and_key = "X-User-Id: u1\r\nIdempotency-Key: k1\r\n";
    let huge = format!(r#"{{"productId":1001,"quantity":1,"note":"{}"}}"#, "x".repeat(3_000_000));
    let long_key = format!("X-User-Id: u1\r\nIdempotency-Key: {}\r\n", "k".repeat(10_000));
    let cases: [(&str, &str, &str); 12] = [
        ("no JSON", user_and_key, "quantity=1"),
        ("an array", user_and_key, "[1]"),
        ("nothing", user_and_key, ""),
        ("a word for a number", user_and_key, r#"{"productId":"shoe","quantity":1}"#),
        ("a negative quantity", user_and_key, r#"{"productId":1001,"quantity":-1}"#),
        ("none", user_and_key, r#"{"productId":1001,"quantity":0}"#),
        ("too many", user_and_key, r#"{"productId":1001,"quantity":9007199254740993}"#),
        (
            "a product that isn't there",
            user_and_key,
            r#"{"productId":9007199254740993,"quantity":1}"#,
        ),
        ("two keys", "X-User-Id: u1\r\nIdempotency-Key: k1\r\nIdempotency-Key: k2\r\n", good),
        ("a key of 10,000 bytes", &long_key, good),
        ("no key", "X-User-Id: u1\r\n", good),
        ("a huge body", user_and_key, &huge),
    ];
    for (what, headers, body) in cases {
        let reply = send(&shop.address, &head(headers, body.len()), body.as_bytes()).await;
        assert!((400..500).contains(&reply.status), "{what}: {reply:?}");
        assert!(reply.body["code"].is_string(), "{what}: {reply:?}");
    }
    assert_eq!(rig.orders().await, 0);
    assert_eq!(rig.left().await, 10);
    assert_eq!(rig.redis_do::<Vec<String>>("KEYS idem:*"), Vec::<String>::new());
    assert_eq!(shop.order("u1", "k1", 1).await.status, 201, "and the key is as good as new");
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_one_key_is_one_order_at_two_instances() {
    let (rig, one) = Rig::with_shop("", 10).await;
    let other = rig.shop("--instance 1").await;
    let asked: Vec<_> =
        (0..20).map(|n| if n % 2 == 0 { &one } else { &other }.ordering("u1", "k1", 1)).collect();
    for reply in asked {
        let reply = reply.await.unwrap();
        assert!(matches!(reply.status, 201 | 202), "{reply:?}");
        assert!(reply.status == 201 || reply.head.contains("retry-after: 1"), "{reply:?}");
    }
    assert_eq!(one.order_until_definite("u1", "k1", 1).await.status, 201);
    assert_eq!(rig.orders().await, 1);
    assert_eq!(rig.left().await, 9);
    assert_eq!(PRODUCT, 1_001, "the queries name it");
    one.kill().await;
    other.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_duplicate_is_told_where_to_look_and_finds_the_order_there() {
    let (rig, shop) = Rig::with_shop("", 10).await;
    let shelf = rig.hold_the_shelf().await;
    let ordering = shop.ordering("u1", "k 1", 1);
    rig.until_blocked(1).await;
    let duplicate = shop.order("u1", "k 1", 1).await;
    assert_eq!((duplicate.status, &duplicate.body["code"]), (202, &json!("IN_PROGRESS")));
    assert!(duplicate.head.contains("location: /orders/by-key/k%201\r\n"), "{duplicate:?}");
    let look =
        || send(&shop.address, "GET /orders/by-key/k%201 HTTP/1.1\r\nX-User-Id: u1\r\n", b"");
    assert_eq!(look().await.status, 202, "not yet");
    shelf.release().await;
    let placed = ordering.await.unwrap();
    let found = look().await;
    assert_eq!((found.status, &found.body["orderId"]), (200, &placed.body["orderId"]));
    let of_nobody = "GET /orders/by-key/k%201 HTTP/1.1\r\nX-User-Id: u2\r\n";
    assert_eq!(send(&shop.address, of_nobody, b"").await.status, 404);
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_cannot_be_read_is_mended_from_the_order_table() {
    let (rig, shop) = Rig::with_shop("--redis-down reject", 10).await;
    let first = shop.order("u1", "k1", 1).await;
    for damage in [
        "HDEL idem:orders:u1:k1 response_body",
        "HSET idem:orders:u1:k1 response_status 99999",
        "HSET idem:orders:u1:k1 status FOO",
    ] {
        let _: i64 = rig.redis_do(damage);
        assert_eq!(shop.order("u1", "k1", 2).await.status, 409, "{damage}");
        let _: i64 = rig.redis_do(damage);
        let again = shop.order("u1", "k1", 1).await;
        assert_eq!((again.status, &again.body), (201, &first.body), "{damage}");
        assert_eq!(rig.redis_do::<String>("HGET idem:orders:u1:k1 status"), "SUCCESS", "{damage}");
    }
    assert_eq!((rig.orders().await, rig.left().await), (1, 9));
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn under_a_business_key_the_same_key_still_means_the_same_intent() {
    for idempotency in ["postgres", "none", "redis+postgres"] {
        let flags = format!("--one-order-per user --idempotency {idempotency}");
        let (rig, shop) = Rig::with_shop(&flags, 10).await;
        let first = shop.order("u1", "k1", 1).await;
        assert_eq!(shop.order("u1", "k1", 5).await.status, 409, "{flags}");
        for _ in 0..2 {
            let other = shop.order("u1", "k2", 7).await;
            assert_eq!((other.status, &other.body), (201, &first.body), "{flags}");
        }
        assert_eq!(rig.orders().await, 1, "{flags}");
        shop.kill().await;
        rig.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_route_is_told_as_json() {
    let (rig, shop) = Rig::with_shop("", 1).await;
    let lost = shop.get("/order").await;
    assert_eq!((lost.status, &lost.body["code"]), (404, &json!("UNKNOWN_ROUTE")));
    let wrong = send(&shop.address, "PUT /orders HTTP/1.1\r\nContent-Length: 0\r\n", b"").await;
    assert_eq!((wrong.status, &wrong.body["code"]), (405, &json!("WRONG_METHOD")));
    shop.kill().await;
    rig.stop().await;
}
