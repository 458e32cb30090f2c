//! The intents of a steady load, each made from its number whenever it is needed and kept by nobody.

use std::sync::Arc;

use serde_json::Value;

use crate::history::{Intent, IntentId, KeyForm, PhaseId};
use crate::load::cast::Cast;
use crate::load::dice::Dice;
use crate::load::error::LoadError;
use crate::load::fingerprint::{canonical, fingerprint, write_print};
use crate::load::letter::Letter;
use crate::load::message::Source;
use crate::load::run::Load;
use crate::load::session::{Session, Sessions};
use crate::load::target::TargetInstance;
use crate::load::tree::Tree;
use crate::profile::{KeyRule, Rate, Request};

use super::form::{Form, MARKS, Parts, RequestForm, is_plain};
use super::schedule::{Carries, Schedule};

/// How far back a repeat reaches.
const RECENT: u32 = 100;

/// The intents of one steady load.
#[derive(Debug)]
pub(in crate::load) struct Stream {
    phase: PhaseId,
    schedule: Schedule,
    quantity: u32,
    products: u32,
    first_product: u32,
    first_intent: u32,
    index: usize,
    request: Request,
    rule: KeyRule,
    cast: Cast,
    dice: Dice,
    targets: Vec<TargetInstance>,
    sessions: Sessions,
    /// For each instance; none where requests differ by more than a form leaves open.
    requests: Vec<RequestForm>,
    /// Of what fingerprints are made from; likewise.
    canonical: Option<Form>,
}

impl Stream {
    pub fn new(load: &Load, phase: PhaseId, rate: &Rate) -> Result<Self, LoadError> {
        let settings = &load.settings;
        let mut stream = Self {
            phase,
            schedule: Schedule::new(rate),
            quantity: rate.quantity,
            products: settings.products.count.max(1),
            first_product: load.first_product,
            first_intent: load.next_intent,
            index: rate.request,
            request: load.request(rate.request)?.clone(),
            rule: settings.contract.key.clone(),
            cast: load.cast.clone(),
            dice: load.dice.clone(),
            targets: settings.targets.clone(),
            sessions: load.sessions.clone(),
            requests: Vec::new(),
            canonical: None,
        };
        if stream.sessions.is_empty() && settings.actor.users.iter().all(|it| is_plain(it.reveal()))
        {
            stream.requests = stream.request_forms().unwrap_or_default();
            stream.canonical = stream.canonical_form();
        }
        Ok(stream)
    }

    fn request_forms(&self) -> Option<Vec<RequestForm>> {
        let (marked, first) = (self.marked(), self.without_fingerprint(0));
        let uuid = self.uuid(&first);
        let form = |target| {
            let mut bytes = Vec::new();
            self.write(&marked, MARKS.uuid, target, &mut bytes).ok()?;
            let made = |out: &mut Vec<u8>| self.write(&first, &uuid, target, out);
            RequestForm::of(&bytes)?.proven(&parts(&first, &uuid), made)
        };
        (0..self.targets.len()).map(form).collect()
    }

    /// None where there are defaults: whether a field has its default is decided by its value.
    fn canonical_form(&self) -> Option<Form> {
        if !self.request.defaults.is_empty() {
            return None;
        }
        let first = self.without_fingerprint(0);
        let uuid = self.uuid(&first);
        let form = Form::of(&self.canonical(&self.marked(), MARKS.uuid));
        let mut filled = Vec::new();
        form.fill(&parts(&first, &uuid), &mut filled);
        (filled == self.canonical(&first, &uuid).as_bytes()).then_some(form)
    }

    /// An intent of nobody, whose parts can be found again.
    fn marked(&self) -> Intent {
        let (user, key) = (MARKS.user.to_owned(), MARKS.key.to_owned());
        Intent { user, key, product: MARKS.product, ..self.without_fingerprint(0) }
    }

    pub const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Place of the request among the profile's.
    pub const fn request(&self) -> usize {
        self.index
    }

    fn product(&self, place: u32) -> i64 {
        self.cast.product(self.first_product + place % self.products)
    }

    /// The id of the intent at this place.
    pub const fn id(&self, place: u32) -> IntentId {
        IntentId(self.first_intent + place)
    }

    /// The place of the intent that an attempt carries.
    pub fn carried_by(&self, attempt: u32) -> u32 {
        match self.schedule.carries(attempt) {
            Carries::New(intent) => intent,
            Carries::OneOf(count) => count - self.dice.back(self.phase, attempt, count.min(RECENT)),
        }
    }

    /// The intent at this place, with its fingerprint.
    pub fn intent(&self, place: u32) -> Intent {
        let mut draft = self.draft();
        self.write_intent(place, &mut draft);
        draft.intent
    }

    /// Where intents can be written, one after the other.
    pub fn draft(&self) -> Draft {
        Draft { intent: self.without_fingerprint(0), text: Vec::with_capacity(256) }
    }

