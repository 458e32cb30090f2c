//! The log: one JSON line a request, and one an effect, in the order in which they happened.
//!
//! A line is handed to the kernel before the reply leaves, so a SIGKILL loses none that somebody was
//! told of. It may cut the last one short; that one was never answered, and is dropped at the next
//! start. The file isn't synced to the disk: a drill kills processes, not machines.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use super::error::PaymentsError;
use super::mood::Mood;

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A charge was asked for.
    ChargeRequest,
    /// Money was taken.
    Charge,
    /// It was refused for good; nothing was taken.
    Decline,
    /// The state of a charge was asked for.
    StateRequest,
    RefundRequest,
    /// Money was given back.
    Refund,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Microseconds since 1970.
    pub at_us: u64,
    pub event: Event,
    /// The payment request's id; of a refund, the charge's.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refund: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// How a request was met, where that was not the usual way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mood: Option<Mood>,
}

impl Line {
    pub fn now(event: Event, id: &str) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            at_us: u64::try_from(since.as_micros()).unwrap_or(u64::MAX),
            event,
            id: id.to_owned(),
            refund: None,
            order: None,
            user: None,
            amount: None,
            mood: None,
        }
    }
}

/// The file that is appended to; without one, nothing is kept.
#[derive(Debug)]
pub struct Log {
    file: Option<File>,
}

impl Log {
    /// Opens the log and hands out what it has.
    pub fn open(path: Option<&Path>) -> Result<(Self, Vec<Line>), PaymentsError> {
        let Some(path) = path else { return Ok((Self { file: None }, Vec::new())) };
        let failed = |source| PaymentsError::Log { path: path.to_owned(), source };
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(failed(source)),
        };
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines = read(&text[..whole], path)?;
        let file = File::options().create(true).append(true).open(path).map_err(failed)?;
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        Ok((Self { file: Some(file) }, lines))
    }

    /// One write a line, so that a kill leaves a whole line or the beginning of one.
    pub fn write(&mut self, line: &Line) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        file.write_all(&bytes)
    }
}

fn read(text: &[u8], path: &Path) -> Result<Vec<Line>, PaymentsError> {
    let lines = text.split(|byte| *byte == b'\n').zip(1..).filter(|(line, _)| !line.is_empty());
    let read = |(text, line): (&[u8], usize)| {
        let path = || PathBuf::from(path);
        serde_json::from_slice(text).map_err(|source| PaymentsError::LogLine {
            path: path(),
            line,
            source,
        })
    };
    lines.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_is_dropped_and_the_next_one_begins_where_it_did() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("payments.jsonl");
        let (mut log, lines) = Log::open(Some(&path)).unwrap();
        assert!(lines.is_empty());
        let first = Line { amount: Some(500), ..Line::now(Event::Charge, "17:pay") };
        log.write(&first).unwrap();
        let mut text = fs::read(&path).unwrap();
        text.extend(b"{\"at_us\":1,\"ev");
        fs::write(&path, &text).unwrap();

        let (mut log, lines) = Log::open(Some(&path)).unwrap();
        assert_eq!(lines, std::slice::from_ref(&first));
        let second = Line::now(Event::StateRequest, "17:pay");
        log.write(&second).unwrap();
        assert_eq!(Log::open(Some(&path)).unwrap().1, [first, second]);
    }

    #[test]
    fn a_line_of_somebody_else_is_refused_with_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("payments.jsonl");
        fs::write(&path, "\n{\"level\":\"info\"}\n").unwrap();
        let error = Log::open(Some(&path)).unwrap_err();
        assert!(matches!(error, PaymentsError::LogLine { line: 2, .. }), "{error}");
    }
}
