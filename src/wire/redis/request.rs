//! A request to Redis: its verb, keys, options and script.

use std::time::Duration;

use crate::wire::Part;

use super::capture::Capture;
use super::commands;

/// A look at a request, as far as it has come and is kept.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The place of its first byte.
    pub start: u64,
    /// Whether all of it has come.
    pub is_whole: bool,
    capture: &'a Capture,
}

/// What a SET was asked beyond its key and value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetOptions {
    /// Only where the key is missing.
    pub nx: bool,
    /// Only where the key is there.
    pub xx: bool,
    /// How long the key may live from now on (`PX`, `EX`).
    pub lease: Option<Duration>,
}

impl<'a> Request<'a> {
    pub(super) const fn new(start: u64, capture: &'a Capture, is_whole: bool) -> Self {
        Self { start, is_whole, capture }
    }

    /// The command's name in capitals. None in an empty request, which Redis ignores without a
    /// reply.
    pub fn verb(&self) -> Option<&'a str> {
        Some(self.capture.verb()).filter(|verb| !verb.is_empty())
    }

    /// How many arguments have come, the verb included.
    pub const fn arguments(&self) -> usize {
        self.capture.begun()
    }

    /// The verb is argument 0. None where it isn't kept.
    pub fn argument(&self, place: usize) -> Option<Part<'a>> {
        self.capture.argument(place)
    }

    /// The keys, as far as the command is known and they are kept.
    pub fn keys(&self) -> impl Iterator<Item = Part<'a>> + use<'a> {
        let request = *self;
        let places = commands::keys(self.verb().unwrap_or_default(), self);
        places.map_while(move |place| request.argument(place))
    }

    /// SHA-1 of the script that runs (EVAL, EVALSHA) or is stored (SCRIPT LOAD): one identity
    /// whether its source or its hash was sent. Of a source only when all of it has come.
    pub fn script(&self) -> Option<[u8; 20]> {
        match self.verb()? {
            "EVALSHA" | "EVALSHA_RO" => sha1(self.argument(1)?.whole_text()?),
            _ if self.is_whole => self.capture.script(),
            _ => None,
        }
    }

    /// The options of a SET, in whatever order they stand.
    pub fn set_options(&self) -> Option<SetOptions> {
        (self.verb()? == "SET").then(|| commands::set_options(self))
    }

    /// How long this request lets its key live: SET with PX or EX, PEXPIRE, EXPIRE, PSETEX, SETEX.
    pub fn lease(&self) -> Option<Duration> {
        match self.verb()? {
            "SET" => commands::set_options(self).lease,
            "PEXPIRE" | "PSETEX" => self.number(2).map(Duration::from_millis),
            "EXPIRE" | "SETEX" => self.number(2).map(Duration::from_secs),
            _ => None,
        }
    }

    /// An argument that is a whole number and not negative.
    pub(super) fn number(&self, place: usize) -> Option<u64> {
        self.argument(place)?.whole_text()?.parse().ok()
    }
}

fn sha1(hex: &str) -> Option<[u8; 20]> {
    let mut sha1 = [0; 20];
    let digits = hex.as_bytes();
    if digits.len() != 40 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, at) in sha1.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&hex[at..at + 2], 16).ok()?;
    }
    Some(sha1)
}
