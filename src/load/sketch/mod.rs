//! What a phase is going to do, before a byte is rendered: who means what, and who asks when.
//!
//! A sketch comes from the profile and the seed alone. The run follows it, and [`planned`] counts
//! it, so that what was announced and what is sent can't differ. One kind of burst is one file; a
//! steady load isn't sketched, since it may have a million attempts.

mod bad_keys;
mod crowds;
mod last_unit;
mod mixed;
mod mutated;
mod race;
mod sequential;
mod shared_key;
mod submit_token;

use crate::history::{Cause, KeyForm, PhaseId};
use crate::profile::{Burst, Contract, Products, Profile, Request};

use super::dice::Dice;
use super::error::LoadError;
use super::keys::bad_forms;
use super::steady::Schedule;

/// The most attempts that a phase may have beside a steady load.
const MOST_ATTEMPTS: u64 = 1 << 22;

/// What a phase is going to do.
#[derive(Debug, Default)]
pub(super) struct Sketch {
    /// By place, in the order of their numbers.
    pub intents: Vec<IntentSketch>,
    /// One for each scene that has to be set first.
    pub prepare: Vec<Step>,
    /// What leaves together, in the order in which its last bytes leave: group by group.
    pub crowd: Vec<Step>,
    /// What is asked one after the other, each script by a client of its own; after the crowd.
    pub scripts: Vec<Vec<Step>>,
    /// What a preparation gives to the intents that rest on it.
    pub gives: Gives,
}

/// What a preparation gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Gives {
    #[default]
    Nothing,
    /// The order id of its success.
    Order,
    /// The token in its success, which becomes the key.
    Token,
}

/// An intent by the numbers that its names are made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IntentSketch {
    /// The intent whose number names the user.
    pub user: u32,
    /// The intent whose number names the key.
    pub key: u32,
    /// The intent whose number gives the UUID: equal bodies have one.
    pub uuid: u32,
    /// Index of the product.
    pub product: u32,
    pub quantity: u32,
    /// Index of the request.
    pub request: usize,
    /// Entry and value of the request's mutations.
    pub mutation: Option<(usize, usize)>,
    pub key_form: KeyForm,
    /// The prepared intent that it rests on.
    pub rests_on: Option<u32>,
}

/// One attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Place of its intent.
    pub intent: u32,
    pub cause: Cause,
    /// What it contends for: attempts of one group leave next to each other.
    pub group: u32,
    pub change: Change,
}

/// How an attempt's bytes differ from its intent's original ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub body: bool,
    pub headers: bool,
    /// Another request that carries the intent.
    pub route: Option<usize>,
    /// Tells the changes of one intent apart.
    pub number: u32,
}

/// What a sketch is made from.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    pub seed: u64,
    pub products: Products,
    /// Index of the first product that buyers are dealt.
    pub first_product: u32,
    pub contract: &'a Contract,
    pub requests: &'a [Request],
}

impl<'a> From<&'a Profile> for Parts<'a> {
    fn from(profile: &'a Profile) -> Self {
        Self {
            seed: profile.seed,
            products: profile.products,
            first_product: 0,
            contract: &profile.contract,
            requests: &profile.requests,
        }
    }
}

/// What a phase will need and do, known before the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Numbers of intents that it takes; users and keys are named by them.
    pub intents: u32,
    /// Attempts of the burst itself or of the steady load.
    pub attempts: u64,
    /// Requests that set the scene (logins apart, which are nobody's intent).
    pub prepares: u64,
    /// Attempts that ask again on purpose.
    pub replays: u64,
    /// Products of its own, by index, with their stock.
    pub own_products: Vec<(u32, u32)>,
}

/// Counts what a phase will do.
///
/// # Errors
/// When the profile's requests don't have what the burst needs.
pub fn planned<'a>(
    phase: PhaseId,
    burst: &Burst,
    parts: impl Into<Parts<'a>>,
) -> Result<Planned, LoadError> {
    let scene = Scene::new(phase, parts.into());
    if let Burst::Rate(rate) = burst {
        let schedule = Schedule::new(rate);
        return Ok(Planned {
            intents: schedule.intents(),
            attempts: u64::from(schedule.attempts()),
            ..Planned::default()
        });
    }
    let sketch = scene.sketch(burst)?;
    let steps = || sketch.crowd.iter().chain(sketch.scripts.iter().flatten());
    let count = |cause| steps().filter(|step| step.cause == cause).count() as u64;
    Ok(Planned {
        intents: sketch.intents.len() as u32,
        attempts: count(Cause::Burst),
        prepares: sketch.prepare.len() as u64,
        replays: count(Cause::Replay),
        own_products: match burst {
            Burst::LastUnit(burst) => vec![(scene.own_product(), burst.stock)],
            _ => Vec::new(),
        },
    })
}

