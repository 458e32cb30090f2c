//! What a drill tells whoever watches. Events may be lost; facts go to the journal.

use std::sync::Arc;
use std::time::Duration;

use crate::load::Progress;

/// One thing worth showing while it happens.
#[derive(Clone, Debug)]
pub enum Event {
    LabReady {
        took: Duration,
    },
    /// The user's own service is there.
    TargetReady {
        took: Duration,
        about: String,
    },
    PhaseStarted {
        name: String,
        attempts: u64,
        progress: Arc<Progress>,
    },
    PhaseEnded {
        name: String,
        took: Duration,
    },
    InstanceExited {
        name: String,
        status: String,
    },
    /// Something happened on the wires; `more` times again since it was told first.
    Wire {
        what: String,
        more: u64,
    },
    /// Something became of a fault.
    Fault {
        what: String,
    },
    Draining,
    AskingAgain {
        intents: usize,
        progress: Arc<Progress>,
    },
    Judging,
    /// Ctrl-C was heard: the load stops, the audit still follows.
    Interrupted,
}

/// Sees events as they happen; must return at once.
pub trait Watcher: Send + Sync {
    fn see(&self, event: Event);
}
