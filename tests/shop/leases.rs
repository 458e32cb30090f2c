//! The lease: bounded in its wait, renewed by token, lost without harm, released by token.

use std::time::{Duration, Instant};

use dupeproof::guard::Signal;

use crate::gate::{Gate, Stop};
use crate::rig::{Rig, sha, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_another_has_is_waited_for_and_no_longer_than_said() {
    let (rig, shop) = Rig::with_shop("--lock-wait 300ms", 10).await;
    let _: String = rig.redis_do("SET lock:stock:1001 somebody PX 60000");
    let began = Instant::now();
    let reply = shop.order("u1", "k1", 1).await;
    assert_eq!((reply.status, reply.body["code"].as_str()), (202, Some("BUSY")));
    assert!(began.elapsed() >= Duration::from_millis(250), "{:?}", began.elapsed());
    assert_eq!(rig.redis_do::<String>("GET lock:stock:1001"), "somebody");
    assert_eq!(rig.orders().await, 0);
    let _: i64 = rig.redis_do("DEL lock:stock:1001");
    assert_eq!(shop.order("u1", "k1", 1).await.status, 201);
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_holder_keeps_its_lease_by_renewing_it() {
    let (rig, shop) = Rig::with_shop("--lease 300ms", 10).await;
    let shelf = rig.hold_the_shelf().await;
    let ordering = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    let token: String = rig.redis_do("GET lock:stock:1001");
    until(async || match shop.metric(r#"shop_renewals_total{result="Ok"}"#).await {
        renewals if renewals >= 4.0 => Ok(()),
        renewals => Err(format!("{renewals} renewals")),
    })
    .await;
    assert_eq!(rig.redis_do::<String>("GET lock:stock:1001"), token, "after more than one term");
    shelf.release().await;
    assert_eq!(ordering.await.unwrap().status, 201);
    assert!(!rig.redis_do::<bool>("EXISTS lock:stock:1001"));
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_lost_its_lease_makes_no_side_effect_any_more() {
    let (rig, shop) = Rig::with_shop("--lease 300ms", 10).await;
    let shelf = rig.hold_the_shelf().await;
    let ordering = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    // Another one has it now: the next renewal says so.
    let _: String = rig.redis_do("SET lock:stock:1001 another PX 60000");
    until(async || match shop.metric(r#"shop_renewals_total{result="Lost"}"#).await {
        lost if lost >= 1.0 => Ok(()),
        _ => Err("nothing lost".to_owned()),
    })
    .await;
    shelf.release().await;
    let reply = ordering.await.unwrap();
    assert_eq!((reply.status, reply.body["code"].as_str()), (202, Some("BUSY")));
    assert_eq!((rig.orders().await, rig.left().await), (0, 10));
    assert_eq!(rig.redis_do::<String>("GET lock:stock:1001"), "another", "and it is still theirs");
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unlock_whose_reply_is_lost_is_tried_again_with_the_same_token() {
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.redis_url).await;
    let redis = gate.url(&rig.lab.redis_url);
    let shop = rig.shop_at(&rig.lab.postgres_url, &redis, "").await;
    rig.lab.stock_products(&[(1_001, 10)]).await.unwrap();
    gate.arm(Stop::After(sha(include_str!("../../src/shop/lua/unlock.lua"))));
    let ordering = shop.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    // The lease is free by now, and somebody else's a moment later.
    let _: String = rig.redis_do("SET lock:stock:1001 another PX 60000");
    gate.cut();
    assert_eq!(ordering.await.unwrap().status, 201);
    assert_eq!(rig.redis_do::<String>("GET lock:stock:1001"), "another");
    assert!((shop.metric(r#"shop_unlocks_total{result="Unanswered"}"#).await - 1.0).abs() < 0.1);
    assert!((shop.metric(r#"shop_unlocks_total{result="NotHeld"}"#).await - 1.0).abs() < 0.1);
    shop.kill().await;
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_is_killed_leaves_a_lease_that_ends_by_itself() {
    let (rig, shop) = Rig::with_shop("--lease 500ms", 10).await;
    let shelf = rig.hold_the_shelf().await;
    let ordering = shop.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    shop.signal(Signal::Kill);
    assert_eq!(ordering.await.unwrap().status, 0);
    let life_ms: i64 = rig.redis_do("PTTL lock:stock:1001");
    assert!((1..=500).contains(&life_ms), "{life_ms}");
    shelf.release().await;
    shop.kill().await;
    let other = rig.shop("").await;
    assert_eq!(other.order("u2", "k2", 1).await.status, 201, "the product is free again");
    other.kill().await;
    rig.stop().await;
}
