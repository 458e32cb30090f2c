//! The steps of a payment in the order table: each one conditional UPDATE in a transaction of its
//! own, whose row count says whether it was made.

use crate::shop::{
    error::ShopError,
    life::Subject,
    order::{self, Order},
    retry,
    state::Shop,
    transaction::OrderConnection,
};

/// CREATED to PAYING.
pub const BEGIN: Transition =
    Transition { statement: include_str!("../sql/begin_paying.sql"), doing: "beginning to pay" };
/// PAYING to PAID.
pub const FINISH: Transition =
    Transition { statement: include_str!("../sql/finish_paying.sql"), doing: "noting the payment" };
/// PAYING to CREATED.
const GIVE_UP: Transition =
    Transition { statement: include_str!("../sql/give_up_paying.sql"), doing: "noting a decline" };

#[derive(Debug, Clone, Copy)]
pub struct Transition {
    statement: &'static str,
    doing: &'static str,
}

/// `None` if the order isn't CREATED, or not this user's.
pub async fn begin(shop: &Shop, subject: &Subject) -> Result<Option<Order>, ShopError> {
    change(shop, subject, BEGIN).await
}

/// `None` if the order isn't PAYING any more.
pub async fn finish(shop: &Shop, subject: &Subject) -> Result<Option<Order>, ShopError> {
    change(shop, subject, FINISH).await
}

pub async fn give_up(shop: &Shop, subject: &Subject) -> Result<Option<Order>, ShopError> {
    change(shop, subject, GIVE_UP).await
}

/// Within the connection's transaction.
pub async fn change_within(
    connection: &mut OrderConnection,
    subject: &Subject,
    transition: Transition,
) -> Result<Option<Order>, ShopError> {
    let changed = sqlx::query_as(transition.statement)
        .bind(subject.order_id)
        .bind(&subject.user)
        .fetch_optional(connection.raw())
        .await;
    let changed: Option<order::Row> = connection.checked(transition.doing, changed)?;
    Ok(changed.map(Order::from))
}

async fn change(
    shop: &Shop,
    subject: &Subject,
    transition: Transition,
) -> Result<Option<Order>, ShopError> {
    let mut connection = OrderConnection::acquire(shop).await?;
    let mut tries = 1;
    loop {
        match try_to_change(&mut connection, subject, transition).await {
            Err(error)
                if error.is_worth_another_transaction() && tries < retry::TRANSACTION_TRIES =>
            {
                connection.rollback().await?;
                retry::back_off(tries).await;
                tries += 1;
            }
            changed => return changed,
        }
    }
}

async fn try_to_change(
    connection: &mut OrderConnection,
    subject: &Subject,
    transition: Transition,
) -> Result<Option<Order>, ShopError> {
    connection.begin().await?;
    let changed = change_within(connection, subject, transition).await?;
    match changed {
        Some(_) => connection.commit().await?,
        None => connection.rollback().await?,
    }
    Ok(changed)
}
