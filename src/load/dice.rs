//! Every random choice of the load, drawn from the seed.
//!
//! A draw is a place in a ChaCha stream, not the next number of a generator that tasks share: so it
//! doesn't depend on which task came first, and a request can be rendered again from its intent.
//! The UUIDs also take in the run id. A profile may use `{uuid}` where a target tells orders apart,
//! and a second run with one seed must not be answered with the first one's orders.

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

use crate::history::{AttemptId, Intent, PhaseId, RunId};

/// Words of a stream that belong to one client's waits: two for each wait.
const WORDS_A_CLIENT: u128 = 1 << 20;

/// Draws from the seed.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    uuids: [u8; 32],
    waits: [u8; 32],
}

impl Dice {
    pub fn new(seed: u64, run: RunId) -> Self {
        let key = |what: &str| Sha256::digest(format!("{what}/{seed}")).into();
        Self { uuids: key(&format!("uuid/{run}")), waits: key("wait") }
    }

    /// The UUID (version 4) that all attempts of an intent carry.
    pub fn uuid(&self, intent: &Intent) -> String {
        let mut stream = stream(self.uuids, intent.phase, u128::from(intent.id.0) * 4);
        let mut bytes = [0; 16];
        stream.fill_bytes(&mut bytes);
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let hex = super::fingerprint::hex(&bytes);
        [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
    }

    /// The wait before retry number `retry` (from 0) of the client whose first attempt is `client`:
    /// doubled each time, the upper half of it by chance.
    pub fn wait(
        &self,
        phase: PhaseId,
        client: AttemptId,
        retry: u32,
        first: Duration,
        longest: Duration,
    ) -> Duration {
        let full = first.saturating_mul(1_u32.checked_shl(retry).unwrap_or(u32::MAX)).min(longest);
        let place = u128::from(client.0) * WORDS_A_CLIENT + u128::from(retry) * 2;
        let share = stream(self.waits, phase, place).next_u64() as f64 / u64::MAX as f64;
        full.mul_f64(0.5 + share / 2.0)
    }
}

fn stream(key: [u8; 32], phase: PhaseId, place: u128) -> ChaCha8Rng {
    let mut stream = ChaCha8Rng::from_seed(key);
    stream.set_stream(u64::from(phase.0));
    stream.set_word_pos(place);
    stream
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_come_from_the_seed() {
        let (first, longest) = (Duration::from_millis(100), Duration::from_secs(2));
        let wait = |dice: &Dice, retry| dice.wait(PhaseId(0), AttemptId(7), retry, first, longest);
        let dice = Dice::new(42, RunId::from_bits(1));
        for retry in 0..80 {
            let full = longest.min(first.saturating_mul(1 << retry.min(20)));
            let wait = wait(&dice, retry);
            assert!(wait >= full / 2 && wait <= full, "{retry}: {wait:?}");
        }
        assert_eq!(wait(&dice, 3), wait(&Dice::new(42, RunId::from_bits(2)), 3));
        assert_ne!(wait(&dice, 3), wait(&Dice::new(43, RunId::from_bits(1)), 3));
    }
}
