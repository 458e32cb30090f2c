//! A sketch becomes intents with fingerprints and letters with bytes.
//!
//! It happens in two stages where a scene has to be set first: an order that is raced for, or a
//! token, is known only once the target has answered.

use std::collections::HashSet;
use std::sync::Arc;

use crate::history::{AttemptId, Cause, Intent, IntentId, PhaseId, Variant, VariantId};
use crate::profile::{Burst, Request};

use super::cast::Cast;
use super::dice::Dice;
use super::error::LoadError;
use super::letter::Letter;
use super::run::LoadSettings;
use super::session::{Session, Sessions};
use super::sketch::{Change, Gives, IntentSketch, Sketch, Step};
use super::writing::{Writing, change_what_is_bought, mutation};

/// Tries until a form that was drawn before gives way to a new one.
const MOST_TRIES: u32 = 24;

/// What is sent in one stage of a phase.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub intents: Vec<Intent>,
    /// The original letters, by the place of the intent in `intents`.
    pub originals: Vec<Arc<Letter>>,
    pub variants: Vec<Variant>,
    /// Group by group, instances in turn.
    pub crowd: Vec<PlannedAttempt>,
    pub scripts: Vec<Vec<PlannedAttempt>>,
}

/// One attempt that was planned.
#[derive(Clone, Debug)]
pub(super) struct PlannedAttempt {
    pub id: AttemptId,
    pub cause: Cause,
    pub letter: Arc<Letter>,
    /// What it contends for.
    pub group: u32,
    /// Place of its instance among the targets.
    pub target: usize,
}

/// What a preparation came to, by the place of its intent: an order id or a token.
pub(super) type Given = Vec<Option<String>>;

/// Composes one phase.
pub(super) struct Composer<'a> {
    pub settings: &'a LoadSettings,
    pub cast: &'a Cast,
    pub dice: &'a Dice,
    pub phase: PhaseId,
    pub sessions: &'a Sessions,
    pub burst: &'a Burst,
    pub sketch: &'a Sketch,
    pub first_intent: u32,
    pub next_attempt: u32,
    pub next_variant: u32,
}