    /// Writes the same over what a draft holds.
    pub fn write_intent<'a>(&self, place: u32, draft: &'a mut Draft) -> &'a Intent {
        let Draft { intent, text } = draft;
        let number = self.first_intent + place;
        intent.id = IntentId(number);
        self.cast.write_user(number, &mut intent.user);
        self.cast.write_key(number, &mut intent.key);
        intent.product = self.product(place);
        intent.fingerprint.clear();
        match &self.canonical {
            Some(form) => {
                let uuid = if form.has_uuid() { self.uuid(intent) } else { String::new() };
                text.clear();
                form.fill(&parts(intent, &uuid), text);
                write_print(text, &mut intent.fingerprint);
            }
            None => {
                let value = self.value(intent, &self.uuid(intent));
                intent.fingerprint = fingerprint(&self.request, value);
            }
        }
        intent
    }

    /// Writes the request of the intent at this place for one instance.
    pub fn render(&self, place: u32, target: usize, page: &mut Page) -> Result<(), LoadError> {
        let Page { request, body, user, key } = page;
        let Some(form) = self.requests.get(target) else {
            let intent = self.without_fingerprint(place);
            return self.write(&intent, &self.uuid(&intent), target, request);
        };
        let number = self.first_intent + place;
        self.cast.write_user(number, user);
        self.cast.write_key(number, key);
        let uuid = if form.has_uuid() { self.dice.uuid(self.phase, number) } else { String::new() };
        let product = self.product(place);
        form.fill(&Parts { user, key, uuid: &uuid, product }, body, request);
        Ok(())
    }

    fn value(&self, intent: &Intent, uuid: &str) -> Value {
        self.source(intent, uuid).body().as_ref().map(Tree::value).unwrap_or_default()
    }

    fn canonical(&self, intent: &Intent, uuid: &str) -> String {
        canonical(&self.request, self.value(intent, uuid))
    }

    fn write(
        &self,
        intent: &Intent,
        uuid: &str,
        target: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<(), LoadError> {
        let source = self.source(intent, uuid);
        let body = self.request.body.as_ref();
        let message = source.message(body.map(|body| body.render_text(&source.filling())))?;
        message.render_for(&self.request, &self.targets[target], bytes)
    }

    /// The bytes of an intent for all instances.
    pub fn letter(&self, intent: &Intent) -> Result<Letter, LoadError> {
        let uuid = self.uuid(intent);
        let source = self.source(intent, &uuid);
        let message = source.message(source.body().map(|body| body.text()))?;
        Ok(Letter {
            intent: intent.id,
            request: self.index,
            variant: None,
            rendered: Ok(message.render(&self.request, &self.targets)?),
            session: self.session(intent).cloned(),
            token_at: None,
            key_form: KeyForm::Good,
        })
    }

    /// Texts that must not be written down of an intent's answers.
    pub fn secrets(&self, place: u32) -> &[String] {
        if self.sessions.is_empty() {
            return &[];
        }
        let user = self.cast.user(self.first_intent + place);
        self.sessions.get(&user).map_or(&[], |session| session.secrets())
    }

    fn session(&self, intent: &Intent) -> Option<&Arc<Session>> {
        if self.sessions.is_empty() { None } else { self.sessions.get(&intent.user) }
    }

    fn uuid(&self, intent: &Intent) -> String {
        self.dice.uuid(self.phase, intent.id.0)
    }

    fn source<'a>(&'a self, intent: &'a Intent, uuid: &'a str) -> Source<'a> {
        Source {
            request: &self.request,
            rule: &self.rule,
            intent,
            uuid,
            session: self.session(intent).map(Arc::as_ref),
            token: None,
            mutation: None,
        }
    }

    /// The same without its fingerprint, which costs the most.
    pub fn without_fingerprint(&self, place: u32) -> Intent {
        let number = self.first_intent + place;
        Intent {
            id: IntentId(number),
            phase: self.phase,
            user: self.cast.user(number),
            key: self.cast.key(number),
            product: self.product(place),
            quantity: self.quantity,
            fingerprint: String::new(),
            request: self.request.name.clone(),
            entity: None,
            key_form: KeyForm::Good,
        }
    }
}

/// Where an intent is written; used again for every one.
#[derive(Debug)]
pub(in crate::load) struct Draft {
    intent: Intent,
    /// What its fingerprint is made from.
    text: Vec<u8>,
}

/// Where a request is written; used again for every one.
#[derive(Debug, Default)]
pub(in crate::load) struct Page {
    pub request: Vec<u8>,
    body: Vec<u8>,
    user: String,
    key: String,
}

fn parts<'a>(intent: &'a Intent, uuid: &'a str) -> Parts<'a> {
    Parts { user: &intent.user, key: &intent.key, uuid, product: intent.product }
}
