//! Mutations of seeds, the same ones in every run: a few bytes changed, removed, doubled or replaced
//! by a word of the dictionary, and pieces of another seed.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const MOST: usize = 4096;

pub struct Mutations {
    seeds: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
    random: ChaCha8Rng,
}

impl Mutations {
    /// `dictionary` is written as libFuzzer reads it.
    pub fn of(seeds: impl Iterator<Item = Vec<u8>>, dictionary: &str) -> Self {
        let words = dictionary.lines().filter_map(word).collect();
        Self { seeds: seeds.collect(), words, random: ChaCha8Rng::seed_from_u64(1) }
    }

    pub fn next(&mut self) -> Vec<u8> {
        let mut bytes = self.seeds.choose(&mut self.random).unwrap().clone();
        for _ in 0..self.random.random_range(1..8) {
            self.mutate(&mut bytes);
        }
        bytes.truncate(MOST);
        bytes
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let random = &mut self.random;
        let at = random.random_range(0..=bytes.len());
        let end = bytes.len().min(at + random.random_range(0..32));
        match random.random_range(0..6) {
            0 if at < bytes.len() => bytes[at] = random.random(),
            1 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            2 => drop(bytes.drain(at..end)),
            3 => bytes.extend_from_within(at..end),
            4 => {
                let other = self.seeds.choose(random).unwrap();
                let from = random.random_range(0..=other.len());
                bytes.splice(at..end, other[from..].iter().copied());
            }
            _ => {
                let word = self.words.choose(random).unwrap();
                bytes.splice(at..end.min(at + word.len()), word.iter().copied());
            }
        }
    }
}

/// The word of a line such as `name="GET \x00"`.
fn word(line: &str) -> Option<Vec<u8>> {
    let mut quoted = line.split_once('"')?.1.strip_suffix('"')?.bytes();
    let mut word = Vec::new();
    while let Some(byte) = quoted.next() {
        word.push(match byte {
            b'\\' => match quoted.next()? {
                b'x' => {
                    let digits = [quoted.next()?, quoted.next()?];
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                escaped => escaped,
            },
            byte => byte,
        });
    }
    (!line.starts_with('#')).then_some(word)
}
