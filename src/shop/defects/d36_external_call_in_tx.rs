//! D36: the provider is called within the transaction that changes the order.
//!
//! For as long as the call takes, the order's row is locked and a connection of the pool is taken:
//! a slow provider stops everybody who touches the order, and soon those who touch none.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    answer::Answer,
    error::ShopError,
    life::Subject,
    paying::{self, Provider, Settled, Told},
    state::Shop,
    transaction::OrderConnection,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::ExternalCallInTx,
    id: "D36",
    switch: "external-call-in-tx",
    does: "The payment provider is called within the order's transaction.",
    partners: &[Partner::Flag { name: "payments-url", value: "URL" }],
    needs: &[Need::Provider],
    finds: "a slow provider: whoever touches the order waits for it",
};

pub async fn pay(shop: &Shop, provider: &Provider, subject: &Subject) -> Result<Answer, ShopError> {
    let mut connection = OrderConnection::acquire(shop).await?;
    connection.begin().await?;
    let begun = paying::change_within(&mut connection, subject, paying::BEGIN).await?;
    let Some(order) = begun else {
        connection.rollback().await?;
        drop(connection);
        return paying::pay_as_it_stands(shop, provider, subject).await;
    };
    let amount = paying::amount_cents(&order);
    let settled = match provider.charge(&paying::payment_id(&order), subject, amount).await {
        Told::Charged => {
            let paid = paying::change_within(&mut connection, subject, paying::FINISH).await?;
            connection.commit().await?;
            Settled::Paid(paid.unwrap_or(order))
        }
        Told::Declined => {
            connection.rollback().await?;
            Settled::Declined
        }
        Told::Unknown | Told::Unclear { .. } => {
            connection.commit().await?;
            Settled::Unclear
        }
    };
    Ok(settled.answer())
}
