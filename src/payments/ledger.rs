//! What was charged and refunded, by id: the same id and content is the same effect again.
//!
//! A decline is as final as a charge. Were a declined id tried anew, then of two requests that ask
//! at once one could be told "declined" and act on it while the other one is charged. Effect and
//! line are made under one lock, so the log has them in the order in which they happened.

use std::{
    collections::HashMap,
    io,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::{
    error::PaymentsError,
    log::{Event, Line, Log},
    mood::{Meeting, Mood},
    plan::Plan,
    settings::Habits,
};

/// The body of `POST /charges`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChargeRequest {
    pub payment_request_id: String,
    pub order_id: String,
    pub user_id: String,
    /// In cents.
    pub amount: i64,
}

/// The body of `POST /refunds`: all of a charge, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefundRequest {
    pub refund_request_id: String,
    pub payment_request_id: String,
    pub amount: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    Succeeded,
    Declined,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    pub request: ChargeRequest,
    pub state: State,
    pub refunded: i64,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done<T> {
    /// Whether just now or before: nobody outside can tell.
    This(T),
    /// The id stands for something else.
    OtherContent,
    /// A refund of what was never charged.
    Unknown,
    /// A refund of more than is left.
    TooMuch,
}

/// Everything that requests share.
#[derive(Debug)]
pub struct Ledger {
    habits: Habits,
    books: Mutex<Books>,
}

#[derive(Debug)]
struct Books {
    log: Log,
    plan: Plan,
    charges: HashMap<String, Charge>,
    refunds: HashMap<String, RefundRequest>,
    /// Charge requests by id, for the draw of the next one.
    asked: HashMap<String, u64>,
    totals: Totals,
}

/// What the control port tells.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    pub charge_requests: u64,
    pub charges: u64,
    pub declined: u64,
    pub refunds: u64,
    /// Charges that something was ordered for and that haven't come yet.
    pub ordered: u64,
}

impl Ledger {
    pub fn open(log: Option<&Path>, habits: Habits) -> Result<Self, PaymentsError> {
        let (log, lines) = Log::open(log)?;
        let mut books = Books {
            log,
            plan: Plan::default(),
            charges: HashMap::new(),
            refunds: HashMap::new(),
            asked: HashMap::new(),
            totals: Totals::default(),
        };
        lines.iter().for_each(|line| books.enter(line));
        Ok(Self { habits, books: Mutex::new(books) })
    }

    /// A charge request has arrived: how it is to be met.
    pub fn note_charge_request(&self, request: &ChargeRequest) -> io::Result<Meeting> {
        let mut books = self.books();
        let id = &request.payment_request_id;
        let nth = books.asked.get(id).copied().unwrap_or(0);
        let ordered = books.plan.take();
        let meeting = ordered.unwrap_or_else(|| Meeting::by_habit(&self.habits, id, nth));
        books.note(&Line { mood: meeting.mood, ..request.line(Event::ChargeRequest) })?;
        Ok(meeting)
    }

    pub fn note_state_request(&self, id: &str) -> io::Result<()> {
        self.books().note(&Line::now(Event::StateRequest, id))
    }

    /// Charges, or declines, unless the id was decided on before.
    pub fn charge(&self, request: &ChargeRequest, mood: Option<Mood>) -> io::Result<Done<Charge>> {
        let mut books = self.books();
        if let Some(charge) = books.charges.get(&request.payment_request_id) {
            let is_same = charge.request == *request;
            return Ok(if is_same { Done::This(charge.clone()) } else { Done::OtherContent });
        }
        let (event, state) = match mood {
            Some(Mood::Decline) => (Event::Decline, State::Declined),
            _ => (Event::Charge, State::Succeeded),
        };
        books.note(&request.line(event))?;
        Ok(Done::This(Charge { request: request.clone(), state, refunded: 0 }))
    }

    pub fn refund(&self, request: &RefundRequest) -> io::Result<Done<RefundRequest>> {
        let mut books = self.books();
        books.note(&request.line(Event::RefundRequest))?;
        if let Some(refund) = books.refunds.get(&request.refund_request_id) {
            let is_same = refund == request;
            return Ok(if is_same { Done::This(refund.clone()) } else { Done::OtherContent });
        }
        let charge = books.charges.get(&request.payment_request_id);
        let Some(charge) = charge.filter(|charge| charge.state == State::Succeeded) else {
            return Ok(Done::Unknown);
        };
        if request.amount > charge.request.amount - charge.refunded {
            return Ok(Done::TooMuch);
        }
        books.note(&request.line(Event::Refund))?;
        Ok(Done::This(request.clone()))
    }

    pub fn find(&self, id: &str) -> Option<Charge> {
        self.books().charges.get(id).cloned()
    }

    /// For the control port.
    pub fn planning<T>(&self, change: impl FnOnce(&mut Plan) -> T) -> T {
        change(&mut self.books().plan)
    }

    pub fn totals(&self) -> Totals {
        let books = self.books();
        Totals { ordered: books.plan.left(), ..books.totals }
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    /// Written first: what isn't in the log has not happened.
    fn note(&mut self, line: &Line) -> io::Result<()> {
        self.log.write(line)?;
        self.enter(line);
        Ok(())
    }

    /// What a line says, whether it is new or was read back.
    fn enter(&mut self, line: &Line) {
        match line.event {
            Event::ChargeRequest => {
                *self.asked.entry(line.id.clone()).or_default() += 1;
                self.totals.charge_requests += 1;
            }
            Event::Charge | Event::Decline => {
                let state = match line.event {
                    Event::Charge => State::Succeeded,
                    _ => State::Declined,
                };
                let counted = match state {
                    State::Succeeded => &mut self.totals.charges,
                    State::Declined => &mut self.totals.declined,
                };
                *counted += 1;
                let request = ChargeRequest::of(line);
                self.charges.insert(line.id.clone(), Charge { request, state, refunded: 0 });
            }
            Event::Refund => {
                let request = RefundRequest::of(line);
                if let Some(charge) = self.charges.get_mut(&line.id) {
                    charge.refunded += request.amount;
                }
                self.totals.refunds += 1;
                self.refunds.insert(request.refund_request_id.clone(), request);
            }
            Event::StateRequest | Event::RefundRequest => {}
        }
    }
}

impl ChargeRequest {
    fn line(&self, event: Event) -> Line {
        Line {
            order: Some(self.order_id.clone()),
            user: Some(self.user_id.clone()),
            amount: Some(self.amount),
            ..Line::now(event, &self.payment_request_id)
        }
    }

    fn of(line: &Line) -> Self {
        Self {
            payment_request_id: line.id.clone(),
            order_id: line.order.clone().unwrap_or_default(),
            user_id: line.user.clone().unwrap_or_default(),
            amount: line.amount.unwrap_or_default(),
        }
    }
}

impl RefundRequest {
    fn line(&self, event: Event) -> Line {
        Line {
            refund: Some(self.refund_request_id.clone()),
            amount: Some(self.amount),
            ..Line::now(event, &self.payment_request_id)
        }
    }

    fn of(line: &Line) -> Self {
        Self {
            refund_request_id: line.refund.clone().unwrap_or_default(),
            payment_request_id: line.id.clone(),
            amount: line.amount.unwrap_or_default(),
        }
    }
}
