//! The shelf: units are taken, put back, and each change has its movement.
//!
//! | file | holds |
//! |---|---|
//! | `conditional` | one UPDATE with the condition in it |
//! | `version` | read, then an UPDATE that names the version read |
//! | `for_update` | read under a row lock, then an UPDATE |
//! | `none` | nothing is taken |
//!
//! Whatever the way, the fence of the lease is checked and stored by the very statement that takes
//! the units, and the movement is written in the same transaction, so that the sum of the movements
//! explains what is left.

mod conditional;
mod for_update;
mod none;
mod version;

use super::{
    defects::{
        Defect, d18_fence_not_checked, d21_fence_not_strict, d23_no_available_guard, d29_rmw_stock,
        d30_rowcount_ignored, d35_for_update_outside_tx,
    },
    error::ShopError,
    intent::Intent,
    lock::Lease,
    order::Order,
    settings::Stock,
    state::Shop,
    strategy::Going,
    transaction::OrderConnection,
    wish::Wish,
};

const PUT_BACK: &str = include_str!("../sql/put_stock_back.sql");
const READ: &str = include_str!("../sql/read_stock.sql");
const INSERT_MOVEMENT: &str = include_str!("../sql/insert_movement.sql");

/// One way to take units from the shelf, within a transaction.
pub trait TakesStock: Send + Sync {
    fn take<'a>(&'a self, connection: &'a mut OrderConnection, sale: Sale) -> Going<'a, Taking>;
}

/// What is to be taken, and by a holder of which fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sale {
    pub product_id: i64,
    pub quantity: i32,
    /// Stored with the sale.
    pub fence: Option<i64>,
    /// Every fence accepted so far must be below this: the same number.
    pub bound: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    Done,
    SoldOut,
    UnknownProduct,
    /// A later holder of the lease was here already; this is the highest fence accepted.
    FenceRefused(i64),
}

/// What the shelf says of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shelf {
    pub available: i32,
    pub last_fence: i64,
    pub version: i64,
}

pub fn strategy(stock: Stock) -> &'static dyn TakesStock {
    match stock {
        Stock::Conditional => &conditional::Conditional,
        Stock::Version => &version::Version,
        Stock::SelectForUpdate => &for_update::ForUpdate,
        Stock::None => &none::None,
    }
}

impl Sale {
    pub fn of(shop: &Shop, intent: &Intent, fence: Option<i64>) -> Self {
        let Wish { product_id, quantity, .. } = intent.wish;
        let bound = if shop.has(Defect::FenceNotChecked) {
            d18_fence_not_checked::bound()
        } else if shop.has(Defect::FenceNotStrict) {
            d21_fence_not_strict::bound(fence)
        } else {
            fence
        };
        Self { product_id, quantity, fence, bound }
    }

    fn is_fenced_off(self, shelf: Shelf) -> bool {
        self.bound.is_some_and(|bound| shelf.last_fence >= bound)
    }

    /// Why a statement that names all of this sale's conditions changed no row.
    pub fn refused_by(self, shelf: Option<Shelf>) -> Taking {
        match shelf {
            None => Taking::UnknownProduct,
            Some(shelf) if self.is_fenced_off(shelf) => Taking::FenceRefused(shelf.last_fence),
            Some(_) => Taking::SoldOut,
        }
    }
}

/// Takes the product's lease once more where it can be: the shelf doesn't rely on its caller.
pub async fn take(
    shop: &Shop,
    connection: &mut OrderConnection,
    sale: Sale,
    lease: &Lease,
) -> Result<Taking, ShopError> {
    if !shop.settings.is_reentrant() {
        return take_units(shop, connection, sale).await;
    }
    lease.enter_again(shop).await?;
    let taken = take_units(shop, connection, sale).await;
    lease.leave(shop).await?;
    taken
}

async fn take_units(
    shop: &Shop,
    connection: &mut OrderConnection,
    sale: Sale,
) -> Result<Taking, ShopError> {
    if shop.settings.stock == Stock::None {
        return shop.strategies.stock.take(connection, sale).await;
    }
    if shop.has(Defect::NoAvailableGuard) {
        d23_no_available_guard::take(connection, sale).await
    } else if shop.has(Defect::RmwStock) {
        d29_rmw_stock::take(connection, sale).await
    } else if shop.has(Defect::RowcountIgnored) {
        d30_rowcount_ignored::take(connection, sale).await
    } else if shop.has(Defect::ForUpdateOutsideTx) {
        d35_for_update_outside_tx::take(connection, sale).await
    } else {
        shop.strategies.stock.take(connection, sale).await
    }
}

