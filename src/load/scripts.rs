//! Scripts: attempts that follow each other, each once the one before has been answered.
//!
//! Each script has a client of its own, and a few clients are at work at a time: what is looked for
//! here is order, not load.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::history::PhaseId;

use super::asker::Asker;
use super::compose::PlannedAttempt;
use super::desk::{Answered, Desk};
use super::tasks::joined;

/// Scripts that are played at once.
pub(super) const AT_ONCE: usize = 64;

/// Plays all scripts to their ends; the last answers, in the order of the scripts.
pub(super) async fn play(
    desk: &Arc<Desk>,
    phase: PhaseId,
    scripts: Vec<Vec<PlannedAttempt>>,
) -> Vec<Option<Answered>> {
    let mut answers: Vec<_> = scripts.iter().map(|_| None).collect();
    let mut waiting = scripts.into_iter().enumerate();
    let mut at_work = JoinSet::new();
    loop {
        while at_work.len() < AT_ONCE
            && let Some((place, script)) = waiting.next()
        {
            at_work.spawn(play_one(Arc::clone(desk), phase, place, script));
        }
        match at_work.join_next().await {
            Some(end) => {
                let Some((place, answer)) = joined(end) else { continue };
                answers[place] = answer;
            }
            None => return answers,
        }
    }
}

async fn play_one(
    desk: Arc<Desk>,
    phase: PhaseId,
    place: usize,
    script: Vec<PlannedAttempt>,
) -> (usize, Option<Answered>) {
    let Some(first) = script.first() else { return (place, None) };
    let mut asker = Asker::new(desk, Arc::clone(&first.letter));
    let mut last = None;
    for planned in &script {
        last = Some(asker.play(planned, phase).await);
    }
    (place, last)
}
