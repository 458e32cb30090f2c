//! What one attempt came to, and the answer it is given.
//!
//! Created and replayed are told apart here and nowhere outside: whoever asks twice must not be
//! able to tell which of the two answers came first.

use axum::http::StatusCode;

use crate::shop::{
    answer::Answer,
    intent::Intent,
    order::Order,
    settings::{OneOrderPer, Settings},
};

#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Created(Order),
    /// The order was there already, for the same intent.
    Replayed(Order),
    /// The order was there already, for another intent under the same key.
    Mismatch {
        winner: Order,
    },
    SoldOut,
    UnknownProduct,
    /// The lease couldn't be had in time.
    Busy,
}

impl Outcome {
    /// Under a business key there may be one order whatever it holds, so fingerprints don't count.
    pub fn of_winner(settings: &Settings, intent: &Intent, winner: Order) -> Self {
        let is_same = match settings.one_order_per {
            OneOrderPer::Key => winner.fingerprint == intent.fingerprint,
            OneOrderPer::User => true,
        };
        if is_same {
            Self::Replayed(winner)
        } else {
            Self::Mismatch { winner }
        }
    }

    pub fn answer(&self) -> Answer {
        match self {
            Self::Created(order) | Self::Replayed(order) => Answer::created(order),
            Self::Mismatch { .. } => super::mismatch(),
            Self::SoldOut => Answer::code(StatusCode::UNPROCESSABLE_ENTITY, "SOLD_OUT"),
            Self::UnknownProduct => Answer::code(StatusCode::NOT_FOUND, "UNKNOWN_PRODUCT"),
            Self::Busy => Answer::code(StatusCode::ACCEPTED, "BUSY"),
        }
    }
}
