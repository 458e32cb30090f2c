//! What the client saw: when each attempt left, when it was answered and with what.
//!
//! Attempts are numbered as in the findings, by their first byte among the attempts of their key.
//! Where the witness spans several keys, each line names the key; where several users share one, the
//! user.

use std::collections::BTreeSet;

use crate::audit::{Case, Scene, Witness, answer_and_time};
use crate::history::{Attempt, RunTime};
use crate::profile::KeyScope;

use super::Need;

pub(super) fn scenes(case: &Case<'_>, witness: &Witness) -> Vec<(Need, Scene)> {
    let named = named(case, witness);
    let lines = named.iter().flat_map(|(attempt, name)| lines(case, attempt, name));
    if witness.steps.is_empty() || named.len() < 2 {
        return lines.collect();
    }
    // Beside the wires' lines there is room for one about who asked.
    let is_answer = |(need, _): &(Need, Scene)| *need == Need::Key;
    departures(case, &named).into_iter().chain(lines.filter(is_answer)).collect()
}

fn departures(case: &Case<'_>, named: &[(&Attempt, String)]) -> Option<(Need, Scene)> {
    let mut sent: Vec<_> = named
        .iter()
        .filter_map(|(attempt, name)| Some((attempt.first_byte?, attempt, name)))
        .collect();
    sent.sort_by_key(|(at, attempt, _)| (*at, attempt.id));
    let &(first, ..) = sent.first()?;
    let words = sent.iter().map(|(at, attempt, name)| {
        let to = to(case, attempt);
        if *at == first { format!("{name} sent{to}") } else { format!("{name} at {at}{to}") }
    });
    let what = words.collect::<Vec<_>>().join(", ");
    Some(scene(Need::Telling, Some(first), what))
}

/// ` to shop-1`.
fn to(case: &Case<'_>, attempt: &Attempt) -> String {
    let instances = &case.history.instances;
    let instance = instances.iter().find(|instance| instance.id == attempt.instance);
    instance.map_or_else(String::new, |instance| format!(" to {}", instance.name))
}

/// The attempts of a witness and what a story calls them.
pub(super) fn named<'a>(case: &Case<'a>, witness: &Witness) -> Vec<(&'a Attempt, String)> {
    let attempts: Vec<&Attempt> =
        witness.attempts.iter().filter_map(|&id| find(case, |attempt| attempt.id == id)).collect();
    let key = |attempt: &Attempt| {
        let intent = case.history.intent(attempt.intent);
        (intent.user.as_str(), intent.key.as_str())
    };
    let keys: BTreeSet<_> = attempts.iter().map(|attempt| key(attempt)).collect();
    let strings: BTreeSet<_> = keys.iter().map(|(_, key)| key).collect();
    let acts = |attempt: &Attempt| {
        let intent = case.history.intent(attempt.intent);
        intent.entity.is_some().then_some(intent.request.as_str())
    };
    let name = |attempt: &Attempt| {
        let mut name = format!("attempt {}", number(case, attempt));
        if let Some(request) = acts(attempt) {
            name = format!("`{request}`, {name}");
        }
        if keys.len() > 1 {
            let (user, key) = key(attempt);
            name.push_str(&format!(" of {}", if strings.len() > 1 { key } else { user }));
        }
        name
    };
    attempts.iter().map(|attempt| (*attempt, name(attempt))).collect()
}

fn lines(case: &Case<'_>, attempt: &Attempt, name: &str) -> Vec<(Need, Scene)> {
    let mut scenes = Vec::new();
    if let Some(at) = attempt.first_byte {
        let to = to(case, attempt);
        scenes.push(scene(Need::Telling, Some(at), format!("{name} sent{to}")));
    }
    // In a frozen release the target could begin long after the first byte had left.
    let released = attempt.released.filter(|&at| {
        attempt.last_byte.is_some_and(|last| at > last) && Some(at) <= attempt.completed
    });
    if let Some(at) = released {
        let what = format!("{name} released: the target runs again");
        scenes.push(scene(Need::Background, Some(at), what));
    }
    let what = format!("{name}: {}", answer_and_time(attempt));
    scenes.push(scene(Need::Key, attempt.completed, what));
    scenes
}

fn scene(need: Need, at: Option<RunTime>, what: String) -> (Need, Scene) {
    (need, Scene { at, seen_by: "client".to_owned(), what })
}

fn find<'a>(case: &Case<'a>, is_it: impl Fn(&Attempt) -> bool) -> Option<&'a Attempt> {
    case.history.attempts.iter().find(|attempt| is_it(attempt))
}

/// Its place among the attempts of its user and key, by first byte. Where keys belong to the account,
/// all users of the key count.
fn number(case: &Case<'_>, attempt: &Attempt) -> usize {
    let intent = case.history.intent(attempt.intent);
    let order = |it: &Attempt| (it.first_byte.unwrap_or(RunTime(u64::MAX)), it.id);
    let own = order(attempt);
    let of_key = case.history.attempts.iter().filter(|other| {
        let its = case.history.intent(other.intent);
        let is_account = case.profile.contract.key.scope == KeyScope::Account;
        its.key == intent.key
            && (its.user == intent.user || is_account && intent.entity.is_none())
            && (&its.entity, its.key_form) == (&intent.entity, intent.key_form)
            && (intent.entity.is_none() || its.request == intent.request)
    });
    of_key.filter(|other| order(other) <= own).count()
}
