//! `burst.sequential`: one attempt after the other, each once the one before has been answered.

use crate::history::Cause;
use crate::profile::{Sequential, Vary};

use super::{Change, LoadError, Scene, Sketch, Step, crowds};

pub(super) fn sketch(scene: &Scene<'_>, burst: &Sequential) -> Result<Sketch, LoadError> {
    scene.request(burst.request)?;
    let varies = |what| burst.vary.contains(&what);
    if varies(Vary::Body) {
        crowds::has_body(scene, burst.request)?;
    }
    if let Some(route) = burst.route {
        scene.request(route)?;
    }
    let mut sketch = Sketch::default();
    for user in 0..burst.users {
        sketch.intents.push(scene.intent(user as usize, user, burst.quantity, burst.request));
        let mut script = vec![Step::burst(user, user)];
        for number in 0..burst.repeats {
            let change = Change {
                body: varies(Vary::Body),
                headers: varies(Vary::Headers),
                route: burst.route.filter(|_| number % 2 == 0),
                number,
            };
            script.push(Step::burst(user, user).because(Cause::Replay).with(change));
        }
        sketch.scripts.push(script);
    }
    Ok(sketch)
}
