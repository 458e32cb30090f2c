//! How a link asks the rules about its steps, and carries out what they order.

use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::history::{
    FaultEvent, FaultFacts, FiredStep, Firing, FiringEnd, Proof, Role, RunTime, Step, StepEnd,
    StepPoint, Wire,
};
use crate::profile::{Failure, Loss};

use super::exchanges::ExchangeId;
use super::fate::{Closing, Fate, Silence};
use super::guide::KeyKind;
use super::notes::Notes;
use super::orders::{Failing, Order, Standing};
use super::rule::{Notice, SeenLease, WireAct};
use super::rules::{ArmedRule, Carried, Decided, Hold, Holder};

/// What became of the orders of a link.
#[derive(Debug)]
pub(super) enum Obeyed {
    /// There is nothing to do now.
    Nothing,
    /// Something that was withheld may go on.
    GoesOn,
    Ends(Fate),
}

/// Whose end is gone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gone {
    pub(super) client: bool,
    pub(super) server: bool,
}

impl Notes {
    /// Whether anything has to wait until it is known.
    pub(super) fn is_watchful(&self) -> bool {
        !self.observer.rules.is_idle()
    }

    /// A step is known whose first byte is at this place. What is handed back is an error that its
    /// protocol knows how to give; everything else is ordered.
    pub(super) fn step_is_asked(
        &mut self,
        id: ExchangeId,
        at: u64,
        carried: &Carried<'_>,
    ) -> Option<Decided> {
        let observer = Rc::clone(&self.observer);
        let (rules, instance, now) = (&observer.rules, self.instance(), self.now);
        let exchange = self.exchanges.get(id)?;
        let among = exchange.among.clone();
        let among = among.as_deref().map_or(&[][..], Vec::as_slice);
        rules.busy.borrow_mut().asked(&exchange.step, among, instance, now);
        let carried = Carried { among, ..*carried };
        exchange.fitting = rules.fitting(&exchange.step, instance, &carried);
        if exchange.fitting.is_empty() || !self.orders.requests.is_in_time(at) {
            return None;
        }
        let points = [StepPoint::Before, StepPoint::InBuffer];
        let decided = rules.decide(&exchange.fitting, &points, &exchange.step, among, now)?;
        match (&decided.rule.rule.act, decided.rule.rule.at.point) {
            (WireAct::Fail(_), _) => return Some(decided),
            (_, StepPoint::InBuffer) => self.orders.forwarded.push(Order::new(decided, at, id)),
            _ => self.orders.requests.queue.push_back(Order::new(decided, at, id)),
        }
        None
    }

    /// The reply to a step begins at this place.
    pub(super) fn reply_begins(&mut self, id: ExchangeId, at: u64) {
        let in_time = self.orders.replies.is_in_time(at);
        let Some(exchange) = self.exchanges.get(id) else { return };
        let is_after = |rule: &Rc<ArmedRule>| rule.rule.at.point == StepPoint::After;
        if exchange.reply_begin.is_none()
            && in_time
            && (exchange.failing.is_some() || exchange.fitting.iter().any(is_after))
        {
            exchange.reply_begin = Some(at);
            self.orders.replies.begins(at);
        }
    }

    /// It is known how a step ended: where a rule wants its reply withheld, it is.
    pub(super) fn reply_is_known(&mut self, id: ExchangeId) {
        let observer = Rc::clone(&self.observer);
        if observer.rules.is_idle() && self.orders.replies.undecided.is_none() {
            return;
        }
        let (rules, instance, now) = (&observer.rules, self.instance(), self.now);
        let Some(exchange) = self.exchanges.get(id) else { return };
        rules.busy.borrow_mut().answered(&exchange.step, exchange.among(), instance, now);
        let step = &exchange.step;
        if step.role == Some(Role::Lock)
            && step.has_effect()
            && let Some(key) = &step.subject
        {
            rules.is_taken(key, Holder { instance, token: step.token });
        }
        let Some(at) = exchange.reply_begin.take() else { return };
        self.orders.replies.undecided = None;
        if !exchange.step.has_effect() {
            return;
        }
        let points = [StepPoint::After];
        let among = exchange.among();
        let decided = rules.decide(&exchange.fitting, &points, &exchange.step, among, now);
        if let Some(decided) = decided {
            self.orders.replies.queue.push_back(Order::new(decided, at, id));
        }
    }

