//! The steps of one link that aren't over, in the order in which they were asked.
//!
//! A step is stamped where its bytes are: asked when its first byte was read, forwarded and delivered
//! when the write that had its last byte is done. It is over when its reply has been passed on. What a
//! client sends ahead without end is kept up to a limit, and counted beyond it.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::history::{IntentId, RunTime, Step};

use super::orders::Failing;
use super::rules::ArmedRule;
use super::tokens::Among;

/// Steps that may be open on one link. Redis clients load data in pipelines of a million.
const MOST_OPEN: usize = 16 * 1024;

/// Names an open step of this link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExchangeId(u64);

/// A step that is open, or over and not written down yet.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) step: Step<Rc<str>>,
    /// Equal requests have equal numbers.
    pub(super) identity: u64,
    /// Where its request ends among the bytes of the client.
    request_end: Option<u64>,
    /// Where its reply ends among the bytes of the server.
    reply_end: Option<u64>,
    pub(super) is_noise: bool,
    /// Those whose it may be, where that isn't certain.
    pub(super) among: Among,
    /// The rules that mean steps of its kind.
    pub(super) fitting: Vec<Rc<ArmedRule>>,
    /// Where its reply begins, while a rule may still want to withhold it.
    pub(super) reply_begin: Option<u64>,
    /// An error of ours takes the place of its reply.
    pub(super) failing: Option<Rc<Failing>>,
}

impl Exchange {
    pub(super) fn among(&self) -> &[IntentId] {
        self.among.as_deref().map_or(&[], Vec::as_slice)
    }
}

#[derive(Debug, Default)]
pub(super) struct Exchanges {
    open: VecDeque<Exchange>,
    /// The id of the first.
    first: u64,
    /// The first that hasn't been forwarded.
    unforwarded: u64,
    is_ended: bool,
}

impl Exchanges {
    /// A step has begun. None where too many are open.
    pub(super) fn open(&mut self, step: Step<Rc<str>>, identity: u64) -> Option<ExchangeId> {
        if self.open.len() >= MOST_OPEN {
            return None;
        }
        let id = ExchangeId(self.first + self.open.len() as u64);
        self.open.push_back(Exchange {
            step,
            identity,
            request_end: None,
            reply_end: None,
            is_noise: false,
            among: None,
            fitting: Vec::new(),
            reply_begin: None,
            failing: None,
        });
        Some(id)
    }

    pub(super) fn get(&mut self, id: ExchangeId) -> Option<&mut Exchange> {
        let place = usize::try_from(id.0.checked_sub(self.first)?).ok()?;
        self.open.get_mut(place)
    }

    pub(super) fn look(&self, id: ExchangeId) -> Option<&Exchange> {
        let place = usize::try_from(id.0.checked_sub(self.first)?).ok()?;
        self.open.get(place)
    }

    /// The last byte of its request lies before this place.
    pub(super) fn request_ends(&mut self, id: ExchangeId, at: u64) {
        if let Some(exchange) = self.get(id) {
            exchange.request_end = Some(at);
        }
    }

    /// The last byte of its reply lies before this place.
    pub(super) fn reply_ends(&mut self, id: ExchangeId, at: u64) {
        if let Some(exchange) = self.get(id) {
            exchange.reply_end = Some(at);
        }
    }

    /// It turned out to be no step.
    pub(super) fn is_noise(&mut self, id: ExchangeId) {
        if let Some(exchange) = self.get(id) {
            exchange.is_noise = true;
        }
    }

    /// Whether a step has been forwarded when everything up to this place has.
    pub(super) fn waits_to_be_forwarded(&self, to: u64) -> bool {
        let place = self.unforwarded.saturating_sub(self.first) as usize;
        self.open.get(place).is_some_and(|exchange| exchange.request_end.is_some_and(|at| at <= to))
    }

    pub(super) fn forwarded(&mut self, to: u64, now: RunTime) {
        let place = self.unforwarded.saturating_sub(self.first) as usize;
        for exchange in self.open.iter_mut().skip(place) {
            if exchange.request_end.is_none_or(|at| at > to) {
                break;
            }
            exchange.step.forwarded.get_or_insert(now);
            self.unforwarded += 1;
        }
    }

    /// Until now nothing was forwarded of those that are still here.
    pub(super) fn held(&mut self, now: RunTime) {
        let place = self.unforwarded.saturating_sub(self.first) as usize;
        self.open.iter_mut().skip(place).for_each(|exchange| exchange.step.held = Some(now));
    }

    /// Whether a step is over when everything up to this place has been delivered.
    pub(super) fn waits_to_be_delivered(&self, to: u64) -> bool {
        self.open.front().is_some_and(|exchange| exchange.reply_end.is_some_and(|at| at <= to))
    }

    pub(super) fn delivered(&mut self, to: u64, now: RunTime) {
        for exchange in &mut self.open {
            if exchange.reply_end.is_none_or(|at| at > to) {
                break;
            }
            exchange.step.delivered.get_or_insert(now);
        }
    }

    /// Lets go of the steps that are over; `write` is shown each.
    pub(super) fn close(&mut self, mut write: impl FnMut(&Exchange)) {
        let is_over = |exchange: &Exchange| exchange.step.delivered.is_some() || self.is_ended;
        let over = self.open.iter().take_while(|exchange| is_over(exchange));
        let mut count = 0;
        for exchange in over {
            count += 1;
            write(exchange);
        }
        self.open.drain(..count);
        self.first += count as u64;
        self.unforwarded = self.unforwarded.max(self.first);
    }

    /// The link is over, and with it every step.
    pub(super) const fn end(&mut self) {
        self.is_ended = true;
    }

    /// Whose it may be is known.
    pub(super) fn is_among(&mut self, id: ExchangeId, among: Among) {
        if let Some(exchange) = self.get(id)
            && exchange.step.intent.is_none()
        {
            exchange.among = among;
        }
    }

    /// Whether everything that was asked before it is over.
    pub(super) fn is_first(&self, id: ExchangeId) -> bool {
        id.0 <= self.first
    }

    /// Other intents with a step that is open.
    pub(super) fn others(&self, intent: Option<IntentId>) -> Vec<IntentId> {
        let mut others: Vec<_> =
            self.open.iter().filter_map(|exchange| exchange.step.intent).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|other| Some(*other) != intent);
        others
    }

    /// Requests of intents whose client hasn't heard what they came to.
    pub(super) fn undelivered(&self) -> impl Iterator<Item = u64> {
        let open = self.open.iter().filter(|exchange| {
            exchange.step.delivered.is_none()
                && exchange.step.intent.is_some()
                && !exchange.is_noise
        });
        open.map(|exchange| exchange.identity)
    }
}
