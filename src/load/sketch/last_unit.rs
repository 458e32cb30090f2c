//! `burst.last-unit`: more buyers than units of one product, which no other phase sells.
//!
//! All of it is one group, buyer after buyer and then all over again: a buyer's second attempt must
//! not be in front of another buyer's first.

use crate::profile::LastUnit;

use super::{IntentSketch, Scene, Sketch, Step};

pub(super) fn sketch(scene: &Scene<'_>, burst: &LastUnit) -> Sketch {
    let crowd = &burst.crowd;
    let product = scene.own_product();
    let intents = (0..crowd.users).map(|buyer| {
        let own = scene.intent(buyer as usize, buyer, crowd.quantity, crowd.request);
        IntentSketch { product, ..own }
    });
    let mut sketch = Sketch { intents: intents.collect(), ..Sketch::default() };
    for _ in 0..crowd.threads {
        sketch.crowd.extend((0..crowd.users).map(|buyer| Step::burst(buyer, 0)));
    }
    sketch
}
