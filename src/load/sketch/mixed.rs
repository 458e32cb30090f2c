//! `burst.mixed`: every attempt draws what it does.
//!
//! The first draw of a user is always the original, since all others are measured by it; where in
//! the burst it stands is drawn too.

use crate::profile::Mixed;

use super::mutated::mutations;
use super::{Change, IntentSketch, LoadError, Scene, Sketch, Step, crowds};

pub(super) fn sketch(scene: &Scene<'_>, burst: &Mixed) -> Result<Sketch, LoadError> {
    let crowd = &burst.crowd;
    let request = scene.request(crowd.request)?;
    let values = if burst.mutated_share > 0.0 { mutations(request)? } else { Vec::new() };
    if burst.variant_share > 0.0 {
        crowds::has_body(scene, crowd.request)?;
    }
    let mut sketch = Sketch::default();
    for user in 0..crowd.users {
        let lead = sketch.intents.len() as u32;
        let original = scene.intent(lead as usize, user, crowd.quantity, crowd.request);
        sketch.intents.push(original.clone());
        let begin = sketch.crowd.len();
        let mut twins = vec![None; values.len()];
        for number in 0..crowd.threads {
            let next = sketch.intents.len() as u32;
            let drawn = scene.dice.share(scene.phase, user, number);
            let step = match what(burst, drawn) {
                _ if number == 0 => Step::burst(lead, user),
                What::Original => Step::burst(lead, user),
                What::Variant => Step::burst(lead, user).with(Change::body(number)),
                What::Fresh => {
                    sketch.intents.push(IntentSketch { key: next, ..original.clone() });
                    Step::burst(next, user)
                }
                What::Mutated => {
                    let turn = (user + number) as usize % values.len();
                    let twin = *twins[turn].get_or_insert_with(|| {
                        let mutation = Some(values[turn]);
                        sketch.intents.push(IntentSketch { mutation, ..original.clone() });
                        next
                    });
                    Step::burst(twin, user)
                }
            };
            sketch.crowd.push(step);
        }
        scene.dice.shuffle(scene.phase, lead, &mut sketch.crowd[begin..]);
    }
    Ok(sketch)
}

enum What {
    Original,
    Variant,
    Mutated,
    Fresh,
}

fn what(burst: &Mixed, drawn: f64) -> What {
    let variants = burst.variant_share;
    let mutated = variants + burst.mutated_share;
    match drawn {
        drawn if drawn < variants => What::Variant,
        drawn if drawn < mutated => What::Mutated,
        drawn if drawn < mutated + burst.fresh_share => What::Fresh,
        _ => What::Original,
    }
}
