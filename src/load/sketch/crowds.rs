//! The three plain crowds: identical bytes, other bytes of one meaning, one meaning under many keys.

use crate::profile::Crowd;

use super::{Change, IntentSketch, LoadError, Scene, Sketch, Step};

/// `burst.same-key`: one intent a user, the same bytes in every attempt.
pub(super) fn same_key(scene: &Scene<'_>, crowd: &Crowd) -> Sketch {
    one_intent_a_user(scene, crowd, |_| Change::NONE)
}

/// `burst.same-fingerprint`: one intent a user, other bytes in every attempt.
pub(super) fn same_fingerprint(scene: &Scene<'_>, crowd: &Crowd) -> Result<Sketch, LoadError> {
    has_body(scene, crowd.request)?;
    Ok(one_intent_a_user(scene, crowd, Change::body))
}

/// `burst.fresh-key`: `threads` keys a user, one body.
pub(super) fn fresh_key(scene: &Scene<'_>, crowd: &Crowd) -> Sketch {
    let mut sketch = Sketch::default();
    for user in 0..crowd.users {
        let lead = sketch.intents.len() as u32;
        for _ in 0..crowd.threads {
            let place = sketch.intents.len();
            let own = scene.intent(place, user, crowd.quantity, crowd.request);
            sketch.intents.push(IntentSketch { user: lead, uuid: lead, ..own });
            sketch.crowd.push(Step::burst(place as u32, user));
        }
    }
    sketch
}

/// Without a body there is only one way to write a request down.
pub(super) fn has_body(scene: &Scene<'_>, index: usize) -> Result<(), LoadError> {
    let request = scene.request(index)?;
    if request.body.is_none() {
        let reason = "it has no body that could be written in another way".to_owned();
        return Err(LoadError::Unsendable { request: request.name.clone(), reason });
    }
    Ok(())
}

fn one_intent_a_user(scene: &Scene<'_>, crowd: &Crowd, change: impl Fn(u32) -> Change) -> Sketch {
    let mut sketch = Sketch::default();
    for user in 0..crowd.users {
        sketch.intents.push(scene.intent(user as usize, user, crowd.quantity, crowd.request));
        let attempts = 0..crowd.threads;
        sketch.crowd.extend(attempts.map(|number| Step::burst(user, user).with(change(number))));
    }
    sketch
}
