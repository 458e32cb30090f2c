//! What becomes of a claim once its attempt is over.
//!
//! A claim is given back only if there certainly was no effect; after an unclear COMMIT it stays,
//! and once it is overdue the next duplicate looks into the order table, which knows. After COMMIT
//! nothing may turn the answer into a failure: a record that can't be written is told in the log,
//! and repaired by the next duplicate.

use super::Outcome;
use crate::shop::{
    answer::Answer,
    defects::{Defect, d47_delete_record_on_exception, d55_stores_5xx_as_final},
    error::ShopError,
    fingerprint::Fingerprint,
    intent::Intent,
    record::Record,
    speak,
    state::Shop,
};

/// What the record is to be brought to.
#[derive(Debug, PartialEq, Eq)]
pub enum Settling {
    Success {
        fingerprint: Fingerprint,
        answer: Answer,
    },
    GiveBack,
    /// Nothing is certain, or nothing has changed.
    Leave,
}

impl Settling {
    pub fn of(shop: &Shop, intent: &Intent, placed: &Result<Outcome, ShopError>) -> Self {
        match placed {
            Err(_) if shop.has(Defect::DeleteRecordOnException) => {
                d47_delete_record_on_exception::settling()
            }
            Err(error) if shop.has(Defect::Stores5xxAsFinal) => {
                d55_stores_5xx_as_final::settling(intent, error)
            }
            placed => Self::by_what_is_certain(&intent.fingerprint, placed),
        }
    }

    fn by_what_is_certain(asked: &Fingerprint, placed: &Result<Outcome, ShopError>) -> Self {
        let success = |fingerprint: &Fingerprint, order| Self::Success {
            fingerprint: fingerprint.clone(),
            answer: Answer::created(order),
        };
        match placed {
            // Under a business key the order may be that of another intent.
            Ok(Outcome::Created(order) | Outcome::Replayed(order)) => success(asked, order),
            // A winner of another intent repairs the record to its own.
            Ok(Outcome::Mismatch { winner: Some(order) }) => success(&order.fingerprint, order),
            Ok(outcome) if outcome.came_to_nothing() => Self::GiveBack,
            Err(error) if error.certainly_had_no_effect() => Self::GiveBack,
            Ok(_) | Err(_) => Self::Leave,
        }
    }

    pub async fn carry_out(self, shop: &Shop, record: &Record) {
        let carried_out = match self {
            Self::Success { fingerprint, answer } => {
                record.succeed(shop, &fingerprint, &answer).await
            }
            Self::GiveBack => record.give_back(shop).await,
            Self::Leave => Ok(()),
        };
        if let Err(error) = carried_out {
            speak::problem(shop.settings.instance, &record.key, &error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shop::order::tests::order;

    #[test]
    fn what_is_certain_is_stored_and_what_certainly_was_not_is_given_back() {
        let asked = Fingerprint::over("asked");
        let stored = Settling::by_what_is_certain(&asked, &Ok(Outcome::Replayed(order("CREATED"))));
        assert!(matches!(stored, Settling::Success { .. }));
        assert_eq!(Settling::by_what_is_certain(&asked, &Ok(Outcome::SoldOut)), Settling::GiveBack);
        assert_eq!(
            Settling::by_what_is_certain(&asked, &Err(ShopError::LeaseLost)),
            Settling::GiveBack
        );
        let unclear = ShopError::CommitUnclear { source: sqlx::Error::WorkerCrashed };
        assert_eq!(Settling::by_what_is_certain(&asked, &Err(unclear)), Settling::Leave);
        assert_eq!(Settling::by_what_is_certain(&asked, &Ok(Outcome::InProgress)), Settling::Leave);
    }
}
