//! Stops and resumes the target's instances for a frozen release: `load` decides when, `chaos` how.
//!
//! An instance may be several processes: a launcher such as `npm start` and the service that came of
//! it. All of them are stopped, parents first, until a look finds nobody new: what is stopped can't
//! fork. They go on children first, so that no parent sees a child that stands still.

use std::collections::HashSet;
use std::fmt;
use std::time::Instant;

use tokio::sync::Mutex;

use super::ground::Instance;
use crate::chaos::{self, Paused};
use crate::guard::{self, Journal, ProcessId};
use crate::history::InstanceId;
use crate::load::{Freezer, Freezing};

/// All instances that have processes of ours. Dropping it resumes what is still stopped.
pub(super) struct GroundFreezer {
    instances: Vec<(InstanceId, String, ProcessId)>,
    journal: Journal,
    paused: Mutex<Vec<(InstanceId, Vec<Paused>)>>,
}

impl GroundFreezer {
    pub(super) fn new(instances: &[Instance], journal: Journal) -> Self {
        let instances = instances.iter().filter_map(|instance| {
            Some((instance.target.id, instance.name.clone(), instance.process?))
        });
        Self { instances: instances.collect(), journal, paused: Mutex::default() }
    }

    /// Stops what came of `root` and isn't in `paused` yet, until there is nothing more.
    async fn pause_family(
        &self,
        name: &str,
        root: ProcessId,
        paused: &mut Vec<Paused>,
    ) -> Result<(), String> {
        let mut known = HashSet::new();
        loop {
            let news: Vec<ProcessId> =
                guard::family(root).into_iter().filter(|process| known.insert(*process)).collect();
            if news.is_empty() {
                return Ok(());
            }
            for process in news {
                match chaos::pause(&process, &self.journal).await {
                    Ok(stopped) => paused.push(stopped),
                    Err(error) if error.is_end_of_process() => {}
                    Err(error) => return Err(format!("{name}: {}", full(&error))),
                }
            }
        }
    }
}

impl fmt::Debug for GroundFreezer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("GroundFreezer")
            .field("instances", &self.instances)
            .finish_non_exhaustive()
    }
}

impl Freezer for GroundFreezer {
    /// An instance that has ended can't be stopped; its attempts find that out by themselves.
    fn freeze(&self) -> Freezing<'_, ()> {
        Box::pin(async {
            let mut paused = self.paused.lock().await;
            for (id, name, process) in &self.instances {
                paused.push((*id, Vec::new()));
                let (_, family) = paused.last_mut().expect("it was pushed");
                self.pause_family(name, *process, family).await?;
            }
            paused.retain(|(_, family)| !family.is_empty());
            Ok(())
        })
    }

    /// One that has ended while it was frozen isn't resumed; its end is told by those who watch it.
    fn thaw(&self) -> Freezing<'_, Vec<(InstanceId, Instant)>> {
        Box::pin(async {
            let paused = std::mem::take(&mut *self.paused.lock().await);
            let mut owners = Vec::new();
            let mut all = Vec::new();
            for (id, family) in paused {
                owners.extend(family.iter().map(|_| id));
                all.push(family.into_iter().rev().collect());
            }
            let mut moments: Vec<(InstanceId, Instant)> = Vec::new();
            for (id, resumed) in owners.into_iter().zip(chaos::resume_all(all).await) {
                match resumed {
                    Ok(resumed) => note_first(&mut moments, id, resumed.sent),
                    Err(error) if error.is_end_of_process() => {}
                    Err(error) => return Err(full(&error)),
                }
            }
            Ok(moments)
        })
    }
}

/// An instance goes on when the first of its processes does: no answer of it can be older.
fn note_first(moments: &mut Vec<(InstanceId, Instant)>, id: InstanceId, sent: Instant) {
    match moments.iter_mut().find(|(known, _)| *known == id) {
        Some((_, first)) => *first = sent.min(*first),
        None => moments.push((id, sent)),
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
