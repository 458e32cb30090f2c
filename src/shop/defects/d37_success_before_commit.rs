//! D37: the record says SUCCESS before COMMIT is sent.
//!
//! All statements have succeeded, so what could still go wrong? The process, the connection, the
//! server: and then the record answers for an order that doesn't exist. What is written after
//! COMMIT only repeats it.

use super::{Defect, DefectInfo, Need};
use crate::shop::{
    answer::Answer, error::ShopError, intent::Intent, order::Order, record::Record, speak,
    state::Shop, transaction::OrderConnection,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::SuccessBeforeCommit,
    id: "D37",
    switch: "success-before-commit",
    does: "The answer is stored in the record while the order's transaction is still open.",
    partners: &[],
    needs: &[Need::Record],
    finds: "a kill before COMMIT",
};

pub async fn commit(
    shop: &Shop,
    intent: &Intent,
    connection: &mut OrderConnection,
    order: &Order,
) -> Result<(), ShopError> {
    if let Some(key) = intent.name.key() {
        let record = Record::of(shop, intent, key);
        let stored = record.succeed(shop, &order.fingerprint, &Answer::created(order)).await;
        if let Err(error) = stored {
            speak::problem(shop.settings.instance, &record.key, &error);
        }
    }
    connection.commit().await
}
