//! Looks for payments that nobody settled, and settles them.
//!
//! Every instance does so, without a lock between them: both would ask about the same payment id
//! and make the same conditional update, of which one changes the row. An order is left alone for
//! a while first, since whoever is paying it is mostly about to settle it.

use std::sync::Arc;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::{Known, Provider, read, settle};
use crate::shop::{defects::Defect, error::ShopError, life::Subject, speak, state::Shop};

const OVERDUE: &str = include_str!("../sql/overdue_payments.sql");

/// Until the shop ends.
pub async fn reconcile_until(shop: Arc<Shop>, ending: CancellationToken) {
    let Some(provider) = &shop.provider else { return };
    if shop.has(Defect::PayingNeverReconciled) {
        return;
    }
    let mut ticks = interval(shop.settings.paying.reconcile_every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = ending.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = reconcile(&shop, provider, &ending).await {
            speak::problem(shop.settings.instance, "reconciling payments", &error);
        }
    }
}

async fn reconcile(
    shop: &Shop,
    provider: &Provider,
    ending: &CancellationToken,
) -> Result<(), ShopError> {
    let doing = "looking for unsettled payments";
    let overdue: Vec<(String, i64)> = sqlx::query_as(OVERDUE)
        .bind(shop.settings.paying.paying_limit.as_secs_f64())
        .fetch_all(&shop.postgres)
        .await
        .map_err(|source| ShopError::Postgres { doing, source })?;
    for (user, order_id) in overdue {
        if ending.is_cancelled() {
            break;
        }
        let subject = Subject { user, order_id };
        if let Err(error) = reconcile_one(shop, provider, &subject).await {
            let what = format!("settling the payment of {order_id}");
            speak::problem(shop.settings.instance, &what, &error);
        }
    }
    Ok(())
}

async fn reconcile_one(
    shop: &Shop,
    provider: &Provider,
    subject: &Subject,
) -> Result<(), ShopError> {
    // It may have been settled since the look.
    if let Some(order) = read(shop, subject).await?
        && order.status == "PAYING"
    {
        settle(shop, provider, subject, &order, Known::Begun).await?;
    }
    Ok(())
}
