//! `burst.bad-keys`: requests without a key, and with keys that the contract forbids.

use crate::profile::BadKeys;

use super::{IntentSketch, LoadError, Scene, Sketch, Step, bad_forms};
use crate::load::keys;

pub(super) fn sketch(scene: &Scene<'_>, burst: &BadKeys) -> Result<Sketch, LoadError> {
    let (rule, request) = (&scene.parts.contract.key, scene.request(burst.request)?);
    if !keys::carries(rule, request) {
        let reason = "it has no key where the contract's `key` says that it travels".to_owned();
        return Err(LoadError::Unsendable { request: request.name.clone(), reason });
    }
    let mut sketch = Sketch::default();
    for form in bad_forms(rule) {
        for _ in 0..burst.users {
            let place = sketch.intents.len();
            let own = scene.intent(place, place as u32, burst.quantity, burst.request);
            sketch.intents.push(IntentSketch { key_form: form, ..own });
            sketch.scripts.push(vec![Step::burst(place as u32, place as u32)]);
        }
    }
    Ok(sketch)
}
