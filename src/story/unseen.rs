//! What nobody watched, so that its absence from a story isn't taken for a claim.

use crate::audit::{Case, Scene, plural};
use crate::history::Wire;

/// A line for each of Redis and PostgreSQL of which not everything was seen.
pub(super) fn scenes(case: &Case<'_>) -> Vec<Scene> {
    let redis = unseen(case, Wire::Redis);
    let postgres = unseen(case, Wire::Postgres);
    let lines = match (redis, postgres) {
        (Some(Unseen::All), Some(Unseen::All)) => {
            vec![(Wire::Redis, "not observed; of postgres only the rows were".to_owned())]
        }
        (redis, postgres) => [
            redis.map(|it| (Wire::Redis, it.says("not observed"))),
            postgres.map(|it| (Wire::Postgres, it.says("not observed, only its rows were"))),
        ]
        .into_iter()
        .flatten()
        .collect(),
    };
    let scene =
        |(wire, what): (Wire, String)| Scene { at: None, seen_by: wire.name().to_owned(), what };
    lines.into_iter().map(scene).collect()
}

/// How much of a wire was not seen.
enum Unseen {
    All,
    Some(String),
}

impl Unseen {
    fn says(self, all: &str) -> String {
        match self {
            Self::All => all.to_owned(),
            Self::Some(what) => format!("observed in part: {what}"),
        }
    }
}

fn unseen(case: &Case<'_>, wire: Wire) -> Option<Unseen> {
    let Some(facts) = case.history.wires.iter().find(|facts| facts.wire == wire) else {
        return Some(Unseen::All);
    };
    let unread = || plural(facts.unread, "connection passed unread", "connections passed unread");
    let lost = || plural(facts.lost, "step was not written down", "steps were not written down");
    match (facts.unread, facts.lost) {
        (0, 0) => None,
        (_, 0) => Some(Unseen::Some(unread())),
        (0, _) => Some(Unseen::Some(lost())),
        _ => Some(Unseen::Some(format!("{}, {}", unread(), lost()))),
    }
}
