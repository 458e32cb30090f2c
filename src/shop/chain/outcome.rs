//! What one attempt came to, and the answer it is given.
//!
//! Created and replayed are told apart here and nowhere outside: whoever asks twice must not be
//! able to tell which of the two answers came first.

use axum::http::StatusCode;

use crate::shop::{
    answer::Answer,
    defects::{Defect, d52_snapshot_not_stored, d53_replay_200, d57_in_progress_without_hint},
    error::ShopError,
    fingerprint,
    intent::Intent,
    metrics::Came,
    order::Order,
    settings::OneOrderPer,
    state::Shop,
};

#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Created(Order),
    /// The order was there already, for the same intent.
    Replayed(Order),
    /// The record had the first answer.
    Stored(Answer),
    /// There was another intent under the same key; its order, unless only the record was asked.
    Mismatch {
        winner: Option<Order>,
    },
    /// Somebody else is at work on the same intent.
    InProgress,
    /// The submit token was used, and no order came of it, or not yet.
    TokenUsed,
    SoldOut,
    UnknownProduct,
    /// The lock couldn't be had in time, or was lost.
    Busy,
    /// A later holder of the lease has been at the product, with this fence.
    FencedOff {
        highest: i64,
    },
    /// Nobody can say what became of it: a person has to.
    Parked,
    /// Redis can't be asked, and the database isn't to decide alone.
    Unavailable,
}

impl Outcome {
    /// Under a business key there may be one order whatever another key asks for; the same key means
    /// the same intent all the same.
    pub fn of_winner(shop: &Shop, intent: &Intent, winner: Order) -> Self {
        let is_of_another_key = shop.settings.one_order_per == OneOrderPer::User
            && winner.key.as_deref() != intent.name.key();
        let is_same = is_of_another_key
            || fingerprint::is_same(shop.defects, &winner.fingerprint, &intent.fingerprint);
        if is_same { Self::Replayed(winner) } else { Self::Mismatch { winner: Some(winner) } }
    }

    pub async fn answer(self, shop: &Shop, intent: &Intent) -> Result<Answer, ShopError> {
        Ok(match self {
            Self::Created(order) => Answer::created(&order),
            Self::Replayed(order) => replay(shop, intent, Answer::created(&order)).await?,
            Self::Stored(first) => replay(shop, intent, first).await?,
            Self::Mismatch { .. } => Answer::code(StatusCode::CONFLICT, "FINGERPRINT_MISMATCH"),
            Self::InProgress => come_back(shop, intent, "IN_PROGRESS"),
            Self::TokenUsed => Answer::code(StatusCode::CONFLICT, "TOKEN_USED"),
            Self::SoldOut => Answer::code(StatusCode::UNPROCESSABLE_ENTITY, "SOLD_OUT"),
            Self::UnknownProduct => Answer::code(StatusCode::NOT_FOUND, "UNKNOWN_PRODUCT"),
            Self::Busy | Self::FencedOff { .. } => come_back(shop, intent, "BUSY"),
            Self::Parked => Answer::code(StatusCode::LOCKED, "UNKNOWN_OUTCOME"),
            Self::Unavailable => Answer {
                status: StatusCode::SERVICE_UNAVAILABLE,
                ..Answer::come_back("REDIS_UNREACHABLE")
            },
        })
    }

    /// True if whoever asks again with the same name may be served as if for the first time.
    pub fn came_to_nothing(&self) -> bool {
        matches!(
            self,
            Self::SoldOut
                | Self::UnknownProduct
                | Self::Busy
                | Self::FencedOff { .. }
                | Self::Unavailable
        )
    }

    /// As the metrics count it.
    pub fn kind(&self) -> Came {
        match self {
            Self::Created(_) => Came::Created,
            Self::Replayed(_) | Self::Stored(_) => Came::Replayed,
            Self::Mismatch { .. } => Came::Mismatch,
            Self::InProgress => Came::InProgress,
            Self::TokenUsed => Came::TokenUsed,
            Self::SoldOut => Came::SoldOut,
            Self::UnknownProduct => Came::UnknownProduct,
            Self::Busy | Self::FencedOff { .. } => Came::Busy,
            Self::Parked => Came::Parked,
            Self::Unavailable => Came::Failed,
        }
    }
}

/// The first answer again, whether it comes from the record or from the order table.
async fn replay(shop: &Shop, intent: &Intent, first: Answer) -> Result<Answer, ShopError> {
    if shop.has(Defect::SnapshotNotStored) {
        d52_snapshot_not_stored::replay(shop, intent, first).await
    } else if shop.has(Defect::Replay200) {
        Ok(d53_replay_200::replay(first))
    } else {
        Ok(first)
    }
}

fn come_back(shop: &Shop, intent: &Intent, code: &str) -> Answer {
    if shop.has(Defect::InProgressWithoutHint) {
        d57_in_progress_without_hint::come_back(code)
    } else {
        Answer::come_back_to(code, intent.name.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shop::order::tests::order;

    #[test]
    fn only_what_left_no_order_and_no_doubt_came_to_nothing() {
        for nothing in [Outcome::SoldOut, Outcome::UnknownProduct, Outcome::Busy] {
            assert!(nothing.came_to_nothing(), "{nothing:?}");
        }
        for something in [
            Outcome::Created(order("CREATED")),
            Outcome::Replayed(order("PAID")),
            Outcome::Mismatch { winner: None },
            Outcome::InProgress,
            Outcome::TokenUsed,
        ] {
            assert!(!something.came_to_nothing(), "{something:?}");
        }
    }
}
