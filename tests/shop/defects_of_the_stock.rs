//! What each defect of the shelf does by itself, and what the correct shop does in its place.

use crate::gate::{Gate, Stop};
use crate::rig::{PRODUCT, Rig, until};

/// The answer to an order of what there is none of, and the number of orders then.
async fn order_of_nothing(flags: &str) -> (u16, i64) {
    let (rig, shop) = Rig::with_shop(flags, 0).await;
    let status = shop.order("u1", "k1", 1).await.status;
    assert_eq!(rig.left().await, 0);
    let orders = rig.orders().await;
    shop.kill().await;
    rig.stop().await;
    (status, orders)
}

#[tokio::test(flavor = "multi_thread")]
async fn d30_an_order_is_placed_although_nothing_was_taken() {
    assert_eq!(order_of_nothing("--defects rowcount-ignored").await, (201, 1));
    assert_eq!(order_of_nothing("").await, (422, 0));
}

/// What is left of ten units after two orders of one, if the first stands between its SELECT ... FOR
/// UPDATE and its UPDATE until the second is done or has to wait.
async fn left_of_ten(flags: &str) -> i32 {
    let rig = Rig::start().await;
    let gate = Gate::before(&rig.lab.postgres_url).await;
    let postgres = gate.url(&rig.lab.postgres_url);
    let flags = format!("--lock-per user --stock select-for-update {flags}");
    let first = rig.shop_at(&postgres, &rig.lab.redis_url, &format!("--pool-size 1 {flags}")).await;
    let second = rig.shop(&format!("--instance 1 {flags}")).await;
    rig.lab.stock_products(&[(PRODUCT, 10)]).await.unwrap();
    gate.arm(Stop::Before("UPDATE product_stock".to_owned()));
    let held = first.ordering("u1", "k1", 1);
    gate.until_stopped().await;
    let other = second.ordering("u2", "k2", 1);
    until(async || {
        let is_over = other.is_finished() || rig.blocked().await == 1;
        if is_over { Ok(()) } else { Err("neither done nor blocked".to_owned()) }
    })
    .await;
    gate.open();
    assert_eq!((held.await.unwrap().status, other.await.unwrap().status), (201, 201));
    let left = rig.left().await;
    first.kill().await;
    second.kill().await;
    rig.stop().await;
    left
}

#[tokio::test(flavor = "multi_thread")]
async fn d35_a_row_that_was_locked_outside_the_transaction_loses_a_sale() {
    assert_eq!(left_of_ten("--defects for-update-outside-tx").await, 9);
    assert_eq!(left_of_ten("").await, 8);
}
