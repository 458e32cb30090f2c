//! D74: the business key has a window with fixed edges, and only one window is looked at.
//!
//! Two clicks, one on either side of an edge, are milliseconds apart and in two windows. Neither
//! the look nor the unique index sees that they belong together.

use std::time::Duration;

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    error::ShopError, intent::Intent, order::Order, transaction::OrderConnection, window,
};

const IN_THIS_WINDOW: &str = include_str!("../sql/order_in_this_window.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::FixedWindowStraddled,
    id: "D74",
    switch: "fixed-window-straddled",
    does: "Only the current window is looked at, so two clicks across its edge are two orders.",
    partners: &[Partner::Flag { name: "order-window", value: "10m" }],
    needs: &[Need::Window],
    finds: "two attempts without a key, on both sides of the window's edge",
};

pub async fn look(
    connection: &mut OrderConnection,
    intent: &Intent,
    length: Duration,
) -> Result<Option<Order>, ShopError> {
    window::find_by(IN_THIS_WINDOW, connection, intent, length).await
}
