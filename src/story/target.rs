//! What became of the target's processes.

use crate::audit::{Case, Scene};

use super::Need;

/// The first exit that wasn't ours, with its last line.
pub(super) fn exits(case: &Case<'_>) -> Vec<(Need, Scene)> {
    let foreign = case.history.exits.iter().filter(|exit| !exit.ours);
    let Some(exit) = foreign.min_by_key(|exit| (exit.at, exit.instance)) else { return Vec::new() };
    let instances = &case.history.instances;
    let found = instances.iter().find(|instance| instance.id == exit.instance);
    let name = found.map_or("an instance", |instance| instance.name.as_str());
    let mut what = format!("{name} ended: {}", exit.status);
    if let Some(line) = exit.last_words.lines().rfind(|line| !line.trim().is_empty()) {
        what.push_str(&format!("; its last line: {}", line.trim()));
    }
    vec![(Need::Key, Scene { at: Some(exit.at), seen_by: "target".to_owned(), what })]
}
