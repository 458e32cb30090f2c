//! Defects of the transaction: where it begins, what is in it, what is said before it is over.
//!
//! Each scene is played twice, with the defect and without it; the partners stay.

use serde_json::json;

use crate::gate::{Gate, Stop};
use crate::rig::{Reply, Rig, Shop, flags};

/// A record is overdue soon, and its owner's lock gone before that.
const QUICK: &str = "--lease 200ms --processing-lease 300ms";
/// With its end, for `BEGIN ISOLATION LEVEL READ COMMITTED` has the word too.
const COMMIT: &str = "COMMIT\0";

/// What the database holds: orders, units left of ten, movements.
type Books = (i64, i32, i64);

async fn books(rig: &Rig) -> Books {
    let movements = rig.ask("SELECT count(*)::text FROM stock_movements").await;
    (rig.orders().await, rig.left().await, movements.parse().unwrap())
}

/// Lets an instance die in the order of u1 and k1, right before the statement with this word.
async fn die_before(word: &str, flags: &str) -> (Rig, Shop) {
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.postgres_url).await;
    let shop = rig.shop_at(&gate.url(&rig.lab.postgres_url), &rig.lab.redis_url, flags).await;
    rig.lab.stock_products(&[(1_001, 10)]).await.unwrap();
    gate.arm(Stop::Before(word.to_owned()));
    let ordering = shop.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    shop.kill().await;
    gate.cut();
    assert_eq!(ordering.await.unwrap().status, 0);
    let other = rig.shop(flags).await;
    (rig, other)
}

/// The answer to a duplicate that met the uncommitted order of the first one in the unique index,
/// at repeatable read.
async fn duplicate_in_the_index(defects: &[&str]) -> Reply {
    let strategy = "--isolation repeatable-read --idempotency postgres --lock none --stock none";
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.postgres_url).await;
    let postgres = gate.url(&rig.lab.postgres_url);
    let one = rig.shop_at(&postgres, &rig.lab.redis_url, &flags(strategy, defects)).await;
    let other = rig.shop(&flags(strategy, defects)).await;
    gate.arm(Stop::Before(COMMIT.to_owned()));
    let first = one.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    let duplicate = other.ordering("u1", "k1", 1);
    rig.until_blocked(1).await;
    gate.open();
    let (first, duplicate) = (first.await.unwrap(), duplicate.await.unwrap());
    assert_eq!(first.status, 201, "{first:?}");
    assert!(duplicate.status != 201 || duplicate.body == first.body, "{duplicate:?}");
    assert_eq!(rig.orders().await, 1);
    one.kill().await;
    other.kill().await;
    rig.stop().await;
    duplicate
}

#[tokio::test(flavor = "multi_thread")]
async fn d28_a_duplicate_that_postgresql_asks_to_repeat_is_told_of_a_failure() {
    assert_eq!(duplicate_in_the_index(&[]).await.status, 201);
    assert_eq!(duplicate_in_the_index(&["on-conflict-under-rr"]).await.status, 503);
}

/// The books after a death before a statement, and after the retry.
async fn death_and_retry(word: &str, defects: &[&str]) -> (Books, Books) {
    let (rig, shop) = die_before(word, &flags(QUICK, defects)).await;
    let after_death = books(&rig).await;
    assert_eq!(shop.order_until_definite("u1", "k1", 1).await.status, 201);
    let after_retry = books(&rig).await;
    shop.kill().await;
    rig.stop().await;
    (after_death, after_retry)
}

