//! Progress on stderr: a bar on a terminal, elsewhere one line a phase and one every ten seconds.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::failure::set_out;
use crate::drill::{Event, Watcher};
use crate::load::{Progress, ProgressNow};
use crate::report::format::{counted, duration_us, thousands};

/// Between two plain lines of one phase.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Between two looks at the counters.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Tells a drill's progress.
#[derive(Debug)]
pub struct Narrator {
    on_terminal: bool,
    current: Mutex<Option<Watching>>,
}

/// A thread that looks at a phase's counters until it is told to stop.
#[derive(Debug)]
struct Watching {
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watching {
    fn end(self) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        let _ = self.thread.join();
    }
}

/// A narrator that suits stderr.
pub fn narrator() -> Narrator {
    Narrator { on_terminal: std::io::stderr().is_terminal(), current: Mutex::new(None) }
}

impl Narrator {
    fn replace(&self, next: Option<Watching>) {
        let before = {
            let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, next)
        };
        if let Some(before) = before {
            before.end();
        }
    }

    fn watch(&self, title: String, total: u64, progress: Arc<Progress>) {
        self.replace(None);
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let on_terminal = self.on_terminal;
        let thread = std::thread::spawn(move || {
            if on_terminal {
                bar(&title, total, &progress, &seen);
            } else {
                lines(&title, total, &progress, &seen);
            }
        });
        self.replace(Some(Watching { over, thread }));
    }
}

impl Watcher for Narrator {
    fn see(&self, event: Event) {
        match event {
            Event::PhaseStarted { name, attempts, progress } => {
                self.watch(name, attempts, progress);
            }
            Event::AskingAgain { intents, progress } => {
                let intents = intents as u64;
                let title = format!("asking again for {}", counted(intents, "intent", "intents"));
                self.watch(title, intents, progress);
            }
            Event::PhaseEnded { name, took } => {
                self.replace(None);
                super::note(&format!("  {name}: done in {}", short(took)));
            }
            Event::LabReady { took } => super::note(&format!("  lab ready in {}", short(took))),
            Event::TargetReady { took, about } => {
                let text = format!("target ready in {}: {about}", short(took));
                super::note(set_out("  ", 4, &text).trim_end());
            }
            Event::InstanceExited { name, status } => {
                super::note(&format!("  {name} ended, and not by the drill: {status}"));
            }
            Event::Wire { what, more: 0 } => super::note(set_out("  ", 4, &what).trim_end()),
            Event::Wire { what, more } => {
                let text = format!("{} more on the wires like this: {what}", thousands(more));
                super::note(set_out("  ", 4, &text).trim_end());
            }
            Event::Fault { what } => super::note(set_out("  ", 4, &what).trim_end()),
            Event::Draining => {
                self.replace(None);
                super::note("  waiting until nothing can change any more");
            }
            Event::Judging => {
                self.replace(None);
                super::note("  judging");
            }
            Event::Interrupted => {
                super::note(
                    "  interrupted: the load stops, the audit follows (Ctrl-C again ends at once)",
                );
            }
        }
    }
}

impl Drop for Narrator {
    fn drop(&mut self) {
        self.replace(None);
    }
}

/// What has happened since a phase began; the counters are the whole run's.
#[derive(Clone, Copy)]
struct Since(ProgressNow);

impl Since {
    fn retries(self, now: &ProgressNow) -> u64 {
        now.retries.saturating_sub(self.0.retries)
    }

    /// First attempts that were answered: a retry that has been sent isn't one more of the plan.
    fn answered(self, now: &ProgressNow, total: u64) -> u64 {
        let answers = now.answered.saturating_sub(self.0.answered);
        answers.saturating_sub(self.retries(now)).min(total)
    }

    fn state(self, now: &ProgressNow) -> String {
        if now.released == self.0.released {
            let connected = now.connected.saturating_sub(self.0.connected);
            format!("{} connected", thousands(connected))
        } else {
            format!("{} retries", thousands(self.retries(now)))
        }
    }
}

fn bar(title: &str, total: u64, progress: &Progress, over: &AtomicBool) {
    let since = Since(progress.now());
    let style = ProgressStyle::with_template("  {prefix} [{bar:30}] {pos}/{len} answered  {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    let bar = ProgressBar::new(total).with_style(style).with_prefix(title.to_owned());
    while !over.load(Ordering::Relaxed) {
        let now = progress.now();
        bar.set_position(since.answered(&now, total));
        bar.set_message(since.state(&now));
        std::thread::park_timeout(LOOK_EVERY);
    }
    bar.finish_and_clear();
}

fn lines(title: &str, total: u64, progress: &Progress, over: &AtomicBool) {
    super::note(&format!("  {title}: {} attempts", thousands(total)));
    let since = Since(progress.now());
    let mut last = Instant::now();
    while !over.load(Ordering::Relaxed) {
        if last.elapsed() >= LINE_EVERY {
            let now = progress.now();
            let answered = thousands(since.answered(&now, total));
            let state = since.state(&now);
            super::note(&format!(
                "  {title}: {answered} of {} answered, {state}",
                thousands(total)
            ));
            last = Instant::now();
        }
        std::thread::park_timeout(LOOK_EVERY);
    }
}

fn short(took: Duration) -> String {
    duration_us(took.as_micros() as u64)
}
