//! Requests and replies of an HTTP connection become steps: reply k answers request k, interim ones
//! answer nothing.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::history::{Role, RunTime, Step, StepEnd, Wire};
use crate::profile::Failure;
use crate::wire::exchanges::ExchangeId;
use crate::wire::notes::Notes;
use crate::wire::orders::Order;
use crate::wire::rule::WireAct;
use crate::wire::rules::{Carried, Decided};
use crate::wire::shape;

use super::{Message, Reply, Request};

/// Requests that may wait for a reply; with more, a connection isn't followed any more.
const MOST_OWED: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct Tracker {
    owed: VecDeque<Option<ExchangeId>>,
    began: RunTime,
    /// The step of the request that is being read.
    current: Option<ExchangeId>,
    is_over: bool,
}

impl Tracker {
    /// A request begins.
    pub(super) const fn begins(&mut self, now: RunTime) {
        self.began = now;
        self.current = None;
    }

    /// Its head has come.
    pub(super) fn known(&mut self, message: &Message<'_>, notes: &mut Notes) {
        if self.is_over {
            return;
        }
        let Some(request) = Request::of(message) else {
            notes.unnamed();
            return self.owed.push_back(None);
        };
        if notes.driver.is_none() {
            notes.driver = message.header("user-agent").map(|name| name.chars().take(64).collect());
        }
        let observer = Rc::clone(&notes.observer);
        let named = notes.name([message.head].into_iter());
        let object = shape::of_path(request.target, &observer.tokens.borrow());
        let has_effect = !matches!(request.method, "GET" | "HEAD" | "OPTIONS" | "TRACE");
        let name = format!("http {} {object}", request.method);
        let role = observer.guide.role(&name).or(has_effect.then_some(Role::Pay));
        let step = Step {
            object: Some(observer.word(&object)),
            subject: Some(Rc::from(request.target)),
            role,
            intent: named.intent,
            product: named.product,
            ..Step::begun(Wire::Http, notes.link(), observer.word(request.method), self.began)
        };
        self.current = notes.exchanges.open(step, 0);
        match self.current {
            Some(id) => notes.exchanges.is_among(id, named.among),
            None => notes.count(|counts| counts.lost += 1),
        }
        self.owed.push_back(self.current);
        if self.owed.len() > MOST_OWED {
            self.is_over = true;
            notes.stream();
        }
    }

    /// All of it has come, its body included.
    pub(super) fn ended(&mut self, message: &Message<'_>, at: u64, notes: &mut Notes) {
        let Some(id) = self.current.take() else { return };
        notes.exchanges.request_ends(id, at);
        self.name(id, message, notes);
        if notes.is_watchful() {
            let carried = Carried::default();
            if let Some(decided) = notes.step_is_asked(id, message.start, &carried) {
                fail(decided, id, message.start, notes);
            }
        }
    }

    /// What its head didn't tell, its body may.
    fn name(&self, id: ExchangeId, message: &Message<'_>, notes: &mut Notes) {
        let is_open = notes.exchanges.get(id).is_some_and(|at| at.step.intent.is_none());
        if is_open {
            let named = notes.name([message.head, message.body().bytes].into_iter());
            if let Some(exchange) = notes.exchanges.get(id) {
                (exchange.step.intent, exchange.step.product) = (named.intent, named.product);
                exchange.among = named.among;
            }
        }
    }

    /// A reply begins.
    pub(super) fn reply_begins(&self, at: u64, notes: &mut Notes) {
        if let Some(Some(id)) = self.owed.front() {
            notes.reply_begins(*id, at);
        }
    }

    /// A reply has come as a whole.
    pub(super) fn answered(&mut self, message: &Message<'_>, at: u64, notes: &mut Notes) {
        let status = Reply::of(message).map_or(0, |reply| reply.status);
        if (100..200).contains(&status) && status != 101 {
            return;
        }
        let Some(Some(id)) = self.owed.pop_front() else { return };
        let (now, text) = (notes.now, notes.observer.word(&status.to_string()));
        notes.exchanges.reply_ends(id, at);
        let Some(exchange) = notes.exchanges.get(id) else { return };
        exchange.step.answered = Some(now);
        exchange.step.answer = Some(text);
        exchange.step.end = if status < 400 { StepEnd::Done } else { StepEnd::Failed };
        notes.reply_is_known(id);
    }
}

/// The request isn't forwarded, and the client is given a reply that ends its connection.
fn fail(decided: Decided, id: ExchangeId, at: u64, notes: &mut Notes) {
    let WireAct::Fail(Failure::Http { status }) = decided.rule.rule.act else { return };
    let farewell = format!(
        "HTTP/1.1 {status} dupeproof injected\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    let order = Order { farewell: farewell.into_bytes(), ..Order::new(decided, at, id) };
    notes.orders.requests.queue.push_back(order);
}
