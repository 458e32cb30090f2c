//! Takes stock under a row lock: SELECT ... FOR UPDATE, a look, then the UPDATE.
//!
//! The row lock lasts until the transaction ends, so what was read stays true. Outside a
//! transaction it would be gone before the UPDATE.

use super::{Sale, TakesStock, Taking, shelf_by, take_by};
use crate::shop::{error::ShopError, strategy::Going, transaction::OrderConnection};

const READ_FOR_UPDATE: &str = include_str!("../sql/read_stock_for_update.sql");
const TAKE: &str = include_str!("../sql/take_stock.sql");

pub struct ForUpdate;

impl TakesStock for ForUpdate {
    fn take<'a>(&'a self, connection: &'a mut OrderConnection, sale: Sale) -> Going<'a, Taking> {
        Box::pin(take(connection, sale))
    }
}

async fn take(connection: &mut OrderConnection, sale: Sale) -> Result<Taking, ShopError> {
    let Some(read) = shelf_by(READ_FOR_UPDATE, connection, sale.product_id).await? else {
        return Ok(Taking::UnknownProduct);
    };
    if read.available < sale.quantity || sale.is_fenced_off(read) {
        return Ok(sale.refused_by(Some(read)));
    }
    take_by(TAKE, sale.quantity, connection, sale).await
}
