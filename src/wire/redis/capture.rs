//! The arguments of a request as far as they are kept: the first ones, and of each its beginning.
//!
//! Of an argument rather than of the frame, because what tells a step apart may come behind what
//! is long: the key of an EVAL behind its script, the lease of a SET behind its value. A script is
//! hashed as it passes, so that its identity doesn't depend on how much of it is kept. Passwords
//! are not kept at all.

use std::fmt;

use sha1_smol::Sha1;

use crate::wire::Part;

const MOST_ARGUMENTS: usize = 64;
const MOST_OF_ONE: usize = 1024;
const MOST_OF_ALL: usize = 4096;
/// A script tells what it does only as a whole.
pub(super) const LONGEST_SCRIPT: usize = 16 * 1024;

#[derive(Clone, Copy, Debug)]
struct Argument {
    /// What is kept of it.
    start: usize,
    end: usize,
    /// How long it is on the wire.
    length: u64,
}

pub(super) struct Capture {
    kept: Vec<u8>,
    arguments: Vec<Argument>,
    /// Arguments that have begun, those included that aren't kept.
    begun: usize,
    script: Option<Sha1>,
    /// Whether the current argument is the script.
    in_script: bool,
    /// How much of `kept` is the script's.
    script_kept: usize,
    /// The command's name in capitals, once [`Self::read_verb`] has read it.
    verb: String,
}

impl Capture {
    pub(super) const fn new() -> Self {
        Self {
            kept: Vec::new(),
            arguments: Vec::new(),
            begun: 0,
            script: None,
            in_script: false,
            script_kept: 0,
            verb: String::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.kept.clear();
        self.arguments.clear();
        self.begun = 0;
        self.script = None;
        self.in_script = false;
        self.script_kept = 0;
        self.verb.clear();
    }

    /// Reads the command's name, which is asked for many times over.
    pub(super) fn read_verb(&mut self) {
        self.verb.clear();
        let verb =
            self.arguments.first().filter(|verb| (verb.end - verb.start) as u64 == verb.length);
        let verb = verb.and_then(|verb| std::str::from_utf8(&self.kept[verb.start..verb.end]).ok());
        self.verb.push_str(verb.unwrap_or_default());
        self.verb.make_ascii_uppercase();
    }

    /// The command's name in capitals; empty where there is none, or none that can be read.
    pub(super) fn verb(&self) -> &str {
        &self.verb
    }

    /// An argument of this many bytes comes.
    pub(super) fn begin(&mut self, length: u64) {
        let place = self.begun;
        self.begun = self.begun.saturating_add(1);
        self.in_script =
            (1..=2).contains(&place) && script_place(|at| self.argument(at)) == Some(place);
        if self.in_script {
            self.script = Some(Sha1::new());
        }
        if self.arguments.len() == place && place < self.kept_arguments() {
            let start = self.kept.len();
            self.arguments.push(Argument { start, end: start, length });
        }
    }

    /// The next bytes of the argument that began last.
    pub(super) fn content(&mut self, bytes: &[u8]) {
        if self.in_script
            && let Some(script) = &mut self.script
        {
            script.update(bytes);
        }
        if self.arguments.len() == self.begun
            && let Some(argument) = self.arguments.last_mut()
        {
            let kept = argument.end - argument.start;
            let room = if self.in_script {
                LONGEST_SCRIPT - kept
            } else {
                (MOST_OF_ONE - kept).min(MOST_OF_ALL - (self.kept.len() - self.script_kept))
            };
            let room = room.min(bytes.len());
            self.kept.extend_from_slice(&bytes[..room]);
            argument.end += room;
            if self.in_script {
                self.script_kept += room;
            }
        }
    }

    /// An argument that is there as a whole.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.begin(bytes.len() as u64);
        self.content(bytes);
    }

    pub(super) fn argument(&self, place: usize) -> Option<Part<'_>> {
        let argument = self.arguments.get(place)?;
        let bytes = &self.kept[argument.start..argument.end];
        Some(Part { bytes, is_whole: bytes.len() as u64 == argument.length })
    }

    pub(super) const fn begun(&self) -> usize {
        self.begun
    }

    /// SHA-1 of the script that was given in full.
    pub(super) fn script(&self) -> Option<[u8; 20]> {
        self.script.as_ref().map(|script| script.digest().bytes())
    }

    /// Bytes that it holds on to.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.kept.capacity() + self.arguments.capacity() * size_of::<Argument>()
    }

    /// How many arguments of this command may be kept, by its verb and what follows it.
    fn kept_arguments(&self) -> usize {
        let is = |place: usize, word: &[u8]| {
            self.argument(place).is_some_and(|part| part.bytes.eq_ignore_ascii_case(word))
        };
        if is(0, b"AUTH") {
            1
        } else if is(0, b"HELLO") || is(0, b"CONFIG") || is(0, b"ACL") {
            2
        } else if is(0, b"MIGRATE") {
            6
        } else {
            MOST_ARGUMENTS
        }
    }
}

/// Arguments are the target's business, and don't belong in a log.
impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("begun", &self.begun).finish_non_exhaustive()
    }
}

/// Which argument is the source of a script.
fn script_place<'a>(argument: impl Fn(usize) -> Option<Part<'a>>) -> Option<usize> {
    let is = |place, word: &[u8]| {
        argument(place).is_some_and(|part: Part<'_>| part.bytes.eq_ignore_ascii_case(word))
    };
    if is(0, b"EVAL") || is(0, b"EVAL_RO") {
        Some(1)
    } else if is(0, b"SCRIPT") && is(1, b"LOAD") {
        Some(2)
    } else {
        None
    }
}
