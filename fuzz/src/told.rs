//! What was read of a frame through everything that it can be asked, to be compared and to be read.

use std::fmt;

use dupeproof::wire::Part;

/// A frame's answers, one after the other, with their names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Told {
    start: Option<u64>,
    text: Vec<u8>,
}

impl Told {
    pub fn of(start: u64) -> Self {
        Self { start: Some(start), text: Vec::new() }
    }

    pub const fn start(&self) -> Option<u64> {
        self.start
    }

    pub fn add(&mut self, name: &str, value: impl fmt::Debug) {
        use std::io::Write;
        write!(self.text, " {name}={value:?}").expect("memory takes it");
    }

    pub fn bytes(&mut self, name: &str, bytes: &[u8]) {
        self.text.push(b' ');
        self.text.extend_from_slice(name.as_bytes());
        self.text.push(b'=');
        self.text.extend_from_slice(bytes);
    }

    /// A part in all of its forms, which agree with each other.
    pub fn part(&mut self, name: &str, part: Part<'_>, most: usize) {
        assert!(part.bytes.len() <= most, "{name} is bounded");
        self.bytes(name, part.bytes);
        if !part.is_whole {
            self.text.extend_from_slice(b"...");
        }
        let text = part.text();
        assert!(text.is_none_or(|text| part.bytes.starts_with(text.as_bytes())));
        assert_eq!(part.whole_text(), text.filter(|_| part.is_whole));
    }
}

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.text.escape_ascii())
    }
}