/// A phase and what it may draw on.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub phase: PhaseId,
    pub parts: Parts<'a>,
    pub dice: Dice,
}

impl<'a> Scene<'a> {
    pub fn new(phase: PhaseId, parts: Parts<'a>) -> Self {
        Self { phase, parts, dice: Dice::of_seed(parts.seed) }
    }

    /// Sketches every kind but a steady load.
    pub fn sketch(&self, burst: &Burst) -> Result<Sketch, LoadError> {
        self.fits(burst)?;
        match burst {
            Burst::SameKey(crowd) => Ok(crowds::same_key(self, crowd)),
            Burst::SameFingerprint(crowd) => crowds::same_fingerprint(self, crowd),
            Burst::FreshKey(crowd) => Ok(crowds::fresh_key(self, crowd)),
            Burst::Mutated(burst) => mutated::sketch(self, burst),
            Burst::SharedKey(burst) => Ok(shared_key::sketch(self, burst)),
            Burst::LastUnit(burst) => Ok(last_unit::sketch(self, burst)),
            Burst::Race(burst) => race::sketch(self, burst),
            Burst::SubmitToken(burst) => submit_token::sketch(self, burst),
            Burst::Mixed(burst) => mixed::sketch(self, burst),
            Burst::Sequential(burst) => sequential::sketch(self, burst),
            Burst::BadKeys(burst) => bad_keys::sketch(self, burst),
            Burst::Rate(_) => Ok(Sketch::default()),
        }
    }

    pub fn request(&self, index: usize) -> Result<&'a Request, LoadError> {
        self.parts.requests.get(index).ok_or(LoadError::NoRequest { index })
    }

    /// The product of the phase's buyer with this number: they are dealt out in turn.
    pub fn product(&self, buyer: u32) -> u32 {
        self.parts.first_product + buyer % self.parts.products.count.max(1)
    }

    /// A product that no other phase touches.
    pub fn own_product(&self) -> u32 {
        self.parts.products.count + u32::from(self.phase.0)
    }

    /// An intent of its own in every respect, at the next place.
    pub fn intent(&self, place: usize, buyer: u32, quantity: u32, request: usize) -> IntentSketch {
        let number = place as u32;
        IntentSketch {
            user: number,
            key: number,
            uuid: number,
            product: self.product(buyer),
            quantity,
            request,
            mutation: None,
            key_form: KeyForm::Good,
            rests_on: None,
        }
    }

    /// Refuses what could not be numbered, before any of it is made.
    fn fits(&self, burst: &Burst) -> Result<(), LoadError> {
        let product = |counts: &[usize]| {
            counts.iter().fold(1_u64, |product, &count| product.saturating_mul(count as u64))
        };
        let planned = match (burst, burst.crowd()) {
            (Burst::Race(race), Some(crowd)) => {
                let of_each = crowd.threads as usize;
                product(&[crowd.users as usize, of_each, race.requests.len().max(1)])
            }
            (_, Some(crowd)) => product(&[crowd.users as usize, crowd.threads as usize]),
            (Burst::Sequential(burst), None) => {
                product(&[burst.users as usize, burst.repeats as usize + 1])
            }
            (Burst::BadKeys(burst), None) => {
                product(&[burst.users as usize, bad_forms(&self.parts.contract.key).len()])
            }
            _ => 0,
        };
        if planned > MOST_ATTEMPTS {
            return Err(LoadError::TooMany { planned, limit: MOST_ATTEMPTS });
        }
        Ok(())
    }
}

impl Step {
    /// An attempt of the burst with its intent's original bytes.
    pub const fn burst(intent: u32, group: u32) -> Self {
        Self { intent, cause: Cause::Burst, group, change: Change::NONE }
    }

    pub const fn with(self, change: Change) -> Self {
        Self { change, ..self }
    }

    pub const fn because(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }
}

impl Change {
    pub const NONE: Self = Self { body: false, headers: false, route: None, number: 0 };

    /// Another way to write the same body.
    pub const fn body(number: u32) -> Self {
        Self { body: true, headers: false, route: None, number }
    }
}
