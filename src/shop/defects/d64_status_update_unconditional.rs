//! D64: the status is checked, then changed whatever it is by then.
//!
//! Between the two statements the other request does the same, and the order is paid and closed.
//! A transaction doesn't help: at read committed both read `CREATED`, and the second UPDATE waits
//! for the first one's row and then overwrites it.

use super::{Defect, DefectInfo};
use crate::shop::{
    error::ShopError,
    life::{Step, Subject},
    order::{self, Order},
    transaction::OrderConnection,
};

const STATUS: &str = include_str!("../sql/order_status.sql");
const PAY: &str = include_str!("../sql/pay_unconditionally.sql");
const CLOSE: &str = include_str!("../sql/close_unconditionally.sql");

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::StatusUpdateUnconditional,
    id: "D64",
    switch: "status-update-unconditional",
    does: "The status is read, then updated without `AND status = 'CREATED'`.",
    partners: &[],
    needs: &[],
    finds: "burst.race; --work-time 20ms makes it all but certain",
};

pub async fn change(
    connection: &mut OrderConnection,
    subject: &Subject,
    step: Step,
) -> Result<Option<Order>, ShopError> {
    let status = sqlx::query_scalar(STATUS)
        .bind(subject.order_id)
        .bind(&subject.user)
        .fetch_optional(connection.raw())
        .await;
    let status: Option<String> = connection.checked("reading the order's status", status)?;
    if status.is_none_or(|status| status != "CREATED") {
        return Ok(None);
    }
    let statement = match step {
        Step::Pay => PAY,
        Step::Close => CLOSE,
    };
    let changed = sqlx::query_as(statement)
        .bind(subject.order_id)
        .bind(&subject.user)
        .fetch_optional(connection.raw())
        .await;
    let changed: Option<order::Row> = connection.checked(step.doing(), changed)?;
    Ok(changed.map(Order::from))
}
