//! I06: all acknowledged replies of one intent agree: order id always (rule R1), status and body as
//! the contract says. Requests that act on an order only owe its id.
//!
//! Where a replay has statuses of its own, which of several concurrent replies was the first can't be
//! seen. So one reply may have a first answer's status, a second one may not, and none that was asked
//! for after an acknowledgement had arrived.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::codes::{I06, Severity};
use crate::history::{Attempt, Body, BodyId};
use crate::profile::ReplayBody;

use super::bench::Bench;
use super::index::{KeyGroup, Variant, same_id};
use super::ruling::Ruling;
use super::words::{list, share, spelled, times};
use super::{Evidence, Finding, Witness, answer, i06_kept_rejections, json};

/// Two replies of one intent that contradict each other.
struct Clash<'a> {
    user: &'a str,
    key: &'a str,
    first: &'a Attempt,
    other: &'a Attempt,
    what: What<'a>,
}

enum What<'a> {
    Orders(BTreeSet<Cow<'a, str>>),
    Status,
    Body,
}

impl What<'_> {
    const fn is_critical(&self) -> bool {
        matches!(self, Self::Orders(_))
    }
}

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let mut of = 0;
    let mut clashes = Vec::new();
    let mut bodies = Bodies { bench, known: HashMap::new() };
    for (_, group) in bench.index.keyed() {
        for variant in &group.variants {
            of += u64::from(variant.acknowledged().nth(1).is_some());
            clashes.extend(clash(bench, &mut bodies, group, variant));
        }
    }
    let detail = format!(
        "{} contradicted",
        share(clashes.len() as u64, of, "repeated intent", "repeated intents")
    );
    let anew = i06_kept_rejections::finding(bench);
    if of == 0 && anew.is_none() {
        return Ruling::not_judged(&I06, "no intent was acknowledged twice");
    }
    let (orders, rest): (Vec<_>, Vec<_>) =
        clashes.into_iter().partition(|clash| clash.what.is_critical());
    let findings = [two_orders(&orders, bench), other_words(&rest, bench), anew];
    Ruling::of(&I06, detail, findings.into_iter().flatten().collect())
}

fn clash<'a>(
    bench: &Bench<'a>,
    bodies: &mut Bodies<'_, 'a>,
    group: &KeyGroup<'a>,
    variant: &Variant<'a>,
) -> Option<Clash<'a>> {
    let first = variant.first_acknowledged()?;
    let clash = |other, what| Some(Clash { user: group.user, key: group.key, first, other, what });
    let id = |attempt: &'a Attempt| attempt.order.as_deref().map(same_id);
    if let Some(other) = variant.acknowledged().find(|&other| id(other) != id(first)) {
        return clash(other, What::Orders(variant.acknowledged().filter_map(id).collect()));
    }
    if !group.places() {
        return None; // What acts on an order is answered with the order as it is.
    }
    if let Some(other) = wrong_status(bench, variant, first) {
        return clash(other, What::Status);
    }
    let other = variant.acknowledged().find(|other| bodies.differ(first, other))?;
    clash(other, What::Body)
}

/// A reply whose status the contract doesn't allow beside the first acknowledgement.
pub(super) fn wrong_status<'a>(
    bench: &Bench<'a>,
    variant: &Variant<'a>,
    first: &'a Attempt,
) -> Option<&'a Attempt> {
    let Some(replays) = &bench.contract().replay.statuses else {
        return variant.acknowledged().find(|other| other.status != first.status);
    };
    let is_replay = |attempt: &&Attempt| attempt.status.is_some_and(|it| replays.contains(&it));
    let is_later = |attempt: &&Attempt| attempt.first_byte > first.completed;
    let late = variant.acknowledged().find(|attempt| is_later(attempt) && !is_replay(attempt));
    let odd = |attempt: &&'a Attempt| attempt.id != first.id && !is_replay(attempt);
    late.or_else(|| {
        // One reply may be the first answer; if the one that arrived first is a replay, another may.
        let spare = usize::from(is_replay(&first));
        variant.acknowledged().filter(odd).nth(spare)
    })
}

/// Compares bodies, each pair of distinct ones once.
struct Bodies<'b, 'a> {
    bench: &'b Bench<'a>,
    known: HashMap<(BodyId, BodyId), bool>,
}

impl Bodies<'_, '_> {
    fn differ(&mut self, one: &Attempt, other: &Attempt) -> bool {
        let (Some(one), Some(other)) = (one.body, other.body) else { return false };
        if one == other {
            return false;
        }
        let bodies = &self.bench.case.history.bodies;
        let how = self.bench.contract().replay.body;
        let (Some(left), Some(right)) = (bodies.get(&one), bodies.get(&other)) else {
            return false;
        };
        *self.known.entry((one, other)).or_insert_with(|| differ(left, right, how))
    }
}

