//! `burst.race`: an order for each user, then several requests at it.
//!
//! Each request at an order is an intent with a key of its own: pay and close are two wishes, and
//! a repeated pay is one.

use crate::history::Cause;
use crate::profile::Race;

use super::{Gives, IntentSketch, LoadError, Scene, Sketch, Step};

pub(super) fn sketch(scene: &Scene<'_>, burst: &Race) -> Result<Sketch, LoadError> {
    let crowd = &burst.crowd;
    for &request in burst.requests.iter().chain([&burst.first]) {
        scene.request(request)?;
    }
    let mut sketch = Sketch { gives: Gives::Order, ..Sketch::default() };
    for user in 0..crowd.users {
        sketch.intents.push(scene.intent(user as usize, user, crowd.quantity, burst.first));
        sketch.prepare.push(Step::burst(user, user).because(Cause::Prepare));
    }
    for entity in 0..crowd.users {
        let begin = sketch.intents.len() as u32;
        for &request in &burst.requests {
            let place = sketch.intents.len();
            let own = scene.intent(place, entity, crowd.quantity, request);
            let rests_on = Some(entity);
            sketch.intents.push(IntentSketch { user: entity, rests_on, ..own });
        }
        let racing = begin..sketch.intents.len() as u32;
        if burst.in_turn {
            let one_by_one = racing.flat_map(|intent| (0..crowd.threads).map(move |_| intent));
            sketch.scripts.push(one_by_one.map(|intent| Step::burst(intent, entity)).collect());
        } else {
            let together = (0..crowd.threads).flat_map(|_| racing.clone());
            sketch.crowd.extend(together.map(|intent| Step::burst(intent, entity)));
        }
    }
    Ok(sketch)
}
