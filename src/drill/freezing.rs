//! Stops and resumes the lab's instances for a frozen release: `load` decides when, `chaos` how.

use std::fmt;
use std::time::Instant;

use tokio::sync::Mutex;

use crate::chaos::{self, Paused};
use crate::guard::{Journal, ProcessId};
use crate::history::InstanceId;
use crate::lab::Instance;
use crate::load::{Freezer, Freezing};

/// All instances of the lab. Dropping it resumes what is still stopped.
pub(super) struct LabFreezer {
    instances: Vec<(InstanceId, String, ProcessId)>,
    journal: Journal,
    paused: Mutex<Vec<(InstanceId, Paused)>>,
}

impl LabFreezer {
    pub(super) fn new(instances: &[Instance], journal: Journal) -> Self {
        let instances = instances
            .iter()
            .zip(0..)
            .map(|(instance, id)| (InstanceId(id), instance.name.clone(), instance.process))
            .collect();
        Self { instances, journal, paused: Mutex::default() }
    }
}

impl fmt::Debug for LabFreezer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LabFreezer").field("instances", &self.instances).finish_non_exhaustive()
    }
}

impl Freezer for LabFreezer {
    /// An instance that has ended can't be stopped; its attempts find that out by themselves.
    fn freeze(&self) -> Freezing<'_, ()> {
        Box::pin(async {
            let mut paused = self.paused.lock().await;
            for (id, name, process) in &self.instances {
                if process.has_ended() {
                    continue;
                }
                match chaos::pause(process, &self.journal).await {
                    Ok(stopped) => paused.push((*id, stopped)),
                    Err(error) if error.is_end_of_process() => {}
                    Err(error) => return Err(format!("{name}: {}", full(&error))),
                }
            }
            Ok(())
        })
    }

    /// One that has ended while it was frozen isn't resumed; its end is told by those who watch it.
    fn thaw(&self) -> Freezing<'_, Vec<(InstanceId, Instant)>> {
        Box::pin(async {
            let paused = std::mem::take(&mut *self.paused.lock().await);
            let (ids, paused): (Vec<_>, Vec<_>) = paused.into_iter().unzip();
            let mut resumes = Vec::new();
            let resumed = chaos::resume_all(paused).await;
            for (id, resumed) in ids.into_iter().zip(resumed) {
                match resumed {
                    Ok(resumed) => resumes.push((id, resumed.sent)),
                    Err(error) if error.is_end_of_process() => {}
                    Err(error) => return Err(full(&error)),
                }
            }
            Ok(resumes)
        })
    }
}

/// An error with everything behind it, in one line.
fn full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
