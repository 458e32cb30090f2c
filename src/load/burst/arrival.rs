//! The arrivals that aren't one instant. Some services stand an instant well and fail when
//! duplicates come a few milliseconds apart, while the first one is at work, or as it ends.
//!
//! All requests are prepared up to their last byte in any case, so that the moment at which the
//! target can begin is the one that was planned, on a thread's sleep and not on a runtime's timer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::load::error::LoadError;
use crate::load::run::Load;

use super::board::{Board, Departure};
use super::volley::{self, Trigger};

/// What `spread` takes a first attempt to last while none has been seen.
const FIRST_GUESS: Duration = Duration::from_millis(20);

/// How much larger each round of `spread` is than the one before.
const GROWTH: usize = 4;

impl Load {
    /// The attempts of a group this far apart. Groups begin evenly within one gap, so that they
    /// overlap and their bytes don't all leave in the same instants.
    pub(super) async fn staggered(
        &self,
        triggers: Vec<Trigger>,
        gap: Duration,
        board: &Arc<Board>,
        halt: &CancellationToken,
    ) -> Result<(), LoadError> {
        self.keep_pace(schedule(groups(triggers), |_| gap, gap), board, halt).await
    }

    /// The attempts of a group evenly over the time that its first one takes. That time is the
    /// median of the first attempts seen so far, so groups leave in rounds of 1, 4, 16 and so on,
    /// each once the firsts of the round before have been answered. No extra request is sent to
    /// measure it; the price is that the one group of the first round goes by a guess.
    pub(super) async fn spread(
        &self,
        triggers: Vec<Trigger>,
        board: &Arc<Board>,
        halt: &CancellationToken,
    ) -> Result<(), LoadError> {
        let mut waiting = groups(triggers).into_iter();
        let (mut round, mut seen) = (1, Vec::new());
        loop {
            let groups: Vec<_> = waiting.by_ref().take(round).collect();
            if groups.is_empty() || halt.is_cancelled() {
                return Ok(());
            }
            let firsts: Vec<_> = groups.iter().map(|group| group[0].place).collect();
            let takes = median(&mut seen).unwrap_or(FIRST_GUESS);
            let gap = |threads: usize| takes / threads as u32;
            let longest = gap(groups.iter().map(Vec::len).min().unwrap_or(1));
            self.keep_pace(schedule(groups, gap, longest), board, halt).await?;
            for place in firsts {
                let left = board.departed(place).last_byte;
                let answered = tokio::select! {
                    biased;
                    () = halt.cancelled() => return Ok(()),
                    answered = board.answer(place) => answered,
                };
                seen.extend(left.map(|left| answered.since(left)));
            }
            round *= GROWTH;
        }
    }

    /// The first attempt of each group alone; all others of it as its reply arrives, whatever that
    /// is. The client that reads the reply sends them itself.
    pub(super) async fn around_completion(
        &self,
        triggers: Vec<Trigger>,
        board: &Arc<Board>,
        halt: &CancellationToken,
    ) -> Result<(), LoadError> {
        let clock = self.settings.clock;
        let (mut firsts, mut last) = (Vec::new(), Vec::new());
        for mut group in groups(triggers) {
            let others = group.split_off(1);
            last.extend(others.last().map(|trigger| trigger.place));
            let first = group.remove(0);
            board.follow(first.place, others, clock);
            firsts.push((Duration::ZERO, first));
        }
        self.keep_pace(firsts, board, halt).await?;
        for place in last {
            tokio::select! {
                biased;
                () = halt.cancelled() => return Ok(()),
                _ = board.departure(place) => {}
            }
        }
        Ok(())
    }

    async fn keep_pace(
        &self,
        schedule: Vec<(Duration, Trigger)>,
        board: &Arc<Board>,
        halt: &CancellationToken,
    ) -> Result<(), LoadError> {
        // Each leaves at its moment, whatever is answered meanwhile.
        self.tell_schedule(&schedule);
        let (board, clock) = (Arc::clone(board), self.settings.clock);
        let tell = move |trigger: &Trigger, left: Option<Instant>| {
            let left = left.map(|left| clock.at(left));
            board.depart(trigger.place, Departure { last_byte: left, released: left });
        };
        volley::pace(schedule, halt.clone(), tell).await
    }
}

/// Triggers by what they contend for; none is empty.
fn groups(triggers: Vec<Trigger>) -> Vec<Vec<Trigger>> {
    let mut groups: Vec<Vec<Trigger>> = Vec::new();
    for trigger in triggers {
        match groups.last_mut() {
            Some(group) if group[0].key == trigger.key => group.push(trigger),
            _ => groups.push(vec![trigger]),
        }
    }
    groups
}

/// When each byte leaves, from the start: a group's bytes one gap apart, the groups' beginnings spread over
/// `beginning`. In the order of the moments.
fn schedule(
    groups: Vec<Vec<Trigger>>,
    gap: impl Fn(usize) -> Duration,
    beginning: Duration,
) -> Vec<(Duration, Trigger)> {
    let count = groups.len() as u32;
    let mut schedule = Vec::new();
    for (group, number) in groups.into_iter().zip(0..) {
        let gap = gap(group.len());
        let begin = beginning * number / count;
        let moments = (0..).map(|place| begin + gap * place);
        schedule.extend(moments.zip(group));
    }
    schedule.sort_by_key(|(due, _)| *due);
    schedule
}

fn median(seen: &mut [Duration]) -> Option<Duration> {
    seen.sort_unstable();
    seen.get(seen.len() / 2).copied()
}
