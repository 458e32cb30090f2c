//! Paying through a provider: CREATED, PAYING, PAID, with the call between two transactions.
//!
//! PAYING is committed before the provider is asked, and nothing is held while it is: no lock, no
//! connection, no transaction. So whatever dies, the row says that money may have moved, and closing
//! is refused until that is known. The charge has an id that follows from the order, the same for
//! each retry; the provider's word on that id settles what time-outs and crashes left unclear. Only
//! one that never came to a decision sends it back to CREATED: the decline.

mod provider;
mod reconcile;
mod settings;
mod transitions;

use axum::http::StatusCode;

pub use provider::{Provider, Told};
pub use reconcile::reconcile_until;
pub use settings::PayingSettings;
pub use transitions::{BEGIN, FINISH, begin, change_within, finish};

use super::{
    answer::Answer,
    defects::{
        Defect, d36_external_call_in_tx, d67_new_payment_id_per_try, d68_pay_before_commit,
        d69_paying_never_reconciled,
    },
    error::ShopError,
    life::{self, Step, Subject},
    order::{self, Order},
    speak,
    state::Shop,
    transaction::OrderConnection,
};

/// What a unit of anything costs.
const UNIT_PRICE_CENTS: i64 = 1_250;

/// What came of asking the provider about one order.
pub enum Settled {
    Paid(Order),
    Declined,
    /// It may have been charged, and nobody knows yet.
    Unclear,
    /// It was charged, and the order isn't in a state to take it.
    Astray(Order),
}

/// What is known when the provider is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// This attempt has begun the payment.
    Nothing,
    /// An earlier one has, and may have charged.
    Begun,
}

pub async fn pay(shop: &Shop, provider: &Provider, subject: &Subject) -> Result<Answer, ShopError> {
    if shop.has(Defect::ExternalCallInTx) {
        return d36_external_call_in_tx::pay(shop, provider, subject).await;
    }
    if shop.has(Defect::PayBeforeCommit) {
        return d68_pay_before_commit::pay(shop, provider, subject).await;
    }
    match begin(shop, subject).await? {
        Some(order) => {
            settle(shop, provider, subject, &order, Known::Nothing).await.map(Settled::answer)
        }
        None => pay_as_it_stands(shop, provider, subject).await,
    }
}

/// The payment can't be begun: it goes on where one is under way, and is answered otherwise.
pub async fn pay_as_it_stands(
    shop: &Shop,
    provider: &Provider,
    subject: &Subject,
) -> Result<Answer, ShopError> {
    let Some(order) = read(shop, subject).await? else {
        return Ok(Answer::unknown_order());
    };
    if order.status != "PAYING" {
        return Ok(life::refused_or_repeated(shop, order, Step::Pay));
    }
    if shop.has(Defect::PayingNeverReconciled) {
        return Ok(d69_paying_never_reconciled::answer());
    }
    settle(shop, provider, subject, &order, Known::Begun).await.map(Settled::answer)
}

/// Asks the provider, once or twice, and does what it says. Several may do so for one order at once:
/// they ask about the same id, and the first of them changes the row.
pub async fn settle(
    shop: &Shop,
    provider: &Provider,
    subject: &Subject,
    order: &Order,
    known: Known,
) -> Result<Settled, ShopError> {
    match ask(shop, provider, subject, order, known).await {
        Told::Charged => match finish(shop, subject).await? {
            Some(order) => Ok(Settled::Paid(order)),
            None => Ok(match read(shop, subject).await? {
                Some(order) if order.status == "PAID" => Settled::Paid(order),
                other => {
                    let order = other.unwrap_or_else(|| order.clone());
                    let error = ShopError::ChargedAstray { status: order.status.clone() };
                    speak::problem(shop.settings.instance, &format!("paying {}", order.id), &error);
                    Settled::Astray(order)
                }
            }),
        },
        Told::Declined => {
            transitions::give_up(shop, subject).await?;
            Ok(Settled::Declined)
        }
        Told::Unclear { reason } => {
            let error = ShopError::PaymentUnclear { reason };
            speak::problem(shop.settings.instance, &format!("paying {}", order.id), &error);
            // Another attempt may know by now.
            Ok(match read(shop, subject).await? {
                Some(order) if order.status == "PAID" => Settled::Paid(order),
                _ => Settled::Unclear,
            })
        }
        Told::Unknown => Ok(Settled::Unclear),
    }
}

/// What may have been charged is asked for first. Where the provider knows nothing, the request may
/// still be on its way; so the same id is sent again, and never a new one.
async fn ask(
    shop: &Shop,
    provider: &Provider,
    subject: &Subject,
    order: &Order,
    known: Known,
) -> Told {
    let id = if shop.has(Defect::NewPaymentIdPerTry) {
        d67_new_payment_id_per_try::payment_id(order)
    } else {
        payment_id(order)
    };
    if known == Known::Begun {
        match provider.state(&id).await {
            Told::Unknown => {}
            told => return told,
        }
    }
    provider.charge(&id, subject, amount_cents(order)).await
}

/// Follows from the order, so that every retry has the same.
pub fn payment_id(order: &Order) -> String {
    format!("{}:pay", order.id)
}

pub fn amount_cents(order: &Order) -> i64 {
    i64::from(order.quantity) * UNIT_PRICE_CENTS
}

/// In a connection of its own, which is given back at once.
pub async fn read(shop: &Shop, subject: &Subject) -> Result<Option<Order>, ShopError> {
    let mut connection = OrderConnection::acquire(shop).await?;
    order::of_user(&mut connection, subject).await
}

impl Settled {
    pub fn answer(self) -> Answer {
        match self {
            Self::Paid(order) => Answer::current(&order),
            Self::Declined => Answer::code(StatusCode::PAYMENT_REQUIRED, "PAYMENT_DECLINED"),
            Self::Unclear => Answer::come_back("PAYMENT_UNCLEAR"),
            Self::Astray(order) => life::as_it_stands(&order, Step::Pay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shop::order::tests::order;

    #[test]
    fn a_payment_id_follows_from_the_order_alone() {
        assert_eq!(payment_id(&order("CREATED")), "1417:pay");
        assert_eq!(payment_id(&order("PAYING")), payment_id(&order("CREATED")));
    }

    #[test]
    fn the_amount_follows_from_the_quantity() {
        let two = Order { quantity: 2, ..order("CREATED") };
        assert_eq!(amount_cents(&two), 2 * amount_cents(&order("CREATED")));
    }

    #[test]
    fn what_is_unclear_is_no_failure_and_says_when_to_come_back() {
        let unclear = Settled::Unclear.answer();
        assert_eq!(unclear.status, StatusCode::ACCEPTED);
        assert!(unclear.has_hint);
        assert_eq!(unclear.body, r#"{"code":"PAYMENT_UNCLEAR"}"#);
        assert_eq!(Settled::Declined.answer().status, StatusCode::PAYMENT_REQUIRED);
    }
}
