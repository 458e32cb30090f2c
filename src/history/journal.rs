//! `journal.jsonl`: append-only, one writer, written as it goes, sealed at the end.
//!
//! Facts become lines where they are recorded, and travel as bytes: to hand over a struct with its
//! texts costs more than the line. The writer is a thread of its own behind a bounded channel, so
//! that a slow disk slows the drill down but never loses a fact. When the disk refuses (full, read-only), the writer keeps what it
//! has, remembers the first error and drops the rest; whoever conducts the run asks
//! [`Recorder::trouble`] and stops.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc;

use super::line::{write_attempt, write_intent, write_step};
use super::{Attempt, Fact, Intent, Secrets, Step};

/// Parcels of lines that may wait for the disk, a few MB together.
const WAITING: usize = 128;

/// Bytes of lines that make a parcel. Allocators go through all their free memory when they get more
/// than this back at once.
const PARCEL: usize = 32 * 1024;

/// Bytes of lines that are gathered before they are handed to the kernel.
const LONGEST_WRITE: usize = 64 * 1024;

/// How long the writer stays away once it has caught up. To wake a thread and to write a line cost
/// more than the line itself; two hundred times a second is often enough.
const PAUSE: Duration = Duration::from_millis(5);

/// What can go wrong with the journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("cannot create the journal {path}")]
    Create { path: PathBuf, source: std::io::Error },
    #[error("cannot start the thread that writes the journal")]
    Thread { source: std::io::Error },
    #[error("cannot write the journal {path}: {reason}")]
    Write { path: PathBuf, reason: String },
}

/// Takes facts from anywhere in the run. Cheap to clone; the journal ends when the last clone
/// has gone; then [`JournalWriter::seal`] closes it.
#[derive(Clone, Debug)]
pub struct Recorder {
    to_writer: mpsc::Sender<Lines>,
    secrets: Secrets,
    trouble: Arc<OnceLock<String>>,
    path: Arc<PathBuf>,
}

/// Lines of the journal that are gathered, in their order, before they are recorded together.
#[derive(Debug)]
pub struct Lines {
    text: Vec<u8>,
    facts: u64,
    secrets: Secrets,
}

/// The writing end; kept by whoever opened the journal.
#[derive(Debug)]
pub struct JournalWriter {
    thread: JoinHandle<u64>,
    trouble: Arc<OnceLock<String>>,
    path: Arc<PathBuf>,
}

impl Recorder {
    /// Creates `journal.jsonl` at `path`, which must not exist yet.
    pub fn create(path: &Path) -> Result<(Self, JournalWriter), JournalError> {
        Self::hiding(path, Secrets::default())
    }

    /// The same; what is secret is written by its name.
    pub fn hiding(path: &Path, secrets: Secrets) -> Result<(Self, JournalWriter), JournalError> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(|source| JournalError::Create { path: path.to_owned(), source })?;
        let (to_writer, facts) = mpsc::channel(WAITING);
        let trouble = Arc::new(OnceLock::new());
        let seen = Arc::clone(&trouble);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || write_all(file, facts, &seen))
            .map_err(|source| JournalError::Thread { source })?;
        let path = Arc::new(path.to_owned());
        let recorder =
            Self { to_writer, secrets, trouble: Arc::clone(&trouble), path: Arc::clone(&path) };
        Ok((recorder, JournalWriter { thread, trouble, path }))
    }

    /// Writes a fact down; waits while the disk is behind.
    pub async fn record(&self, fact: Fact) {
        let mut lines = self.lines();
        lines.add(fact);
        self.send(lines).await;
    }

    /// A place to gather lines in.
    pub fn lines(&self) -> Lines {
        Lines { text: Vec::new(), facts: 0, secrets: self.secrets.clone() }
    }

    /// The same, with room for about as much as is recorded at once.
    pub fn parcel(&self) -> Lines {
        Lines { text: Vec::with_capacity(PARCEL + PARCEL / 4), ..self.lines() }
    }

    /// Writes down what was gathered, and leaves nothing behind.
    pub async fn record_all(&self, lines: &mut Lines) {
        if lines.facts > 0 {
            let next = Lines { text: Vec::with_capacity(lines.text.len()), ..self.lines() };
            self.send(std::mem::replace(lines, next)).await;
        }
    }

    async fn send(&self, lines: Lines) {
        // The writer ends only after every recorder is gone, so this can't fail while we exist.
        let _ = self.to_writer.send(lines).await;
    }

    /// A secret that came up in the middle of the run, such as the token of a login: from now on it
    /// is written as `shown`.
    pub fn hide(&self, value: &str, shown: &str) {
        self.secrets.hide(value, shown);
    }

    /// The first refusal of the disk, if there was one.
    pub fn trouble(&self) -> Option<JournalError> {
        trouble(&self.trouble, &self.path)
    }
}

