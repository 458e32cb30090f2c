//! How one charge is met.
//!
//! What a client can't tell apart is told apart here: `fail` and `fail-after` look the same from
//! outside, and one of them took the money. That is the very case a payment id is for.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::settings::Habits;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mood {
    /// As it should be, after a while.
    Slow,
    /// 500, and nothing happened.
    Fail,
    /// 500, and the charge took effect.
    FailAfter,
    /// The charge took effect, and the connection is dropped instead of an answer.
    DropAfter,
    /// Declined, for good.
    Decline,
}

/// How a charge is met: at which pace, and in what way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    pub delay: Duration,
    /// `None`: as it should be.
    pub mood: Option<Mood>,
}

impl Meeting {
    /// What the habits have in store for the `nth` request with this id.
    pub fn by_habit(habits: &Habits, id: &str, nth: u64) -> Self {
        let draw = draw(habits.seed, id, nth);
        let shares = [
            (habits.fail_share, Mood::Fail),
            (habits.fail_after_share, Mood::FailAfter),
            (habits.drop_share, Mood::DropAfter),
            (habits.decline_share, Mood::Decline),
        ];
        let mut up_to = 0.0;
        let mood = shares.into_iter().find_map(|(share, mood)| {
            up_to += share;
            (draw < up_to).then_some(mood)
        });
        Self { delay: habits.delay, mood }
    }
}

/// At least 0, less than 1.
fn draw(seed: u64, id: &str, nth: u64) -> f64 {
    let digest = Sha256::new()
        .chain_update(seed.to_le_bytes())
        .chain_update(nth.to_le_bytes())
        .chain_update(id)
        .finalize();
    let mut word = [0; 4];
    word.copy_from_slice(&digest[..4]);
    f64::from(u32::from_le_bytes(word)) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn habits(drop_share: f64) -> Habits {
        Habits {
            delay: Duration::ZERO,
            fail_share: 0.0,
            fail_after_share: 0.0,
            drop_share,
            decline_share: 0.0,
            seed: 42,
        }
    }

    #[test]
    fn a_fate_follows_from_seed_id_and_number() {
        let meet = |nth| Meeting::by_habit(&habits(0.3), "17:pay", nth);
        assert!((0..50).all(|nth| meet(nth) == meet(nth)));
        let dropped = (0..1_000).filter(|nth| meet(*nth).mood == Some(Mood::DropAfter)).count();
        assert!((200..400).contains(&dropped), "{dropped} of 1,000 at a share of 0.3");
    }

    #[test]
    fn shares_of_none_and_all_are_exact() {
        for nth in 0..500 {
            assert_eq!(Meeting::by_habit(&habits(0.0), "x", nth).mood, None);
            assert_eq!(Meeting::by_habit(&habits(1.0), "x", nth).mood, Some(Mood::DropAfter));
        }
    }
}
