//! The intents of a steady load, each made from its number whenever it is needed and kept by nobody.

use std::sync::Arc;

use crate::history::{Intent, IntentId, KeyForm, PhaseId};
use crate::load::cast::Cast;
use crate::load::dice::Dice;
use crate::load::error::LoadError;
use crate::load::fingerprint::fingerprint;
use crate::load::letter::Letter;
use crate::load::message::Source;
use crate::load::run::Load;
use crate::load::session::{Session, Sessions};
use crate::load::target::TargetInstance;
use crate::load::tree::Tree;
use crate::profile::{KeyRule, Rate, Request};

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
    first_intent: u32,
    index: usize,
    request: Request,
    rule: KeyRule,
    cast: Cast,
    dice: Dice,
    targets: Vec<TargetInstance>,
    sessions: Sessions,
}

impl Stream {
    pub fn new(load: &Load, phase: PhaseId, rate: &Rate) -> Result<Self, LoadError> {
        let settings = &load.settings;
        Ok(Self {
            phase,
            schedule: Schedule::new(rate),
            quantity: rate.quantity,
            products: settings.products.count.max(1),
            first_intent: load.next_intent,
            index: rate.request,
            request: load.request(rate.request)?.clone(),
            rule: settings.contract.key.clone(),
            cast: load.cast.clone(),
            dice: load.dice.clone(),
            targets: settings.targets.clone(),
            sessions: load.sessions.clone(),
        })
    }

    pub const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Place of the request among the profile's.
    pub const fn request(&self) -> usize {
        self.index
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
        let mut intent = self.without_fingerprint(place);
        let body = self.source(&intent, &self.uuid(&intent)).body();
        let value = body.as_ref().map(Tree::value).unwrap_or_default();
        intent.fingerprint = fingerprint(&self.request, value);
        intent
    }

    /// Writes the request of the intent at this place for one instance.
    pub fn render(&self, place: u32, target: usize, bytes: &mut Vec<u8>) -> Result<(), LoadError> {
        let intent = self.without_fingerprint(place);
        let uuid = self.uuid(&intent);
        let source = self.source(&intent, &uuid);
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

    fn without_fingerprint(&self, place: u32) -> Intent {
        let number = self.first_intent + place;
        Intent {
            id: IntentId(number),
            phase: self.phase,
            user: self.cast.user(number),
            key: self.cast.key(number),
            product: self.cast.product(place % self.products),
            quantity: self.quantity,
            fingerprint: String::new(),
            request: self.request.name.clone(),
            entity: None,
            key_form: KeyForm::Good,
        }
    }
}