    /// Carries out what is due.
    pub(super) fn obey(&mut self, context: &mut Context<'_>, gone: Gone) -> Obeyed {
        let forwarded = self.orders.forwarded.iter().position(|order| {
            let exchange = self.exchanges.look(order.exchange);
            exchange.is_none_or(|exchange| exchange.step.forwarded.is_some())
        });
        if let Some(place) = forwarded {
            let mut order = self.orders.forwarded.remove(place);
            if matches!(order.decided.rule.rule.act, WireAct::Hold { .. } | WireAct::Delay(_)) {
                // The request is on its way; it is the client that hears nothing more for now.
                order.at = self.orders.replies.passed;
                self.orders.replies.queue.push_front(order);
                return Obeyed::GoesOn;
            }
            if let Some(fate) = self.break_at(order, StepPoint::InBuffer) {
                return Obeyed::Ends(fate);
            }
        }
        match self.obey_at(context, gone, StepPoint::Before) {
            Obeyed::Nothing => self.obey_at(context, gone, StepPoint::After),
            obeyed => obeyed,
        }
    }

    /// The first order of one direction.
    fn obey_at(&mut self, context: &mut Context<'_>, gone: Gone, point: StepPoint) -> Obeyed {
        let lane = match point {
            StepPoint::After => &mut self.orders.replies,
            StepPoint::Before | StepPoint::InBuffer => &mut self.orders.requests,
        };
        let Some(order) = lane.queue.front_mut().filter(|order| lane.passed >= order.at) else {
            return Obeyed::Nothing;
        };
        if let Some(standing) = &mut order.standing {
            let Some(how) = ended(standing, gone, context) else { return Obeyed::Nothing };
            return self.let_go(point, how);
        }
        let rule = Rc::clone(&order.decided.rule);
        let exchange = order.exchange;
        if !rule.is_armed() {
            lane.queue.pop_front();
            return Obeyed::GoesOn;
        }
        match rule.rule.act {
            WireAct::Hold { .. } | WireAct::Delay(_) => self.stand(point),
            // The replies that are owed still come before the end.
            WireAct::DropRequest(_) | WireAct::Fail(_) if !self.exchanges.is_first(exchange) => {
                Obeyed::Nothing
            }
            _ => match self.take_first(point).and_then(|order| self.break_at(order, point)) {
                Some(fate) => Obeyed::Ends(fate),
                None => Obeyed::GoesOn,
            },
        }
    }

    fn take_first(&mut self, point: StepPoint) -> Option<Order> {
        match point {
            StepPoint::After => self.orders.replies.queue.pop_front(),
            StepPoint::Before | StepPoint::InBuffer => self.orders.requests.queue.pop_front(),
        }
    }

    /// A hold or a delay begins.
    fn stand(&mut self, point: StepPoint) -> Obeyed {
        let Some(mut order) = self.take_first(point) else { return Obeyed::Nothing };
        let rule = Rc::clone(&order.decided.rule);
        let hold = self.observer.rules.hold(&rule);
        let (limit, told) = match rule.rule.act {
            WireAct::Hold { limit } => (limit, Some(&hold)),
            WireAct::Delay(time) => (time, None),
            _ => return Obeyed::GoesOn,
        };
        let asked = rule.rule.at.point;
        let Some(firing) = self.fire(&mut order.decided, order.exchange, asked, told) else {
            self.observer.rules.forget(hold.id);
            return Obeyed::GoesOn;
        };
        if rule.rule.ends_when_taken
            && let Some(step) = self.exchanges.look(order.exchange).map(|exchange| &exchange.step)
            && let Some(key) = &step.subject
        {
            let holder = Holder { instance: self.instance(), token: step.token };
            self.observer.rules.await_taking(hold.id, Rc::clone(key), holder);
        }
        let limit = Box::pin(tokio::time::sleep(limit));
        order.standing = Some(Standing { firing, hold, limit });
        if asked != StepPoint::Before {
            self.prove(&rule, firing, order.exchange, asked);
        }
        match point {
            StepPoint::After => self.orders.replies.queue.push_front(order),
            StepPoint::Before | StepPoint::InBuffer => {
                self.orders.requests.queue.push_front(order);
            }
        }
        Obeyed::GoesOn
    }

