//! `burst.submit-token`: a token for each user, then all attempts with it.
//!
//! The request for a token belongs to no key, so its intent has an empty one.

use crate::history::Cause;
use crate::profile::SubmitToken;

use super::{Gives, IntentSketch, LoadError, Scene, Sketch, Step};

pub(super) fn sketch(scene: &Scene<'_>, burst: &SubmitToken) -> Result<Sketch, LoadError> {
    let crowd = &burst.crowd;
    scene.request(burst.token)?;
    let mut sketch = Sketch { gives: Gives::Token, ..Sketch::default() };
    for user in 0..crowd.users {
        sketch.intents.push(scene.intent(user as usize, user, crowd.quantity, burst.token));
        sketch.prepare.push(Step::burst(user, user).because(Cause::Prepare));
    }
    for user in 0..crowd.users {
        let place = sketch.intents.len();
        let own = scene.intent(place, user, crowd.quantity, crowd.request);
        sketch.intents.push(IntentSketch { user, rests_on: Some(user), ..own });
        let attempts = (0..crowd.threads).map(|_| Step::burst(place as u32, user));
        sketch.crowd.extend(attempts);
    }
    Ok(sketch)
}
