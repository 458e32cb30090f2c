//! I26: a missing or malformed key is answered as the contract says.
//!
//! An acknowledgement where a rejection is due is a break, and so is a rejection of another kind, or an
//! answer that the contract doesn't know, once something shows that such requests reach the service at
//! all: whatever refuses everything in one way may stand at a wrong path. A request that nobody answered,
//! or that was shed in front, says nothing; a 5xx that never becomes definite is G11's. Where the contract
//! executes such requests, see next door; where it doesn't say, anything goes.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::codes::{I26, Severity};
use crate::history::{Attempt, KeyForm, Outcome};
use crate::profile::{Answer, Contract};

use super::bench::Bench;
use super::ruling::Ruling;
use super::unagreed::is_outside;
use super::words::{list, plural, thousands};
use super::{Evidence, Finding, Witness, answer, i26_executed};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let history = bench.case.history;
    let mut of = 0;
    let mut wrong: Vec<(KeyForm, &Attempt)> = Vec::new();
    let mut findings = Vec::new();
    let mut known = None;
    let mut lost = 0;
    for attempt in history.attempts.iter().filter(|attempt| attempt.outcome.was_sent()) {
        let form = history.intent(attempt.intent).key_form;
        if due(bench.contract(), form).is_none() {
            continue;
        }
        of += 1;
        let is_wrong = match attempt.outcome {
            Outcome::Acknowledged => true,
            Outcome::Refused => !bench.is_shed(attempt) && !is_as_due(bench, attempt),
            _ => is_outside(attempt),
        };
        if !is_wrong {
            continue;
        }
        let known = known.get_or_insert_with(|| known_requests(bench));
        if known.contains(history.intent(attempt.intent).request.as_str()) {
            wrong.push((form, attempt));
        } else {
            lost += 1;
        }
    }
    if let Some((executed, finding)) = i26_executed::judged(bench) {
        of += executed;
        findings.extend(finding);
    }
    if of == 0 {
        return Ruling::not_judged(
            &I26,
            "no bad keys were sent, or the contract says nothing of them",
        );
    }
    findings.extend(finding(bench, &wrong));
    if lost > 0 && findings.is_empty() {
        return Ruling::not_judged(&I26, "nothing shows that these requests reach the service");
    }
    let detail = format!(
        "{} of {} with a bad key answered otherwise",
        thousands(findings.iter().map(|finding| finding.count).sum::<u64>()),
        plural(of, "request", "requests")
    );
    Ruling::of(&I26, detail, findings)
}

/// Requests of which an answer shows that the service itself read them.
fn known_requests<'a>(bench: &Bench<'a>) -> HashSet<&'a str> {
    let history = bench.case.history;
    let attempts = history.attempts.iter();
    let telling = attempts.filter(|it| it.outcome == Outcome::Acknowledged || is_as_due(bench, it));
    telling.map(|it| history.intent(it.intent).request.as_str()).collect()
}

/// Whether a request with a bad key was rejected just as the contract says.
pub(super) fn is_as_due(bench: &Bench<'_>, attempt: &Attempt) -> bool {
    let form = bench.case.history.intent(attempt.intent).key_form;
    attempt.outcome == Outcome::Refused
        && due(bench.contract(), form)
            .is_some_and(|due| due.iter().any(|it| fits(bench, it, attempt)))
}

/// The answers that are right for a form of bad key; `None`: anything goes. An empty key may be taken
/// for a missing one, and the other way round.
fn due(contract: &Contract, form: KeyForm) -> Option<Vec<&Answer>> {
    let (missing, malformed) = (contract.rejects_missing_key(), contract.malformed_key.as_ref());
    match form {
        KeyForm::Good => None,
        KeyForm::Missing => missing.map(|answer| vec![answer]),
        KeyForm::Empty => missing.map(|answer| [answer].into_iter().chain(malformed).collect()),
        KeyForm::TooLong | KeyForm::Twice | KeyForm::WrongSyntax => {
            malformed.map(|answer| [answer].into_iter().chain(missing).collect())
        }
    }
}

/// Whether an attempt got this answer.
fn fits(bench: &Bench<'_>, due: &Answer, attempt: &Attempt) -> bool {
    if !attempt.status.is_some_and(|status| due.statuses.contains(&status)) {
        return false;
    }
    let Some(code) = &due.code else { return true };
    let body = attempt.body.and_then(|id| bench.case.history.bodies.get(&id));
    // A body that wasn't kept, or not as a whole, can't be held against anybody.
    let Some(body) = body.filter(|body| body.is_whole()) else { return true };
    let said: Option<serde_json::Value> = serde_json::from_str(&body.text).ok();
    said.as_ref().and_then(|said| said.pointer(&code.pointer)).is_some_and(|said| match said {
        serde_json::Value::String(text) => code.values.contains(text),
        other => code.values.contains(&other.to_string()),
    })
}

const fn word(form: KeyForm) -> &'static str {
    match form {
        KeyForm::Good => "good",
        KeyForm::Missing => "missing",
        KeyForm::Empty => "empty",
        KeyForm::TooLong => "too long",
        KeyForm::Twice => "sent twice",
        KeyForm::WrongSyntax => "of the wrong syntax",
    }
}

fn finding(bench: &Bench<'_>, wrong: &[(KeyForm, &Attempt)]) -> Option<Finding> {
    let is_accepted = |it: &&(KeyForm, &Attempt)| it.1.outcome == Outcome::Acknowledged;
    let &(form, witness) = wrong.iter().find(is_accepted).or(wrong.first())?;
    let mut evidence = Evidence::of(&["user", "key was", "sent at", "answer"]);
    let mut forms: BTreeMap<&str, u64> = BTreeMap::new();
    for (form, attempt) in wrong {
        *forms.entry(word(*form)).or_default() += 1;
        evidence.rows.push(vec![
            bench.case.history.intent(attempt.intent).user.to_string(),
            word(*form).to_owned(),
            attempt.first_byte.unwrap_or_default().to_string(),
            answer(attempt),
        ]);
    }
    let forms: Vec<&str> = forms.into_keys().collect();
    let count = wrong.len() as u64;
    let accepted = wrong.iter().filter(|it| is_accepted(it)).count() as u64;
    let intent = bench.case.history.intent(witness.intent);
    let statuses = due(bench.contract(), form).unwrap_or_default();
    let statuses: BTreeSet<u16> = statuses.iter().flat_map(|it| &it.statuses).copied().collect();
    let statuses: Vec<String> = statuses.iter().map(ToString::to_string).collect();
    Some(Finding {
        code: &I26,
        severity: Severity::Contract,
        title: match accepted {
            0 => format!(
                "{} with a bad key ({}) {} rejected in other words",
                plural(count, "request", "requests"),
                list(&forms, 5),
                if count == 1 { "was" } else { "were" }
            ),
            _ => format!(
                "{} with a bad key ({}) {} accepted",
                plural(accepted, "request", "requests"),
                list(&forms, 5),
                if accepted == 1 { "was" } else { "were" }
            ),
        },
        count,
        evidence,
        witness: Witness {
            heading: format!("what {} got for a key that was {}", intent.user, word(form)),
            attempts: vec![witness.id],
            orders: witness.order.iter().map(ToString::to_string).collect(),
            product: Some(intent.product),
            ..Witness::default()
        },
        therefore: vec![format!(
            "a client that makes this mistake never hears of it, because {} had a key that was {} and \
             got {}, where the contract says {}",
            bench.index.name_of(witness),
            word(form),
            answer(witness),
            list(&statuses, 4)
        )],
        help: "check presence, length and syntax of the key before anything else.".to_owned(),
    })
}
