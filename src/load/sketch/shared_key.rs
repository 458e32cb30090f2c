//! `burst.shared-key`: one key string for several users at a time.
//!
//! Their attempts leave in turn, so that two users of a string truly meet.

use crate::profile::SharedKey;

use super::{IntentSketch, Scene, Sketch, Step};

pub(super) fn sketch(scene: &Scene<'_>, burst: &SharedKey) -> Sketch {
    let crowd = &burst.crowd;
    let sharing = burst.sharing.max(1);
    let mut sketch = Sketch::default();
    for user in 0..crowd.users {
        let own = scene.intent(user as usize, user, crowd.quantity, crowd.request);
        sketch.intents.push(IntentSketch { key: user - user % sharing, ..own });
    }
    for first in (0..crowd.users).step_by(sharing as usize) {
        let users = first..(first + sharing).min(crowd.users);
        for _ in 0..crowd.threads {
            sketch.crowd.extend(users.clone().map(|user| Step::burst(user, first / sharing)));
        }
    }
    sketch
}