    /// A hold or a delay is over.
    fn let_go(&mut self, point: StepPoint, how: FiringEnd) -> Obeyed {
        let Some(order) = self.take_first(point) else { return Obeyed::Nothing };
        let Some(standing) = &order.standing else { return Obeyed::Nothing };
        if point == StepPoint::Before {
            self.prove(&order.decided.rule, standing.firing, order.exchange, point);
            self.exchanges.held(self.observer.clock.now());
        }
        self.end(&order, how);
        // What a client asks and doesn't wait for was never sent, as far as the server knows (S13).
        let is_discarded = point == StepPoint::Before && how == FiringEnd::ClientLeft;
        if is_discarded { Obeyed::Ends(Fate::Reset) } else { Obeyed::GoesOn }
    }

    /// The link is over: so is everything that stood on it.
    pub(super) fn end_orders(&mut self, how: FiringEnd) {
        let orders = std::mem::take(&mut self.orders);
        let standing = orders.requests.queue.iter().chain(&orders.replies.queue);
        for order in standing {
            if order.standing.is_some() && order.decided.rule.rule.at.point == StepPoint::Before {
                let firing = order.standing.as_ref().map_or(0, |standing| standing.firing);
                self.prove(&order.decided.rule, firing, order.exchange, StepPoint::Before);
            }
            self.end(order, how);
        }
    }

    fn end(&self, order: &Order, how: FiringEnd) {
        let Some(standing) = &order.standing else { return };
        let (rules, now) = (&self.observer.rules, self.observer.clock.now());
        rules.forget(standing.hold.id);
        rules.ended(order.decided.rule.rule.fault, standing.firing, now, how);
    }

    /// The link ends here, in the way that its rule says.
    fn break_at(&mut self, mut order: Order, point: StepPoint) -> Option<Fate> {
        let rule = Rc::clone(&order.decided.rule);
        let firing = self.fire(&mut order.decided, order.exchange, point, None)?;
        self.prove(&rule, firing, order.exchange, point);
        let loss = match rule.rule.act {
            WireAct::DropRequest(loss) | WireAct::DropReply(loss) => loss,
            WireAct::BlackHole => Loss::Stall,
            WireAct::Fail(_) => Loss::Close,
            _ => Loss::Reset,
        };
        let now = self.observer.clock.now();
        if loss != Loss::Stall {
            self.observer.rules.ended(rule.rule.fault, firing, now, FiringEnd::AtOnce);
        }
        Some(match loss {
            Loss::Reset => Fate::Reset,
            Loss::Close => Fate::Closing(Closing::new(Some((rule, firing)), order.farewell)),
            Loss::Stall => Fate::Silent(Silence::Rule { rule, firing }),
        })
    }

    /// A step is not going to be done: its protocol puts something else in its place. False where
    /// nobody could be told, and then nothing is done.
    pub(super) fn begin_to_fail(
        &mut self,
        mut decided: Decided,
        id: ExchangeId,
        failure: Failure,
        ends_transaction: bool,
    ) -> bool {
        let Some(firing) = self.fire(&mut decided, id, StepPoint::Before, None) else {
            return false;
        };
        let Some(exchange) = self.exchanges.get(id) else { return false };
        let failing = Failing { decided, firing, failure, ends_transaction };
        exchange.failing = Some(Rc::new(failing));
        true
    }

    /// The server has answered what stood in the place of the step, and the client is given this.
    pub(super) fn has_failed(&self, failing: &Failing, error: &str) {
        let (rules, now) = (&self.observer.rules, self.observer.clock.now());
        let fault = failing.decided.rule.rule.fault;
        let proof = Proof::ErrorDelivered { error: error.to_owned() };
        rules.effect(fault, failing.firing, now, proof);
        rules.ended(fault, failing.firing, now, FiringEnd::AtOnce);
    }

    /// What stood in the place of the step was never reached, or nobody could be told of it.
    pub(super) fn has_not_failed(&self, failing: &Failing, how: FiringEnd) {
        let (rules, now) = (&self.observer.rules, self.observer.clock.now());
        rules.ended(failing.decided.rule.rule.fault, failing.firing, now, how);
    }