/// The movement of a sale, once the order has its number.
pub async fn note_sale(
    shop: &Shop,
    connection: &mut OrderConnection,
    order: &Order,
) -> Result<(), ShopError> {
    match shop.settings.stock {
        Stock::None => Ok(()),
        _ => note(connection, order, -order.quantity).await,
    }
}

/// Puts the units of a closed order on the shelf again.
pub async fn put_back(
    shop: &Shop,
    connection: &mut OrderConnection,
    order: &Order,
) -> Result<(), ShopError> {
    if shop.settings.stock == Stock::None {
        return Ok(());
    }
    put_units_back(connection, order.product_id, order.quantity).await?;
    note(connection, order, order.quantity).await
}

/// Without a movement: that is the caller's.
pub async fn put_units_back(
    connection: &mut OrderConnection,
    product_id: i64,
    quantity: i32,
) -> Result<(), ShopError> {
    let put = sqlx::query(PUT_BACK).bind(quantity).bind(product_id).execute(connection.raw()).await;
    connection.checked("putting stock back", put).map(drop)
}

/// By a statement that changes the product's row if all conditions of the sale hold, and by a look at
/// the shelf if one didn't. `units` is what the statement reckons with: those to take, or to leave.
pub async fn take_by(
    statement: &'static str,
    units: i32,
    connection: &mut OrderConnection,
    sale: Sale,
) -> Result<Taking, ShopError> {
    if changes_a_row(statement, units, connection, sale).await? {
        return Ok(Taking::Done);
    }
    Ok(sale.refused_by(shelf(connection, sale.product_id).await?))
}

/// Whether the statement did.
pub async fn changes_a_row(
    statement: &'static str,
    units: i32,
    connection: &mut OrderConnection,
    sale: Sale,
) -> Result<bool, ShopError> {
    let changed = sqlx::query(statement)
        .bind(units)
        .bind(sale.product_id)
        .bind(sale.fence)
        .bind(sale.bound)
        .execute(connection.raw())
        .await;
    Ok(connection.checked("taking stock", changed)?.rows_affected() == 1)
}

/// `None` for a product that isn't in the table.
pub async fn shelf(
    connection: &mut OrderConnection,
    product_id: i64,
) -> Result<Option<Shelf>, ShopError> {
    shelf_by(READ, connection, product_id).await
}

/// By one of the statements that read a product.
pub async fn shelf_by(
    statement: &'static str,
    connection: &mut OrderConnection,
    product_id: i64,
) -> Result<Option<Shelf>, ShopError> {
    let read = sqlx::query_as(statement).bind(product_id).fetch_optional(connection.raw()).await;
    let read: Option<(i32, i64, i64)> = connection.checked("reading stock", read)?;
    Ok(read.map(|(available, last_fence, version)| Shelf { available, last_fence, version }))
}

/// The highest fence that the product has accepted, read in the connection that is there.
pub async fn last_fence(
    shop: &Shop,
    place: &mut Option<OrderConnection>,
    product_id: i64,
) -> Result<i64, ShopError> {
    let shelf = match place {
        Some(connection) => shelf(connection, product_id).await?,
        None => shelf(&mut OrderConnection::acquire(shop).await?, product_id).await?,
    };
    Ok(shelf.map_or(0, |shelf| shelf.last_fence))
}

async fn note(
    connection: &mut OrderConnection,
    order: &Order,
    delta: i32,
) -> Result<(), ShopError> {
    let noted = sqlx::query(INSERT_MOVEMENT)
        .bind(order.id)
        .bind(order.product_id)
        .bind(delta)
        .execute(connection.raw())
        .await;
    connection.checked("noting the movement", noted).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_first_condition_that_did_not_hold() {
        let sale = |fence| Sale { product_id: 1, quantity: 2, fence, bound: fence };
        let shelf = |last_fence| Some(Shelf { available: 1, last_fence, version: 0 });
        assert_eq!(sale(Some(41)).refused_by(None), Taking::UnknownProduct);
        assert_eq!(sale(Some(41)).refused_by(shelf(42)), Taking::FenceRefused(42));
        assert_eq!(sale(Some(41)).refused_by(shelf(41)), Taking::FenceRefused(41));
        assert_eq!(sale(Some(41)).refused_by(shelf(40)), Taking::SoldOut);
        assert_eq!(sale(None).refused_by(shelf(42)), Taking::SoldOut);
    }
}
