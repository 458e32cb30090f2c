//! Phases: what a kind adds, then what all concurrent kinds share.

use super::super::burst::{Arrival, Burst, Crowd, Rate, Sequential};
use super::super::model::{Phase, Request};
use super::faults;
use super::sections::{header, line};
use super::values::{duration, inline, list, text};

type Entries = Vec<(&'static str, Option<String>)>;

pub(super) fn phase(out: &mut String, phase: &Phase, requests: &[Request]) {
    header(out, "[[phase]]");
    line(out, "name", Some(text(&phase.name)));
    let entries = entries(&phase.burst, requests);
    match phase.burst {
        Burst::Rate(_) => line(out, "rate", Some(inline(entries))),
        _ => line(out, &format!("burst.{}", phase.burst.word()), Some(inline(entries))),
    }
    for fault in &phase.faults {
        faults::fault(out, fault);
    }
}

fn entries(burst: &Burst, requests: &[Request]) -> Entries {
    let own: Entries = match burst {
        Burst::SameKey(_) | Burst::SameFingerprint(_) | Burst::FreshKey(_) => Vec::new(),
        Burst::Mutated(burst) => vec![
            ("mutated-share", share(burst.mutated_share)),
            ("again", Some(burst.again.to_string())),
        ],
        Burst::SharedKey(burst) => vec![("sharing", Some(burst.sharing.to_string()))],
        Burst::LastUnit(burst) => vec![("stock", Some(burst.stock.to_string()))],
        Burst::Race(burst) => {
            let racers = burst.requests.iter().filter_map(|&racer| named(requests, racer));
            vec![
                ("first", named(requests, burst.first)),
                ("requests", Some(list(racers))),
                ("in-turn", Some(burst.in_turn.to_string())),
            ]
        }
        Burst::SubmitToken(burst) => {
            vec![("token", named(requests, burst.token)), ("token-at", Some(text(&burst.token_at)))]
        }
        Burst::Mixed(burst) => vec![
            ("variant-share", share(burst.variant_share)),
            ("mutated-share", share(burst.mutated_share)),
            ("fresh-share", share(burst.fresh_share)),
        ],
        Burst::Sequential(burst) => return sequential(burst, requests),
        Burst::BadKeys(burst) => {
            return vec![
                ("users", Some(burst.users.to_string())),
                ("quantity", Some(burst.quantity.to_string())),
                ("request", named(requests, burst.request)),
            ];
        }
        Burst::Rate(rate) => return steady(rate, requests),
    };
    let Some(shared) = burst.crowd() else { return own };
    let request = match burst {
        Burst::Race(_) => None,
        _ => named(requests, shared.request),
    };
    crowd(shared, request, own)
}

/// Users and threads, the kind's own, then the rest.
fn crowd(crowd: &Crowd, request: Option<String>, own: Entries) -> Entries {
    let stagger = match crowd.arrival {
        Arrival::Staggered(apart) => Some(duration(apart)),
        _ => None,
    };
    let mut entries = vec![
        ("users", Some(crowd.users.to_string())),
        ("threads", Some(crowd.threads.to_string())),
    ];
    entries.extend(own);
    entries.extend([
        ("quantity", Some(crowd.quantity.to_string())),
        ("request", request),
        ("release", Some(text(crowd.release.word()))),
        ("arrival", Some(text(crowd.arrival.word()))),
        ("stagger", stagger),
        ("overlap-share", share(crowd.overlap_share)),
    ]);
    entries
}

fn sequential(burst: &Sequential, requests: &[Request]) -> Entries {
    vec![
        ("users", Some(burst.users.to_string())),
        ("repeats", Some(burst.repeats.to_string())),
        ("vary", Some(list(burst.vary.iter().map(|vary| text(vary.word()))))),
        ("route", burst.route.and_then(|route| named(requests, route))),
        ("quantity", Some(burst.quantity.to_string())),
        ("request", named(requests, burst.request)),
    ]
}

fn steady(rate: &Rate, requests: &[Request]) -> Entries {
    vec![
        ("per-second", Some(rate.per_second.to_string())),
        ("for", Some(duration(rate.lasts))),
        ("duplicate-share", share(rate.duplicate_share)),
        ("quantity", Some(rate.quantity.to_string())),
        ("request", named(requests, rate.request)),
    ]
}

fn named(requests: &[Request], index: usize) -> Option<String> {
    requests.get(index).map(|request| text(&request.name))
}

pub(super) fn share(share: f64) -> Option<String> {
    Some(format!("{share:?}"))
}
