//! D68: the money is taken before the step that allows it is committed.
//!
//! The order is looked at, charged, and only then taken from CREATED to PAYING to PAID. Whoever
//! closes it in between wins, and so does a COMMIT that fails: the buyer has paid for nothing.

use super::{Defect, DefectInfo, Need, Partner};
use crate::shop::{
    answer::Answer,
    error::ShopError,
    life::Subject,
    paying::{self, Provider, Settled, Told},
    state::Shop,
};

pub const INFO: DefectInfo = DefectInfo {
    defect: Defect::PayBeforeCommit,
    id: "D68",
    switch: "pay-before-commit",
    does: "The charge is made before the order is PAYING, so it may be closed by then.",
    partners: &[Partner::Flag { name: "payments-url", value: "URL" }],
    needs: &[Need::Provider],
    finds: "burst.race of pay and close with [lab.payments]",
};

pub async fn pay(shop: &Shop, provider: &Provider, subject: &Subject) -> Result<Answer, ShopError> {
    let order = match paying::read(shop, subject).await? {
        Some(order) if order.status == "CREATED" => order,
        _ => return paying::pay_as_it_stands(shop, provider, subject).await,
    };
    let amount = paying::amount_cents(&order);
    let settled = match provider.charge(&paying::payment_id(&order), subject, amount).await {
        Told::Charged => {
            paying::begin(shop, subject).await?;
            paying::finish(shop, subject).await?;
            match paying::read(shop, subject).await? {
                Some(order) if order.status == "PAID" => Settled::Paid(order),
                other => Settled::Astray(other.unwrap_or(order)),
            }
        }
        Told::Declined => Settled::Declined,
        Told::Unknown | Told::Unclear { .. } => Settled::Unclear,
    };
    Ok(settled.answer())
}
