//! Every random choice of the load, drawn from the seed.
//!
//! A draw is a place in a ChaCha stream, not the next number of a generator that tasks share: so it
//! doesn't depend on which task came first, and a phase can be sketched again without being run.
//! The UUIDs also take in the run id. A profile may use `{uuid}` where a target tells orders apart,
//! and a second run with one seed must not be answered with the first one's orders.

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

use crate::history::{AttemptId, PhaseId, RunId};

/// Words of a stream that belong to one client's waits: two for each wait.
const WORDS_A_CLIENT: u128 = 1 << 20;

/// The generator behind a draw that takes many numbers.
pub(super) type Stream = ChaCha8Rng;

/// Draws from the seed.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    uuids: [u8; 32],
    waits: [u8; 32],
    shares: [u8; 32],
    orders: [u8; 32],
    forms: [u8; 32],
    repeats: [u8; 32],
}

impl Dice {
    pub fn new(seed: u64, run: RunId) -> Self {
        Self { uuids: key(&format!("uuid/{run}"), seed), ..Self::of_seed(seed) }
    }

    /// Dice for what is decided before there is a run; their UUIDs are those of no run.
    pub fn of_seed(seed: u64) -> Self {
        let key = |what| key(what, seed);
        Self {
            uuids: key("uuid"),
            waits: key("wait"),
            shares: key("share"),
            orders: key("order"),
            forms: key("form"),
            repeats: key("repeat"),
        }
    }

    /// The UUID (version 4) of an intent of the run.
    pub fn uuid(&self, phase: PhaseId, intent: u32) -> String {
        uuid(&mut stream(self.uuids, phase, u128::from(intent) * 4))
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
        full.mul_f64(0.5 + share(&mut stream(self.waits, phase, place)) / 2.0)
    }

    /// What one of a user's attempts draws, 0 to 1.
    pub fn share(&self, phase: PhaseId, user: u32, number: u32) -> f64 {
        let place = (u128::from(user) << 32 | u128::from(number)) * 2;
        share(&mut stream(self.shares, phase, place))
    }

    /// Mixes the attempts of one group.
    pub fn shuffle<T>(&self, phase: PhaseId, group: u32, items: &mut [T]) {
        mix(&mut stream(self.orders, phase, u128::from(group) << 26), items);
    }

    /// For the form number `number` of an intent, by its place in the phase.
    pub fn form(&self, phase: PhaseId, intent: u32, number: u32) -> Stream {
        stream(self.forms, phase, (u128::from(intent) << 22 | u128::from(number)) << 12)
    }

    /// How far back a repeat of a steady load reaches: 1 to `most`.
    pub fn back(&self, phase: PhaseId, attempt: u32, most: u32) -> u32 {
        let drawn = stream(self.repeats, phase, u128::from(attempt) * 2).next_u64();
        1 + (drawn % u64::from(most.max(1))) as u32
    }
}

/// A UUID (version 4) of the next 128 bits.
pub(super) fn uuid(stream: &mut Stream) -> String {
    let mut bytes = [0; 16];
    stream.fill_bytes(&mut bytes);
    uuid_of(bytes)
}

/// A UUID (version 4) with these bits.
pub(super) fn uuid_of(mut bytes: [u8; 16]) -> String {
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut text = String::with_capacity(36);
    for (place, byte) in bytes.into_iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    text
}

/// Below `limit`, which is not 0.
pub(super) fn below(stream: &mut Stream, limit: usize) -> usize {
    (stream.next_u64() % limit as u64) as usize
}

/// Puts items into another order (Fisher and Yates).
pub(super) fn mix<T>(stream: &mut Stream, items: &mut [T]) {
    for place in (1..items.len()).rev() {
        items.swap(place, below(stream, place + 1));
    }
}

fn share(stream: &mut Stream) -> f64 {
    stream.next_u64() as f64 / u64::MAX as f64
}

fn key(what: &str, seed: u64) -> [u8; 32] {
    Sha256::digest(format!("{what}/{seed}")).into()
}

fn stream(key: [u8; 32], phase: PhaseId, place: u128) -> Stream {
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

    #[test]
    fn a_uuid_belongs_to_its_run_phase_and_intent() {
        let of =
            |run, phase, intent| Dice::new(1, RunId::from_bits(run)).uuid(PhaseId(phase), intent);
        let one = of(1, 0, 0);
        assert_eq!((one.len(), &one[14..15]), (36, "4"));
        for other in [of(2, 0, 0), of(1, 1, 0), of(1, 0, 1)] {
            assert_ne!(one, other);
        }
    }
}