impl Lines {
    /// Adds the line of a fact; what is secret is written by its name.
    pub fn add(&mut self, mut fact: Fact) {
        match &mut fact {
            Fact::Intent(intent) => return self.add_intent(intent),
            Fact::Attempt(attempt) => return self.add_attempt(attempt),
            _ => self.secrets.hide_in(&mut fact),
        }
        add_line(self.begun(), &fact);
    }

    /// The same for an intent.
    pub fn add_intent(&mut self, intent: &Intent) {
        write_intent(self.begun(), intent);
    }

    /// The same for an attempt, in which secrets are then hidden too.
    pub fn add_attempt(&mut self, attempt: &mut Attempt) {
        self.secrets.hide_in_attempt(attempt);
        write_attempt(self.begun(), attempt);
    }

    /// The same for a step, whose secrets are hidden in the line.
    pub fn add_step<Text: AsRef<str>>(&mut self, step: &Step<Text>) {
        if self.secrets.are_none() {
            write_step(self.begun(), step);
        } else {
            let step = self.secrets.hidden_in_step(step);
            write_step(self.begun(), &step);
        }
    }

    /// How much has been gathered.
    pub const fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Whether it is time to record them.
    pub const fn are_many(&self) -> bool {
        self.text.len() >= PARCEL
    }

    fn begun(&mut self) -> &mut Vec<u8> {
        self.facts += 1;
        &mut self.text
    }
}

impl JournalWriter {
    /// Waits until everything is on disk, after all recorders are gone, and writes the seal.
    pub fn seal(self) -> Result<u64, JournalError> {
        let facts = self.thread.join().map_err(|_| JournalError::Write {
            path: self.path.to_path_buf(),
            reason: "the writing thread ended early".to_owned(),
        })?;
        match trouble(&self.trouble, &self.path) {
            Some(error) => Err(error),
            None => Ok(facts),
        }
    }
}

fn trouble(cell: &OnceLock<String>, path: &Path) -> Option<JournalError> {
    let reason = cell.get()?.clone();
    Some(JournalError::Write { path: path.to_owned(), reason })
}

fn write_all(
    mut file: File,
    mut parcels: mpsc::Receiver<Lines>,
    trouble: &OnceLock<String>,
) -> u64 {
    let (mut written, mut text) = (0, Vec::new());
    while let Some(lines) = parcels.blocking_recv() {
        written += lines.facts;
        match text.is_empty() {
            true => text = lines.text,
            false => text.extend_from_slice(&lines.text),
        }
        let has_caught_up = parcels.is_empty();
        if has_caught_up || text.len() >= LONGEST_WRITE {
            hand_over(&mut file, &mut text, trouble);
        }
        if has_caught_up {
            std::thread::sleep(PAUSE);
        }
    }
    add_line(&mut text, &Fact::Sealed { facts: written });
    hand_over(&mut file, &mut text, trouble);
    written
}

fn add_line(text: &mut Vec<u8>, fact: &Fact) {
    serde_json::to_writer(&mut *text, fact).expect("facts are JSON, and a Vec takes everything");
    text.push(b'\n');
}

/// Writes the lines, unless the disk has refused before.
fn hand_over(file: &mut File, text: &mut Vec<u8>, trouble: &OnceLock<String>) {
    if trouble.get().is_none()
        && let Err(error) = file.write_all(text)
    {
        let _ = trouble.set(error.to_string());
    }
    text.clear();
}