#[tokio::test(flavor = "multi_thread")]
async fn d32_a_death_between_the_two_transactions_takes_units_that_nobody_bought() {
    let between = "INSERT INTO orders";
    assert_eq!(death_and_retry(between, &[]).await, ((0, 10, 0), (1, 9, 1)));
    let broken = ["two-transactions"];
    assert_eq!(death_and_retry(between, &broken).await, ((0, 9, 0), (1, 8, 1)));
    // Order and movement are still one.
    let later = "INSERT INTO stock_movements";
    assert_eq!(death_and_retry(later, &broken).await, ((0, 9, 0), (1, 8, 1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn d33_a_death_between_two_statements_leaves_what_the_first_ones_did() {
    let early = "INSERT INTO orders";
    let broken = ["autocommit"];
    assert_eq!(death_and_retry(early, &broken).await, ((0, 9, 0), (1, 8, 1)));
    let late = "INSERT INTO stock_movements";
    assert_eq!(death_and_retry(late, &[]).await, ((0, 10, 0), (1, 9, 1)));
    assert_eq!(death_and_retry(late, &broken).await, ((1, 9, 0), (1, 9, 0)));
}

/// Orders of one intent at two instances: one had come to the lock when the other placed and
/// committed it.
async fn placed_before_the_lock(defects: &[&str]) -> i64 {
    let strategy = "--isolation repeatable-read --lock-per user --stock none --idempotency none";
    let strategy = flags(strategy, defects);
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.redis_url).await;
    let redis = gate.url(&rig.lab.redis_url);
    let slow = rig.shop_at(&rig.lab.postgres_url, &redis, &strategy).await;
    let quick = rig.shop(&strategy).await;
    rig.lab.stock_products(&[(1_001, 10)]).await.unwrap();
    gate.arm(Stop::Before("lock:order:create:u1".to_owned()));
    let late = slow.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    assert_eq!(quick.order("u1", "k1", 1).await.status, 201);
    assert!(!rig.redis_do::<bool>("EXISTS lock:order:create:u1"), "committed, and unlocked");
    gate.open();
    assert_eq!(late.await.unwrap().status, 201);
    let orders = rig.orders().await;
    slow.kill().await;
    quick.kill().await;
    rig.stop().await;
    orders
}

#[tokio::test(flavor = "multi_thread")]
async fn d34_the_holder_of_the_lock_does_not_see_what_was_committed_before_it() {
    assert_eq!(placed_before_the_lock(&["no-unique-constraint"]).await, 1);
    let broken = ["snapshot-before-lock", "no-unique-constraint"];
    assert_eq!(placed_before_the_lock(&broken).await, 2);
}

/// Orders after a death before COMMIT and a retry; then the status of the order that the retry
/// was told of.
async fn death_before_commit(defects: &[&str]) -> (i64, u16) {
    let (rig, shop) = die_before(COMMIT, &flags(QUICK, defects)).await;
    let retry = shop.order_until_definite("u1", "k1", 1).await;
    assert_eq!((retry.status, &retry.body["status"]), (201, &json!("CREATED")));
    let order = shop.get(&format!("/orders/{}", retry.body["orderId"])).await;
    let orders = rig.orders().await;
    shop.kill().await;
    rig.stop().await;
    (orders, order.status)
}

#[tokio::test(flavor = "multi_thread")]
async fn d37_a_death_before_commit_leaves_a_record_of_an_order_that_does_not_exist() {
    assert_eq!(death_before_commit(&[]).await, (1, 200));
    assert_eq!(death_before_commit(&["success-before-commit"]).await, (0, 404));
}

/// The books after an order and a duplicate that only the unique index refuses.
async fn refused_by_the_index(defects: &[&str]) -> Books {
    let (rig, shop) = Rig::with_shop(&flags("", defects), 10).await;
    let first = shop.order("u1", "k1", 1).await;
    let _: i64 = rig.redis_do("DEL idem:orders:u1:k1");
    let again = shop.order("u1", "k1", 1).await;
    assert_eq!((again.status, &again.body), (201, &first.body));
    let books = books(&rig).await;
    shop.kill().await;
    rig.stop().await;
    books
}

#[tokio::test(flavor = "multi_thread")]
async fn d70_units_of_a_rejected_order_are_not_put_back() {
    assert_eq!(refused_by_the_index(&[]).await, (1, 9, 1));
    assert_eq!(refused_by_the_index(&["two-transactions"]).await, (1, 9, 1));
    let broken = ["two-transactions", "rejection-keeps-stock"];
    assert_eq!(refused_by_the_index(&broken).await, (1, 8, 1));
}
