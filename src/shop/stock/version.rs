//! Takes stock optimistically: the shelf is read, and the UPDATE names the version that was read.
//!
//! Whoever comes second finds another version and reads again, a bounded number of times. At
//! repeatable read and above PostgreSQL ends that with 40001, and the whole transaction is
//! repeated instead.

use super::{Sale, TakesStock, Taking, shelf};
use crate::shop::{error::ShopError, retry, strategy::Going, transaction::OrderConnection};

const TAKE: &str = include_str!("../sql/take_stock_of_version.sql");

pub struct Version;

impl TakesStock for Version {
    fn take<'a>(&'a self, connection: &'a mut OrderConnection, sale: Sale) -> Going<'a, Taking> {
        Box::pin(take(connection, sale))
    }
}

async fn take(connection: &mut OrderConnection, sale: Sale) -> Result<Taking, ShopError> {
    for tries in 1..=retry::TRANSACTION_TRIES {
        let Some(read) = shelf(connection, sale.product_id).await? else {
            return Ok(Taking::UnknownProduct);
        };
        if read.available < sale.quantity || sale.is_fenced_off(read) {
            return Ok(sale.refused_by(Some(read)));
        }
        let taken = sqlx::query(TAKE)
            .bind(sale.quantity)
            .bind(sale.product_id)
            .bind(sale.fence)
            .bind(sale.bound)
            .bind(read.version)
            .execute(connection.raw())
            .await;
        if connection.checked("taking stock", taken)?.rows_affected() == 1 {
            return Ok(Taking::Done);
        }
        retry::back_off(tries).await;
    }
    Err(ShopError::VersionContended)
}
