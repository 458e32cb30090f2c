//! The simulated service: records with a claim, a lease for each product, one transaction for stock,
//! order and movement, conditional status changes; and each of its defects.

use dupeproof::history::{Attempt, BodyId, KeyForm, MovementRow, OrderRow, Outcome, Waiting};

use rand::RngExt;

use crate::fixture::{PRODUCT, STARTED_US, forget, put_off, refuse};
use crate::shape::Other;
use crate::simulator::{Event, LEASE, Recent, Record, World};

impl World {
    /// What a record is kept for: the key of a user, the key of the account, or the user under a
    /// business key.
    pub fn subject(&self, intent: u32) -> String {
        let it = &self.drill.history.intents[intent as usize];
        if self.shape.per_user {
            it.user.clone()
        } else if self.shape.account || self.defects.key_not_scoped {
            it.key.clone()
        } else if self.defects.merges_bodies {
            format!("{}/{}", it.user, it.fingerprint)
        } else {
            format!("{}/{}", it.user, it.key)
        }
    }

    fn differs(&self, other: u32, intent: u32) -> bool {
        let print = |intent: u32| &self.drill.history.intents[intent as usize].fingerprint;
        print(other) != print(intent)
    }

    pub fn arrive(&mut self, at: usize) {
        let intent = self.drill.history.attempts[at].intent.0;
        if let Some(outcome) = self.shape.absent {
            return self.answer(at, |attempt| not_found(attempt, outcome));
        }
        if self.chance(self.shape.trouble * 0.2) {
            return self.answer(at, |attempt| refuse(attempt, 429, "shed"));
        }
        let it = &self.drill.history.intents[intent as usize];
        let (form, entity) = (it.key_form, it.entity.clone());
        if it.request == "token" {
            return self.answer(at, issued);
        }
        if let Some(entity) = entity {
            return self.act(at, &entity);
        }
        if !form.is_good() {
            return self.without_key(at, form);
        }
        let subject = self.subject(intent);
        match self.records.get(&subject).cloned() {
            Some(Record::InProgress { intent: other, until, .. }) if until > self.now => {
                let is_compared = self.shape.other == Other::Rejected
                    && !self.defects.no_fingerprint
                    && !self.defects.not_compared_in_progress;
                if self.differs(other, intent) && is_compared {
                    self.mismatch(at);
                } else {
                    self.put_off(at);
                }
            }
            Some(Record::Done { intent: other, order, .. }) if self.differs(other, intent) => {
                self.changed(at, &subject, &order);
            }
            Some(Record::Done { order, body, .. }) if !self.defects.second_order => {
                self.replay(at, &order, body);
            }
            _ => self.claim(at, subject),
        }
    }

    /// A changed request under a finished key.
    fn changed(&mut self, at: usize, subject: &str, order: &str) {
        let Some(Record::Done { body, .. }) = self.records.get(subject) else { return };
        let body = *body;
        if self.defects.upsert {
            let intent = self.drill.history.attempts[at].intent;
            let quantity = self.drill.history.intent(intent).quantity;
            let rows = &mut self.drill.after().orders;
            let row = rows.iter_mut().find(|row| *row.id == *order).unwrap();
            let more = i64::from(quantity) - row.quantity.unwrap();
            row.quantity = Some(i64::from(quantity));
            self.stock -= more;
            return self.replay(at, order, body);
        }
        let rejects = matches!(self.shape.other, Other::Rejected | Other::RejectedOnceDone);
        if rejects && !self.defects.no_fingerprint {
            self.mismatch(at);
        } else {
            self.replay(at, order, body);
        }
    }

    fn mismatch(&mut self, at: usize) {
        if self.defects.rejected_effect {
            self.place_order(at, true);
        }
        self.answer(at, |attempt| refuse(attempt, 409, "mismatch"));
    }

    fn put_off(&mut self, at: usize) {
        let has_hint = !self.defects.no_hint;
        self.answer(at, |attempt| {
            put_off(attempt);
            attempt.waiting = Some(Waiting { retry_after: has_hint, location: false });
        });
    }