fn differ(one: &Body, other: &Body, how: ReplayBody) -> bool {
    match how {
        ReplayBody::OrderId | ReplayBody::Current => false,
        ReplayBody::Bytes => one.sha256 != other.sha256,
        ReplayBody::Json => {
            one.sha256 != other.sha256
                && one.is_whole()
                && other.is_whole()
                && json::same(&one.text, &other.text) == Some(false)
        }
    }
}

fn two_orders(clashes: &[Clash<'_>], bench: &Bench<'_>) -> Option<Finding> {
    let ids = |clash: &Clash<'_>| match &clash.what {
        What::Orders(ids) => ids.len() as u64,
        What::Status | What::Body => 0,
    };
    let most = clashes.iter().map(ids).max()?;
    let witness = clashes.iter().min_by_key(|clash| ids(clash))?;
    let mut evidence = Evidence::of(&["user", "key", "order ids", "first told at"]);
    for clash in clashes {
        if let What::Orders(orders) = &clash.what {
            let orders: Vec<_> = orders.iter().collect();
            evidence.rows.push(vec![
                clash.user.to_owned(),
                clash.key.to_owned(),
                list(&orders, 12),
                clash.first.completed.unwrap_or_default().to_string(),
            ]);
        }
    }
    let count = clashes.len() as u64;
    let up_to = if most > ids(witness) { "up to " } else { "" };
    Some(Finding {
        title: format!("one intent was told of {up_to}{} orders{}", spelled(most), times(count)),
        severity: Severity::Critical,
        help: "the request was executed twice: see I02; the database must refuse the second order."
            .to_owned(),
        ..finding(
            bench,
            clashes,
            witness,
            evidence,
            &format!("was told of {} orders", spelled(ids(witness))),
        )
    })
}

fn other_words(clashes: &[Clash<'_>], bench: &Bench<'_>) -> Option<Finding> {
    let witness = clashes.first()?;
    let mut evidence = Evidence::of(&["user", "key", "differs", "first reply", "other reply"]);
    for clash in clashes {
        let (differs, one, other) = match clash.what {
            What::Body => ("body", text(bench, clash.first), text(bench, clash.other)),
            What::Status | What::Orders(_) => ("status", answer(clash.first), answer(clash.other)),
        };
        let row = [clash.user, clash.key, differs, &one, &other];
        evidence.rows.push(row.map(str::to_owned).to_vec());
    }
    let count = clashes.len() as u64;
    Some(Finding {
        title: format!("a replay was not the first answer again{}", times(count)),
        severity: Severity::Contract,
        help: "store status and body with the record and send exactly those; or declare in \
               `[contract]` what a replay is."
            .to_owned(),
        ..finding(bench, clashes, witness, evidence, "was answered in two ways")
    })
}

fn finding(
    bench: &Bench<'_>,
    clashes: &[Clash<'_>],
    witness: &Clash<'_>,
    evidence: Evidence,
    what: &str,
) -> Finding {
    let (first, other) = (bench.index.name_of(witness.first), bench.index.name_of(witness.other));
    let orders = [witness.first, witness.other]
        .into_iter()
        .filter_map(|it| it.order.as_deref().map(str::to_owned));
    Finding {
        code: &I06,
        severity: Severity::Contract,
        title: String::new(),
        count: clashes.len() as u64,
        evidence,
        witness: Witness {
            heading: format!("how {} {what}", witness.key),
            attempts: vec![witness.first.id, witness.other.id],
            orders: orders.collect::<BTreeSet<_>>().into_iter().collect(),
            product: Some(bench.case.history.intent(witness.first.intent).product),
            ..Witness::default()
        },
        therefore: vec![match witness.what {
            What::Orders(_) => format!(
                "the client holds two orders for one intent, because {first} was told of order {} and \
                 {other}, with the same request, of order {}",
                witness.first.order.as_deref().unwrap_or("-"),
                witness.other.order.as_deref().unwrap_or("-")
            ),
            What::Status => format!(
                "the replies disagree in their status, because {first} got {} and {other} got {}",
                answer(witness.first),
                answer(witness.other)
            ),
            What::Body => format!(
                "the replies disagree in their body, because {first} got {} and {other} got {}",
                text(bench, witness.first),
                text(bench, witness.other)
            ),
        }],
        help: String::new(),
    }
}

/// The beginning of a reply's body.
fn text(bench: &Bench<'_>, attempt: &Attempt) -> String {
    const SHOWN: usize = 80;
    let body = attempt.body.and_then(|id| bench.case.history.bodies.get(&id));
    let text = body.map_or("", |body| body.text.trim());
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}
