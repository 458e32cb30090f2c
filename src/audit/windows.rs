//! When each attempt may have been at work in the target, and so have made a step.
//!
//! From its first byte to the end of its reply. One that never got a reply may be at work for ever
//! after, unless the instance that had it ended.

use crate::history::{Attempt, History, InstanceId, IntentId, RunTime};

use super::grouped::Grouped;

#[derive(Debug)]
pub(super) struct Windows<'a> {
    attempts: &'a [Attempt],
    of_intent: Grouped,
    /// By place of the attempt; `None`: it was never sent.
    spans: Vec<Option<Span>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub begin: RunTime,
    pub end: RunTime,
}

impl Span {
    pub fn has(self, moment: RunTime) -> bool {
        self.begin <= moment && moment <= self.end
    }

    const fn meets(self, other: Self) -> bool {
        self.begin.0 <= other.end.0 && other.begin.0 <= self.end.0
    }
}

impl<'a> Windows<'a> {
    /// Without steps nobody asks, and a large run is spared the memory.
    pub fn new(history: &'a History) -> Self {
        let attempts = if history.steps.is_empty() { &[][..] } else { &history.attempts };
        let places = attempts.iter().enumerate();
        let intents = if attempts.is_empty() { 0 } else { history.intents.len() };
        let pairs = places.map(|(place, attempt)| (attempt.intent.0, place as u32));
        Self {
            attempts,
            of_intent: Grouped::new(intents, pairs),
            spans: attempts.iter().map(|attempt| span(history, attempt)).collect(),
        }
    }

    /// Places and windows of the attempts of an intent.
    pub fn of_intent(&self, intent: IntentId) -> impl Iterator<Item = (u32, Span)> {
        let places = self.of_intent.of(intent.0).iter();
        places.filter_map(|&place| Some((place, self.spans[place as usize]?)))
    }

    /// The attempt that was at work for an intent at a moment, if there can have been only one.
    /// `instance`: where the step was made, if that is known.
    pub fn only_one(
        &self,
        intent: IntentId,
        moment: RunTime,
        instance: Option<InstanceId>,
    ) -> Option<u32> {
        let is_there = |place: u32| self.is_at(place, instance);
        let mut at_work = self
            .of_intent(intent)
            .filter(|&(place, span)| span.has(moment) && is_there(place))
            .map(|(place, _)| place);
        at_work.next().filter(|_| at_work.next().is_none())
    }

    /// Whether no other attempt of its intent can have been at work meanwhile: none at all, or, where
    /// every step shows its instance, none at its own.
    pub fn was_alone(&self, place: u32, instances_show: bool) -> bool {
        let attempt = &self.attempts[place as usize];
        let Some(own) = self.spans[place as usize] else { return false };
        let instance = instances_show.then_some(attempt.instance);
        let mut others = self.of_intent(attempt.intent).filter(|&(other, _)| other != place);
        !others.any(|(other, span)| span.meets(own) && self.is_at(other, instance))
    }

    fn is_at(&self, place: u32, instance: Option<InstanceId>) -> bool {
        instance.is_none_or(|instance| self.attempts[place as usize].instance == instance)
    }
}

fn span(history: &History, attempt: &Attempt) -> Option<Span> {
    if !attempt.outcome.was_sent() {
        return None;
    }
    let begin = attempt.first_byte.unwrap_or_default();
    let has_reply = attempt.status.is_some() && attempt.failure.is_none();
    let died = || {
        let exits = history.exits.iter().filter(|exit| exit.instance == attempt.instance);
        exits.map(|exit| exit.at).filter(|&at| at >= begin).min()
    };
    let end = if has_reply { attempt.completed } else { died() };
    Some(Span { begin, end: end.unwrap_or(RunTime(u64::MAX)) })
}