    fn replay(&mut self, at: usize, order: &str, body: BodyId) {
        if self.defects.duplicate_500 {
            return self.fail(at);
        }
        let body = match self.defects.other_body {
            true => self.body(&format!("{{\"orderId\":\"{order}\",\"again\":true}}")),
            false => body,
        };
        let (is_marked, status) = (self.shape.marked, if self.shape.marked { 200 } else { 201 });
        let marker = is_marked.then_some(!self.defects.unmarked);
        let unreadable = self.defects.unreadable;
        self.answer(at, |attempt| {
            told(attempt, order, body, status, marker);
            if unreadable {
                (attempt.outcome, attempt.order) = (Outcome::Unknown, None);
                attempt.failure = Some("a 201 with no order id at /orderId".into());
            }
        });
    }

    fn claim(&mut self, at: usize, subject: String) {
        if self.lease.is_some_and(|(_, until)| until > self.now) {
            return self.put_off(at); // The claim is given up again.
        }
        let until = self.now + LEASE;
        self.lease = Some((at, until));
        let intent = self.drill.history.attempts[at].intent.0;
        self.records.insert(subject, Record::InProgress { owner: Some(at), intent, until });
        let work = self.rng.random_range(200..3_000);
        self.at(self.now + work, Event::Finish(at));
    }

    pub fn commit(&mut self, at: usize) {
        let intent = self.drill.history.attempts[at].intent.0;
        let subject = self.subject(intent);
        let owns = |record: Option<&Record>| match record {
            Some(Record::InProgress { owner, .. }) => *owner == Some(at),
            _ => false,
        };
        if !owns(self.records.get(&subject)) {
            return; // Its instance was killed.
        }
        self.lease = None;
        if let Some(recent) = self.recent(intent) {
            let Recent { order, body, .. } = recent;
            let done = Record::Done { order: order.clone(), body, intent };
            self.records.insert(subject, done);
            return self.replay(at, &order, body);
        }
        let quantity = i64::from(self.drill.history.intents[intent as usize].quantity);
        let lies = self.defects.sold_out_lie && self.rng.random_bool(0.5);
        if self.stock < quantity || lies {
            self.records.remove(&subject);
            if self.defects.rejected_effect {
                self.place_order(at, true);
            }
            return self.sold_out(at);
        }
        if self.chance(self.shape.trouble) {
            self.records.remove(&subject);
            return self.fail(at); // Rolled back.
        }
        let order = self.place_order(at, true);
        let body = self.body(&format!("{{\"orderId\":\"{order}\",\"status\":\"CREATED\"}}"));
        self.records.insert(subject, Record::Done { order: order.clone(), body, intent });
        let it = &self.drill.history.intents[intent as usize];
        let of = (it.user.clone(), it.fingerprint.clone());
        self.recent.insert(of, Recent { order: order.clone(), body, placed: self.now });
        if self.chance(self.shape.trouble) {
            return self.fail(at); // Committed, and then an error.
        }
        let marker = self.shape.marked.then_some(false);
        self.answer(at, |attempt| told(attempt, &order, body, 201, marker));
    }

    /// The order that this body's user got within the window.
    fn recent(&self, intent: u32) -> Option<Recent> {
        let window = self.shape.window.filter(|_| !self.defects.ignores_window)?;
        let it = &self.drill.history.intents[intent as usize];
        let recent = self.recent.get(&(it.user.clone(), it.fingerprint.clone()))?;
        (self.now < recent.placed + window).then(|| recent.clone())
    }

    fn sold_out(&mut self, at: usize) {
        let body = self.body("{\"code\":\"SOLD_OUT\"}");
        self.answer(at, |attempt| {
            refuse(attempt, 422, "business");
            attempt.body = Some(body);
        });
    }

    /// What there is for a bad key: a rejection, or unprotected execution.
    fn without_key(&mut self, at: usize, form: KeyForm) {
        let is_missing = matches!(form, KeyForm::Missing | KeyForm::Empty);
        let executes = self.shape.keyless_executed && is_missing || self.defects.bad_key_accepted;
        if !executes {
            if self.defects.rejected_effect {
                self.place_order(at, false);
            }
            let why = if is_missing { "missing-key" } else { "malformed-key" };
            return self.answer(at, |attempt| refuse(attempt, 400, why));
        }
        if self.stock < 1 {
            return self.sold_out(at);
        }
        let order = self.place_order(at, false);
        let body = self.body(&format!("{{\"orderId\":\"{order}\"}}"));
        let marker = self.shape.marked.then_some(false);
        self.answer(at, |attempt| told(attempt, &order, body, 201, marker));
    }

