//! History and one finding become the shortest telling: who saw what, when.
//!
//! Only what was observed is told. The client's lines come from attempts, the database's from rows;
//! a row has a place on the time line only where the database's clock can be laid beside ours. What
//! nobody watched is said once, at the end.

mod client;
mod postgres;
mod target;

use crate::audit::{Case, Finding, Scene};
use crate::codes;

/// The longest story, in lines.
const MOST_SCENES: usize = 10;

/// How much a line is needed. When a story is too long, its least needed lines go first, and of
/// equally needed ones the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// The moment that the story is about.
    Key,
    Telling,
    Background,
}

/// Tells how the witness of a finding came about: sorted by time, untimed lines after the timed ones.
pub fn tell(case: &Case<'_>, finding: &Finding) -> Vec<Scene> {
    let mut scenes = client::scenes(case, &finding.witness);
    scenes.extend(postgres::orders(case, &finding.witness));
    let about_stock = [&codes::I01, &codes::I03, &codes::I03B, &codes::I03C, &codes::I25];
    if about_stock.contains(&finding.code) {
        scenes.extend(postgres::stock(case, &finding.witness));
    }
    if finding.code == &codes::I04 {
        scenes.extend(postgres::movements(case, finding));
    }
    if finding.code == &codes::I10 || finding.code == &codes::I25 {
        scenes.extend(postgres::transitions(case, &finding.witness));
    }
    if finding.code == &codes::I05 {
        scenes.extend(postgres::missing(case, &finding.witness));
    }
    if finding.code == &codes::I27 {
        scenes.extend(target::exits(case));
    }
    scenes.sort_by_key(|(need, scene)| (*need, scene.at.is_none(), scene.at));
    scenes.truncate(MOST_SCENES - 1);
    let mut scenes: Vec<Scene> = scenes.into_iter().map(|(_, scene)| scene).collect();
    scenes.sort_by_key(|scene| (scene.at.is_none(), scene.at));
    if !scenes.is_empty() {
        scenes.push(Scene {
            at: None,
            seen_by: "redis".to_owned(),
            what: "not observed; of postgres only the rows were".to_owned(),
        });
    }
    scenes
}
