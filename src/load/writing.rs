//! The messages of one intent: the original one, and others of the same meaning.

use serde_json::Value;

use crate::history::Intent;
use crate::profile::{BodyTemplate, Hole, Request};

use super::compose::Composer;
use super::error::LoadError;
use super::fingerprint::fingerprint;
use super::forms;
use super::manners;
use super::message::{Message, Source};
use super::session::Session;
use super::sketch::{Gives, IntentSketch, Step};
use super::tree::Tree;

/// Writes the messages of one intent.
pub(super) struct Writing<'a> {
    pub composer: &'a Composer<'a>,
    pub sketch: &'a IntentSketch,
}

impl Writing<'_> {
    fn uuid(&self) -> String {
        let composer = self.composer;
        composer.dice.uuid(composer.phase, composer.first_intent + self.sketch.uuid)
    }

    fn source<'s>(
        &'s self,
        request: &'s Request,
        intent: &'s Intent,
        session: Option<&'s Session>,
        uuid: &'s str,
    ) -> Source<'s> {
        let is_token = self.composer.sketch.gives == Gives::Token && self.sketch.rests_on.is_some();
        Source {
            request,
            rule: &self.composer.settings.contract.key,
            intent,
            uuid,
            session,
            token: is_token.then_some(intent.key.as_str()),
            mutation: self.sketch.mutation.map(|at| mutation(request, at)),
        }
    }

    /// The body as it is written, and its fingerprint.
    pub fn body(
        &self,
        request: &Request,
        intent: &Intent,
        session: Option<&Session>,
    ) -> (Option<Tree>, String) {
        let body = self.source(request, intent, session, &self.uuid()).body();
        let value = body.as_ref().map(Tree::value).unwrap_or_default();
        (body, fingerprint(request, value))
    }

    pub fn message(
        &self,
        request: &Request,
        intent: &Intent,
        session: Option<&Session>,
        body: Option<&Tree>,
    ) -> Result<Message, LoadError> {
        self.source(request, intent, session, &self.uuid()).message(body.map(Tree::text))
    }

    /// The message of a step, what is different about it, and its fingerprint.
    pub fn changed(
        &self,
        step: &Step,
        request: &Request,
        intent: &Intent,
        session: Option<&Session>,
        again: u32,
    ) -> Result<(Message, String, String), LoadError> {
        let (tree, mut print) = self.body(request, intent, session);
        let number = step.change.number + again * 1_000;
        let composer = self.composer;
        let mut stream = composer.dice.form(composer.phase, step.intent, number);
        let mut how = Vec::new();
        let mut text = tree.as_ref().map(Tree::text);
        if let Some(tree) = tree.filter(|_| step.change.body) {
            let form = forms::another(request, &tree, number, &mut stream);
            let value = serde_json::from_str(&form.text).unwrap_or_default();
            print = fingerprint(request, value);
            how.push(form.how);
            text = Some(form.text);
        }
        let mut message = self.source(request, intent, session, &self.uuid()).message(text)?;
        if step.change.headers {
            manners::change(request, &mut message, &mut stream);
            how.push("headers".to_owned());
        }
        if step.change.route.is_some() {
            how.push(format!("request `{}`", request.name));
        }
        Ok((message, how.join(", "), print))
    }
}

/// Pointer and value of a mutation, by entry and value.
pub(super) fn mutation(request: &Request, (entry, value): (usize, usize)) -> (&str, &Value) {
    let (pointer, values) = &request.mutate[entry];
    (pointer, &values[value])
}

/// Says in the intent what is bought, where the changed field is the one that says so.
pub(super) fn change_what_is_bought(
    intent: &mut Intent,
    field: Option<&BodyTemplate>,
    value: &Value,
) {
    let Some(BodyTemplate::Text(text)) = field else { return };
    match text.only_hole() {
        Some(Hole::Quantity) => {
            let quantity = value.as_u64().and_then(|value| u32::try_from(value).ok());
            intent.quantity = quantity.unwrap_or(intent.quantity);
        }
        Some(Hole::Product) => intent.product = value.as_i64().unwrap_or(intent.product),
        _ => {}
    }
}
