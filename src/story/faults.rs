//! What dupeproof did to the case: the fault where it fired, and what ended it.
//!
//! Seen by nobody of the target's, so these lines have a witness of their own, `fault`.

use crate::audit::{Case, Scene, Struck, Witness};
use crate::history::{FiredStep, FiringEnd, Proof, RunTime, StepPoint};

use super::{Need, client};

pub(super) fn scenes(case: &Case<'_>, witness: &Witness) -> Vec<(Need, Scene)> {
    let named = client::named(case, witness);
    let names: Vec<(_, &str)> =
        named.iter().map(|(attempt, name)| (attempt.id, name.as_str())).collect();
    let lines = witness.faults.iter().flat_map(|struck| {
        let own = names.iter().find(|(id, _)| Some(*id) == struck.attempt).map(|(_, name)| *name);
        let others: Vec<&str> =
            names.iter().map(|(_, name)| *name).filter(|name| Some(*name) != own).collect();
        let begin = Some(scene(struck.at, begin(case, struck, own)));
        let end = struck.end.filter(|(at, _)| *at > struck.at);
        let end = end.and_then(|(at, how)| Some(scene(at, ended(how, own, &others)?)));
        begin.into_iter().chain(end)
    });
    lines.collect()
}

/// `COMMIT of attempt 1 held`.
fn begin(case: &Case<'_>, struck: &Struck, own: Option<&str>) -> String {
    let of = own.map_or_else(String::new, |name| format!(" of {name}"));
    let Some(step) = &struck.step else { return without_step(case, struck) };
    let what = format!("{}{of}", name(step));
    match (&*struck.act, &struck.proof) {
        ("hold", _) if step.point == StepPoint::After => format!("reply to {what} held"),
        ("hold", _) => format!("{what} held"),
        ("delay", _) => format!("{what} delayed"),
        ("drop-reply", _) => format!("reply to {what} dropped"),
        ("drop-request", _) => format!("{what} dropped, the server never saw it"),
        ("fail", Some(Proof::ErrorDelivered { error })) => format!("{what} answered with {error}"),
        ("reset", _) => format!("connection reset {} {what}", step.point.word()),
        ("black-hole", _) => format!("nothing passes any more {} {what}", step.point.word()),
        ("expire", Some(Proof::KeysExpired { .. })) => {
            format!("{what} held until the time of its keys was over")
        }
        ("expire", _) => format!("{what} held, and its keys deleted as if their time were over"),
        _ => format!("{} at {what}", struck.act),
    }
}

/// A step without the word for its wire, which says little beside `fault`.
fn name(step: &FiredStep) -> &str {
    step.name.split_once(' ').map_or(&step.name, |(_, name)| name)
}

fn without_step(case: &Case<'_>, struck: &Struck) -> String {
    let mut instances = case.history.instances.iter();
    let instance = instances.find(|it| Some(it.id) == struck.instance);
    match instance.filter(|_| struck.act == "partition") {
        Some(instance) => format!("{}: {} is cut off", struck.name, instance.name),
        None => struck.name.clone(),
    }
}

/// What ended it, where that says more than that it was over.
fn ended(how: FiringEnd, own: Option<&str>, others: &[&str]) -> Option<String> {
    // Without a name of its own, nobody is certainly another one.
    let other = match others {
        [one] if own.is_some() => Some(*one),
        _ => None,
    };
    Some(match (how, other) {
        (FiringEnd::AtOnce, _) => return None,
        (FiringEnd::OthersAnswered, Some(other)) => format!("released: {other} had its answer"),
        (FiringEnd::OthersAnswered, None) => "released: the others had their answers".to_owned(),
        (FiringEnd::OthersBlocked, Some(other)) => {
            format!("released: {other} was answered or waited for it")
        }
        (FiringEnd::OthersBlocked, None) => {
            "released: the others were answered or waited for it".to_owned()
        }
        (FiringEnd::OwnHold, _) => {
            "released: the others needed its own connection, so the hold blocked itself".to_owned()
        }
        (FiringEnd::TakenOver, _) => "released: somebody else has the lease".to_owned(),
        (FiringEnd::LeaseOver, _) => "released: the lease is gone".to_owned(),
        (FiringEnd::TimeOver, _) => "released: its time was over".to_owned(),
        (FiringEnd::ClientLeft, _) => "over: the client has closed its connection".to_owned(),
        (FiringEnd::ServerClosed, _) => "over: the server has closed its connection".to_owned(),
        (FiringEnd::Healed, _) => "healed".to_owned(),
    })
}

fn scene(at: RunTime, what: String) -> (Need, Scene) {
    (Need::Key, Scene { at: Some(at), seen_by: "fault".to_owned(), what })
}
