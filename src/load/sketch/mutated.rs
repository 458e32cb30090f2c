//! `burst.mutated`: one key, and a changed intent in a share of its attempts.
//!
//! Which attempt carries what is mixed from the seed: whoever comes first wins, and neither kind
//! should always be the first. Each changed value is an intent of its own. A key that has fewer
//! changed attempts than there are values takes those next in turn.

use crate::history::Cause;
use crate::profile::{Mutated, Request};

use super::{IntentSketch, LoadError, Scene, Sketch, Step};

pub(super) fn sketch(scene: &Scene<'_>, burst: &Mutated) -> Result<Sketch, LoadError> {
    let crowd = &burst.crowd;
    let values = mutations(scene.request(crowd.request)?)?;
    let changed = changed(crowd.threads, burst.mutated_share);
    let mut sketch = Sketch::default();
    for user in 0..crowd.users {
        let lead = sketch.intents.len() as u32;
        let original = scene.intent(lead as usize, user, crowd.quantity, crowd.request);
        sketch.intents.push(original.clone());
        let used = changed.min(values.len() as u32);
        for number in 0..used {
            let turn = user as usize * used as usize + number as usize;
            let mutation = Some(values[turn % values.len()]);
            sketch.intents.push(IntentSketch { mutation, ..original.clone() });
        }
        let begin = sketch.crowd.len();
        let twins = (0..changed).map(|number| lead + 1 + number % used.max(1));
        let originals = (changed..crowd.threads).map(|_| lead);
        sketch.crowd.extend(twins.chain(originals).map(|intent| Step::burst(intent, user)));
        scene.dice.shuffle(scene.phase, lead, &mut sketch.crowd[begin..]);
        let again = (0..burst.again).flat_map(|_| lead..=lead + used);
        let again = again.map(|intent| Step::burst(intent, user).because(Cause::Replay));
        sketch.scripts.push(again.collect());
    }
    sketch.scripts.retain(|script| !script.is_empty());
    Ok(sketch)
}

/// Attempts of a key whose intent is changed; at least one of each kind where there are two.
fn changed(threads: u32, share: f64) -> u32 {
    let wanted = (f64::from(threads) * share).round() as u32;
    if threads < 2 { 0 } else { wanted.clamp(1, threads - 1) }
}

/// Every entry and value that changes the intent.
pub(super) fn mutations(request: &Request) -> Result<Vec<(usize, usize)>, LoadError> {
    let values: Vec<_> = request
        .mutate
        .iter()
        .enumerate()
        .flat_map(|(entry, (_, values))| (0..values.len()).map(move |value| (entry, value)))
        .collect();
    if values.is_empty() {
        let reason = "it has no `mutate` that would change its intent".to_owned();
        return Err(LoadError::Unsendable { request: request.name.clone(), reason });
    }
    Ok(values)
}
