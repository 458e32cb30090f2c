//! D65: a payment that comes late brings a closed order back to life.
//!
//! Its units are on the shelf again by then, and perhaps sold to somebody else.

use super::{Defect, DefectInfo};
use crate::shop::{
    error::ShopError,
    life::Subject,
    order::{self, Order},
    transaction::OrderConnection,
};

const PAY: &str = include_str!("../sql/pay_even_closed.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::LatePayRevivesClosed,
    id: "D65",
    switch: "late-pay-revives-closed",
    does: "A closed order can be paid, although its units were given back.",
    partners: &[],
    needs: &[],
    finds: "burst.race, close first and pay in turn",
};

pub async fn pay(
    connection: &mut OrderConnection,
    subject: &Subject,
) -> Result<Option<Order>, ShopError> {
    let paid = sqlx::query_as(PAY)
        .bind(subject.order_id)
        .bind(&subject.user)
        .fetch_optional(connection.raw())
        .await;
    let paid: Option<order::Row> = connection.checked("paying the order", paid)?;
    Ok(paid.map(Order::from))
}
