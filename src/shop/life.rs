//! An order's life after it was placed: paid, or closed, and never both.
//!
//! Each step is one conditional UPDATE, and its row count the answer. No row changed means: look
//! at the state that the order is in, then say "done already" or refuse. So a step needs no
//! idempotency key: asked for twice, it is the same step. Closing an unpaid order gives its units
//! back in the same transaction.

use axum::http::StatusCode;

use super::{
    answer::Answer,
    defects::{
        Defect, d64_status_update_unconditional, d65_late_pay_revives_closed,
        d66_zero_rows_is_success,
    },
    error::ShopError,
    order::{self, Order},
    paying, retry, speak,
    state::Shop,
    stock,
    transaction::OrderConnection,
};

const PAY: &str = include_str!("sql/pay.sql");
const CLOSE: &str = include_str!("sql/close.sql");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Pay,
    Close,
}

/// Whose order is to change.
#[derive(Debug)]
pub struct Subject {
    pub user: String,
    pub order_id: i64,
}

impl Step {
    pub fn leads_to(self) -> &'static str {
        match self {
            Self::Pay => "PAID",
            Self::Close => "CLOSED",
        }
    }

    pub fn doing(self) -> &'static str {
        match self {
            Self::Pay => "paying the order",
            Self::Close => "closing the order",
        }
    }
}

/// Never fails: a failure is an answer too.
pub async fn go(shop: &Shop, subject: &Subject, step: Step) -> Answer {
    let gone = match (&shop.provider, step) {
        (Some(provider), Step::Pay) => paying::pay(shop, provider, subject).await,
        _ => try_to_go(shop, subject, step).await,
    };
    gone.unwrap_or_else(|error| {
        let what = format!("{} {}", step.doing(), subject.order_id);
        speak::problem(shop.settings.instance, &what, &error);
        Answer::failure(&error)
    })
}

async fn try_to_go(shop: &Shop, subject: &Subject, step: Step) -> Result<Answer, ShopError> {
    let mut connection = OrderConnection::acquire(shop).await?;
    let mut tries = 1;
    loop {
        connection.begin().await?;
        match transact(shop, &mut connection, subject, step).await {
            Ok(Some(order)) => return Ok(Answer::current(&order)),
            Ok(None) => return refuse_or_repeat(shop, &mut connection, subject, step).await,
            Err(error) => {
                // If ROLLBACK fails too, the connection is closed, and the first error says why.
                let _ = connection.rollback().await;
                if !error.is_worth_another_transaction() || tries == retry::TRANSACTION_TRIES {
                    return Err(error);
                }
                retry::back_off(tries).await;
                tries += 1;
            }
        }
    }
}

/// `None`, and no transaction left, if no row changed.
async fn transact(
    shop: &Shop,
    connection: &mut OrderConnection,
    subject: &Subject,
    step: Step,
) -> Result<Option<Order>, ShopError> {
    let changed = if shop.has(Defect::StatusUpdateUnconditional) {
        d64_status_update_unconditional::change(connection, subject, step).await?
    } else if shop.has(Defect::LatePayRevivesClosed) && step == Step::Pay {
        d65_late_pay_revives_closed::pay(connection, subject).await?
    } else {
        change(connection, subject, step).await?
    };
    let Some(order) = changed else {
        connection.rollback().await?;
        return Ok(None);
    };
    if step == Step::Close {
        stock::put_back(shop, connection, &order).await?;
    }
    shop.work().await;
    connection.commit().await?;
    Ok(Some(order))
}

async fn change(
    connection: &mut OrderConnection,
    subject: &Subject,
    step: Step,
) -> Result<Option<Order>, ShopError> {
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

async fn refuse_or_repeat(
    shop: &Shop,
    connection: &mut OrderConnection,
    subject: &Subject,
    step: Step,
) -> Result<Answer, ShopError> {
    let Some(order) = order::of_user(connection, subject).await? else {
        return Ok(Answer::unknown_order());
    };
    Ok(refused_or_repeated(shop, order, step))
}

pub fn refused_or_repeated(shop: &Shop, order: Order, step: Step) -> Answer {
    if shop.has(Defect::ZeroRowsIsSuccess) {
        d66_zero_rows_is_success::answer(order, step)
    } else {
        as_it_stands(&order, step)
    }
}

/// The order is where the step leads, or where it can't be made from.
pub fn as_it_stands(order: &Order, step: Step) -> Answer {
    if order.status == step.leads_to() {
        Answer::current(order)
    } else if order.status == "CREATED" {
        // It can be made again: another step was taken back between the UPDATE and the look.
        Answer::come_back("BUSY")
    } else {
        Answer::with_state(StatusCode::CONFLICT, "WRONG_STATE", &order.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shop::order::tests::order;

    #[test]
    fn a_step_asked_for_twice_is_answered_as_the_first_time() {
        let again = as_it_stands(&order("PAID"), Step::Pay);
        assert_eq!(again.status, StatusCode::OK);
        assert_eq!(again, Answer::current(&order("PAID")));
    }

    #[test]
    fn a_step_from_the_wrong_state_is_refused_with_that_state() {
        let refused = as_it_stands(&order("CLOSED"), Step::Pay);
        assert_eq!(refused.status, StatusCode::CONFLICT);
        assert_eq!(refused.body, r#"{"code":"WRONG_STATE","status":"CLOSED"}"#);
        let refused = as_it_stands(&order("PAID"), Step::Close);
        assert_eq!(refused.body, r#"{"code":"WRONG_STATE","status":"PAID"}"#);
    }

    #[test]
    fn the_defect_says_what_was_asked_for_and_not_what_is() {
        let told = d66_zero_rows_is_success::answer(order("CLOSED"), Step::Pay);
        assert_eq!(told, Answer::current(&order("PAID")));
    }
}