    /// The client has closed its end behind ours.
    pub(super) fn client_is_cut_off(&self, rule: &ArmedRule, firing: u32) {
        let now = self.observer.clock.now();
        self.observer.rules.effect(rule.rule.fault, firing, now, Proof::ClientCutOff);
    }

    /// The fault that silenced the link is healed.
    pub(super) fn is_silent_no_more(&self, silence: &Silence) {
        if let Silence::Rule { rule, firing } = silence {
            let now = self.observer.clock.now();
            self.observer.rules.ended(rule.rule.fault, *firing, now, FiringEnd::Healed);
        }
    }

    /// What the other side shows of a firing.
    fn prove(&self, rule: &ArmedRule, firing: u32, id: ExchangeId, point: StepPoint) {
        let step = self.exchanges.look(id).map(|exchange| &exchange.step);
        let proof = match point {
            StepPoint::Before => match step {
                Some(step) if step.end != StepEnd::Unanswered => return,
                _ => Proof::ServerNotAsked,
            },
            StepPoint::InBuffer => Proof::RequestForwarded,
            StepPoint::After => match step.and_then(|step| step.answer.as_deref()) {
                Some(answer) => Proof::ServerAnswered { answer: answer.to_owned() },
                None => return,
            },
        };
        self.observer.rules.effect(rule.rule.fault, firing, self.observer.clock.now(), proof);
    }

    /// A rule is applied now: from here on its occurrence is used up. None where nobody could be told,
    /// and then nothing is done.
    pub(super) fn fire(
        &self,
        decided: &mut Decided,
        id: ExchangeId,
        point: StepPoint,
        hold: Option<&Rc<Hold>>,
    ) -> Option<u32> {
        let observer = &self.observer;
        let (rules, fault) = (&observer.rules, decided.rule.rule.fault);
        let exchange = self.exchanges.look(id)?;
        let (step, among) = (&exchange.step, exchange.among());
        let whose = step.intent.or(among.first().copied());
        let number = rules.next_firing(fault);
        let fired = Firing {
            number,
            decided: decided.at,
            step: Some(FiredStep {
                link: self.link(),
                asked: step.asked,
                wire: step.wire,
                name: step.name(),
                point,
                intent: step.intent,
                among: if step.intent.is_none() { among.to_vec() } else { Vec::new() },
                product: step.product,
                subject: step.subject.as_deref().map(str::to_owned),
                backend: self.backend,
            }),
            instance: self.instance(),
            also_hit: self.exchanges.others(step.intent),
        };
        let at: RunTime = observer.clock.now();
        let facts = FaultFacts { fault, at, event: FaultEvent::Fired(fired) };
        let notice = Notice {
            facts,
            hold: hold.map(|hold| hold.id),
            lease: self
                .lease_of(step)
                .or_else(|| whose.and_then(|intent| rules.busy.borrow().lease(intent))),
            keys: whose.map_or_else(Vec::new, |intent| rules.busy.borrow().keys(intent)),
        };
        let is_told = rules.tell(notice);
        if is_told {
            decided.applied();
        }
        is_told.then_some(number)
    }
}

impl Notes {
    /// The lease that a step is about by itself: one that it asks for, looks at, prolongs or removes.
    fn lease_of(&self, step: &Step<Rc<str>>) -> Option<SeenLease> {
        let key = step.subject.as_ref().filter(|_| step.wire == Wire::Redis)?;
        let is_lease = self.observer.guide.kind_of_key(key, false) == KeyKind::Lease;
        is_lease.then(|| SeenLease {
            key: key.to_string(),
            life: step.lease_ms.map(Duration::from_millis),
            granted: step.asked,
            is_anothers: self.observer.rules.busy.borrow().is_anothers(step, self.instance()),
        })
    }
}

/// How a hold or a delay ended, if it has.
fn ended(standing: &mut Standing, gone: Gone, context: &mut Context<'_>) -> Option<FiringEnd> {
    if gone.client {
        return Some(FiringEnd::ClientLeft);
    }
    if gone.server {
        return Some(FiringEnd::ServerClosed);
    }
    if let Some(how) = standing.hold.poll(context.waker()) {
        return Some(how);
    }
    match standing.limit.as_mut().poll(context) {
        Poll::Ready(()) => Some(FiringEnd::TimeOver),
        Poll::Pending => None,
    }
}