    fn place_order(&mut self, at: usize, with_key: bool) -> String {
        self.orders += 1;
        let intent = self.drill.history.attempts[at].intent;
        let it = self.drill.history.intent(intent).clone();
        let quantity = i64::from(it.quantity);
        let id = format!("{}", 5_000 + self.orders);
        let is_even = self.orders.is_multiple_of(2);
        if !(self.defects.stock_kept && is_even) {
            self.stock -= quantity;
        }
        if self.defects.lost_order && is_even {
            self.stock += quantity;
            return id;
        }
        let movement = MovementRow {
            order: Some(id.as_str().into()),
            product: PRODUCT.to_string().into(),
            delta: -quantity,
        };
        let created_us = Some(STARTED_US + self.now as i64);
        let is_moved = self.shape.ledger && !(self.defects.no_movement && is_even);
        let rows = self.drill.after();
        if is_moved {
            rows.movements.as_mut().unwrap().push(movement);
        }
        rows.orders.push(OrderRow {
            id: id.as_str().into(),
            user: Some(it.user.into()),
            key: with_key.then(|| it.key.into()),
            product: Some(PRODUCT.to_string().into()),
            quantity: Some(quantity),
            fingerprint: None,
            status: Some("CREATED".into()),
            created_us,
            paid_us: None,
            closed_us: None,
        });
        id
    }

    /// Pays or closes an order, in one conditional statement.
    fn act(&mut self, at: usize, order: &str) {
        if self.chance(self.shape.trouble) {
            return self.fail(at); // Nothing happened.
        }
        let intent = self.drill.history.attempts[at].intent;
        let wanted = match self.drill.history.intent(intent).request.as_str() {
            "pay" => "PAID",
            _ => "CLOSED",
        };
        let (now, shape, defects) = (STARTED_US + self.now as i64, self.shape, self.defects);
        let rows = &mut self.drill.after().orders;
        let row = rows.iter_mut().find(|row| *row.id == *order).unwrap();
        let is = |status: &str| row.status.as_deref() == Some(status);
        let may = is("CREATED") || shape.refunds && wanted == "CLOSED" && is("PAID");
        let changes = may || defects.status_unconditional;
        if changes {
            row.status = Some(wanted.into());
            if shape.times {
                let time = if wanted == "PAID" { &mut row.paid_us } else { &mut row.closed_us };
                *time = Some(now);
            }
        }
        let is_so = row.status.as_deref() == Some(wanted);
        if !is_so && !defects.zero_rows_is_success {
            return self.answer(at, |attempt| refuse(attempt, 422, "business"));
        }
        let body = self.body(&format!("{{\"orderId\":\"{order}\",\"status\":\"{wanted}\"}}"));
        let order = order.to_owned();
        self.answer(at, |attempt| told(attempt, &order, body, 200, None));
    }

    fn fail(&mut self, at: usize) {
        self.answer(at, |attempt| {
            forget(attempt);
            attempt.status = Some(500);
        });
    }
}

/// A token, which is no order.
fn issued(attempt: &mut Attempt) {
    (attempt.outcome, attempt.status, attempt.failure) = (Outcome::Acknowledged, Some(200), None);
}

/// What a wrong path is answered with; the contract may take it for a rejection.
fn not_found(attempt: &mut Attempt, outcome: Outcome) {
    refuse(attempt, 404, "business");
    if outcome == Outcome::Unknown {
        (attempt.outcome, attempt.refusal) = (outcome, None);
    }
}

fn told(attempt: &mut Attempt, order: &str, body: BodyId, status: u16, marker: Option<bool>) {
    attempt.outcome = Outcome::Acknowledged;
    attempt.status = Some(status);
    attempt.order = Some(order.into());
    attempt.body = Some(body);
    attempt.replay_marker = marker;
    attempt.failure = None;
}