impl Composer<'_> {
    /// The stage that sets the scene.
    pub fn prepare(&mut self) -> Result<Plan, LoadError> {
        let sketch = self.sketch;
        let mut plan = self.intents(0..self.prepared(), &Vec::new())?;
        plan.scripts = self.scripts(sketch.prepare.iter().map(std::slice::from_ref), &mut plan)?;
        Ok(plan)
    }

    /// Everything else.
    pub fn act(&mut self, given: &Given) -> Result<Plan, LoadError> {
        let sketch = self.sketch;
        let mut plan = self.intents(self.prepared()..sketch.intents.len(), given)?;
        plan.crowd = self.steps(&sketch.crowd, 0, &mut plan)?;
        plan.scripts = self.scripts(sketch.scripts.iter().map(Vec::as_slice), &mut plan)?;
        Ok(plan)
    }

    /// Users that act in the phase.
    pub fn users(&self) -> Vec<String> {
        let numbers = self.sketch.intents.iter().map(|intent| self.first_intent + intent.user);
        numbers.map(|number| self.cast.user(number)).collect()
    }

    /// How many intents, from the first one, set the scene.
    fn prepared(&self) -> usize {
        self.sketch.prepare.len()
    }

    fn intents(&self, places: std::ops::Range<usize>, given: &Given) -> Result<Plan, LoadError> {
        let mut plan = Plan::default();
        for place in places {
            let sketch = &self.sketch.intents[place];
            let given = sketch.rests_on.map(|on| given.get(on as usize).cloned().flatten());
            let mut intent = self.intent(place as u32, sketch, given.as_ref())?;
            let request = self.request(sketch.request)?;
            let writing = Writing { composer: self, sketch };
            let session = self.session(&intent);
            let (body, fingerprint) = writing.body(request, &intent, session.as_deref());
            intent.fingerprint = fingerprint;
            let message = writing.message(request, &intent, session.as_deref(), body.as_ref())?;
            let rendered = match given {
                Some(None) => Err(self.lack().to_owned()),
                _ => Ok(message.render(request, &self.settings.targets)?),
            };
            plan.originals.push(Arc::new(Letter {
                intent: intent.id,
                request: sketch.request,
                variant: None,
                rendered,
                session,
                token_at: self.token_at(place),
                key_form: intent.key_form,
            }));
            plan.intents.push(intent);
        }
        Ok(plan)
    }

    fn intent(
        &self,
        place: u32,
        sketch: &IntentSketch,
        given: Option<&Option<String>>,
    ) -> Result<Intent, LoadError> {
        let request = self.request(sketch.request)?;
        let given = given.map(|given| given.clone().unwrap_or_default());
        let key = match (self.sketch.gives, &given) {
            (Gives::Token, Some(token)) if !token.is_empty() => token.clone(),
            (Gives::Token, None) => String::new(),
            _ => self.cast.key(self.first_intent + sketch.key),
        };
        let mut intent = Intent {
            id: IntentId(self.first_intent + place),
            phase: self.phase,
            user: self.cast.user(self.first_intent + sketch.user),
            key,
            product: self.cast.product(sketch.product),
            quantity: sketch.quantity,
            fingerprint: String::new(),
            request: request.name.clone(),
            entity: given.filter(|_| self.sketch.gives == Gives::Order),
            key_form: sketch.key_form,
        };
        if let Some((pointer, value)) = sketch.mutation.map(|at| mutation(request, at)) {
            let hole = request.body.as_ref().and_then(|body| body.at(pointer));
            change_what_is_bought(&mut intent, hole, value);
        }
        Ok(intent)
    }

    fn scripts<'s>(
        &mut self,
        scripts: impl Iterator<Item = &'s [Step]>,
        plan: &mut Plan,
    ) -> Result<Vec<Vec<PlannedAttempt>>, LoadError> {
        scripts.enumerate().map(|(number, script)| self.steps(script, number, plan)).collect()
    }

    /// Attempts at the instances in turn, from the one with this number on.
    fn steps(
        &mut self,
        steps: &[Step],
        from: usize,
        plan: &mut Plan,
    ) -> Result<Vec<PlannedAttempt>, LoadError> {
        let mut known = HashSet::new();
        let base = plan.intents.first().map_or(0, |intent| intent.id.0);
        let mut planned = Vec::with_capacity(steps.len());
        for (number, step) in steps.iter().enumerate() {
            let place = (self.first_intent + step.intent - base) as usize;
            let original = Arc::clone(&plan.originals[place]);
            let letter = if step.change == Change::NONE || original.rendered.is_err() {
                original
            } else {
                self.varied(step, &original, plan, place, &mut known)?
            };
            planned.push(PlannedAttempt {
                id: AttemptId(self.next_attempt),
                cause: step.cause,
                letter,
                group: step.group,
                target: (from + number) % self.settings.targets.len(),
            });
            self.next_attempt += 1;
        }
        Ok(planned)
    }

    /// A letter of other bytes; its variant is told in the plan.
    fn varied(
        &mut self,
        step: &Step,
        original: &Arc<Letter>,
        plan: &mut Plan,
        place: usize,
        known: &mut HashSet<(u32, String)>,
    ) -> Result<Arc<Letter>, LoadError> {
        let intent = &plan.intents[place];
        let sketch = &self.sketch.intents[step.intent as usize];
        let index = step.change.route.unwrap_or(sketch.request);
        let request = self.request(index)?;
        let writing = Writing { composer: self, sketch };
        let session = original.session.as_deref();
        let before = {
            let own = self.request(sketch.request)?;
            let (body, _) = writing.body(own, intent, session);
            writing.message(own, intent, session, body.as_ref())?.sha256()
        };
        known.insert((step.intent, before.clone()));
        let (mut message, mut how, mut print) =
            writing.changed(step, request, intent, session, 0)?;
        let mut sha256 = message.sha256();
        for again in 1..MOST_TRIES {
            let is_new = !known.contains(&(step.intent, sha256.clone()));
            if is_new || !(step.change.body || step.change.headers) {
                break;
            }
            (message, how, print) = writing.changed(step, request, intent, session, again)?;
            sha256 = message.sha256();
        }
        let mut letter = Letter { request: index, ..Letter::clone(original) };
        letter.rendered = Ok(message.render(request, &self.settings.targets)?);
        if sha256 != before {
            known.insert((step.intent, sha256.clone()));
            let id = VariantId(self.next_variant);
            letter.variant = Some(id);
            plan.variants.push(Variant {
                id,
                intent: original.intent,
                how,
                sha256,
                original_sha256: before,
                fingerprint: print,
            });
            self.next_variant += 1;
        }
        Ok(Arc::new(letter))
    }

    fn request(&self, index: usize) -> Result<&Request, LoadError> {
        self.settings.requests.get(index).ok_or(LoadError::NoRequest { index })
    }

    fn session(&self, intent: &Intent) -> Option<Arc<Session>> {
        self.sessions.get(&intent.user).cloned()
    }

    fn token_at(&self, place: usize) -> Option<Arc<str>> {
        match self.burst {
            Burst::SubmitToken(burst) if place < self.prepared() => {
                Some(burst.token_at.as_str().into())
            }
            _ => None,
        }
    }

    /// Why an intent that rests on a preparation can't be sent.
    const fn lack(&self) -> &'static str {
        match self.sketch.gives {
            Gives::Token => "the target gave no token for it",
            _ => "the order that it is about was never confirmed",
        }
    }
}
