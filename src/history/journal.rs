//! `journal.jsonl`: append-only, one writer, written as it goes, sealed at the end.
//!
//! The writer is a thread of its own behind a bounded channel, so that a slow disk slows the drill
//! down but never loses a fact. When the disk refuses (full, read-only), the writer keeps what it
//! has, remembers the first error and drops the rest; whoever conducts the run asks
//! [`Recorder::trouble`] and stops.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc;

use super::{Fact, Secrets};

/// Facts that may wait for the disk.
const WAITING_FACTS: usize = 4_096;

/// Facts that are taken off the channel in one go.
const BATCH: usize = 256;

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
    to_writer: mpsc::Sender<Fact>,
    secrets: Secrets,
    trouble: Arc<OnceLock<String>>,
    path: Arc<PathBuf>,
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
        let (to_writer, facts) = mpsc::channel(WAITING_FACTS);
        let trouble = Arc::new(OnceLock::new());
        let (seen, hidden) = (Arc::clone(&trouble), secrets.clone());
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || write_all(file, facts, &seen, &hidden))
            .map_err(|source| JournalError::Thread { source })?;
        let path = Arc::new(path.to_owned());
        let recorder =
            Self { to_writer, secrets, trouble: Arc::clone(&trouble), path: Arc::clone(&path) };
        Ok((recorder, JournalWriter { thread, trouble, path }))
    }

    /// Writes a fact down; waits while the disk is behind.
    pub async fn record(&self, fact: Fact) {
        // The writer ends only after every recorder is gone, so this can't fail while we exist.
        let _ = self.to_writer.send(fact).await;
    }

    /// Writes several facts down in their order, and leaves none behind.
    pub async fn record_all(&self, facts: &mut Vec<Fact>) {
        while !facts.is_empty() {
            let some = facts.len().min(BATCH);
            // As above.
            let Ok(places) = self.to_writer.reserve_many(some).await else { return };
            places.zip(facts.drain(..some)).for_each(|(place, fact)| place.send(fact));
        }
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
    mut facts: mpsc::Receiver<Fact>,
    trouble: &OnceLock<String>,
    secrets: &Secrets,
) -> u64 {
    let (mut batch, mut lines) = (Vec::with_capacity(BATCH), Vec::with_capacity(LONGEST_WRITE));
    let mut written = 0;
    while facts.blocking_recv_many(&mut batch, BATCH) > 0 {
        for mut fact in batch.drain(..) {
            secrets.hide_in(&mut fact);
            add_line(&mut lines, &fact);
            written += 1;
        }
        let has_caught_up = facts.is_empty();
        if has_caught_up || lines.len() >= LONGEST_WRITE {
            hand_over(&mut file, &mut lines, trouble);
        }
        if has_caught_up {
            std::thread::sleep(PAUSE);
        }
    }
    add_line(&mut lines, &Fact::Sealed { facts: written });
    hand_over(&mut file, &mut lines, trouble);
    written
}

fn add_line(lines: &mut Vec<u8>, fact: &Fact) {
    serde_json::to_writer(&mut *lines, fact).expect("facts are JSON, and a Vec takes everything");
    lines.push(b'\n');
}

/// Writes the lines, unless the disk has refused before.
fn hand_over(file: &mut File, lines: &mut Vec<u8>, trouble: &OnceLock<String>) {
    if trouble.get().is_none()
        && let Err(error) = file.write_all(lines)
    {
        let _ = trouble.set(error.to_string());
    }
    lines.clear();
}
