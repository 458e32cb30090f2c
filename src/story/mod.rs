//! History and one finding become the shortest telling: who saw what, when.
//!
//! Only what was observed is told. The client's lines come from attempts, those of Redis and PostgreSQL
//! from the steps on their wires, and where nobody watched these, the database's from rows; a row has a
//! place on the time line only where the database's clock can be laid beside ours. What nobody watched
//! is said once, at the end.

mod client;
mod faults;
mod postgres;
mod steps;
mod target;
mod unseen;

use crate::audit::{Case, Finding, Scene};
use crate::codes;

/// The longest story, in lines: without the wires, and with what they saw.
const MOST_SCENES: usize = 10;
const MOST_WITH_WIRES: usize = 12;

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
    let about_stock = [&codes::I01, &codes::I03, &codes::I03B, &codes::I03C, &codes::I25];
    let is_about_stock = about_stock.contains(&finding.code);
    if is_about_stock && !finding.witness.steps.is_empty() {
        scenes.iter_mut().for_each(|(need, _)| *need = Need::Background);
    }
    scenes.extend(postgres::orders(case, &finding.witness));
    if is_about_stock {
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
    scenes.extend(steps::scenes(case, &finding.witness, is_about_stock));
    let marks = faults::scenes(case, &finding.witness);
    let room_for_marks = marks.len();
    scenes.extend(marks);
    let unseen = unseen::scenes(case);
    scenes.sort_by_key(|(need, scene)| (*need, scene.at.is_none(), scene.at));
    let most = if finding.witness.steps.is_empty() { MOST_SCENES } else { MOST_WITH_WIRES };
    // What was done to a case comes on top of what happened in it.
    let most = most + room_for_marks;
    scenes.truncate(most.saturating_sub(unseen.len()));
    let mut scenes: Vec<Scene> = scenes.into_iter().map(|(_, scene)| scene).collect();
    scenes.sort_by_key(|scene| (scene.at.is_none(), scene.at));
    if !scenes.is_empty() {
        scenes.extend(unseen);
    }
    scenes
}
