//! D74: the business key has a window with fixed edges, and only one window is looked at.
//!
//! Two clicks, one on either side of an edge, are milliseconds apart and in two windows. Neither
//! the look nor the unique index sees that they belong together.

use std::time::Duration;

use super::{Defect, DefectInfo, Partner};
use crate::shop::{
    error::ShopError,
    intent::Intent,
    order::{self, Order},
    transaction::OrderConnection,
};

const IN_THIS_WINDOW: &str = include_str!("../sql/order_in_this_window.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FixedWindowStraddled,
    id: "D74",
    switch: "fixed-window-straddled",
    does: "Only the current window is looked at, so two clicks across its edge are two orders.",
    partners: &[Partner::Flag { name: "order-window", value: "10m" }],
    finds: "two attempts without a key, on both sides of the window's edge",
};

pub async fn look(
    connection: &mut OrderConnection,
    intent: &Intent,
    window: Duration,
) -> Result<Option<Order>, ShopError> {
    let found = sqlx::query_as(IN_THIS_WINDOW)
        .bind(&intent.user)
        .bind(intent.wish.product_id)
        .bind(window.as_secs_f64())
        .fetch_optional(connection.raw())
        .await;
    let found: Option<order::Row> = connection.checked("looking for the order", found)?;
    Ok(found.map(Order::from))
}
