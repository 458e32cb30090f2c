//! G13: where there are proxies, they saw what the run did.
//!
//! A wire on which nothing of the run passed proves nothing, whatever else held: the target reaches that
//! server another way, and neither lints nor reached overlap have anything to go by.

use crate::codes::G13;
use crate::history::{Wire, WireFacts};

use super::bench::Bench;
use super::ruling::Ruling;
use super::words::{plural, verb};

pub(super) fn check(bench: &Bench<'_>) -> Ruling {
    let wires = &bench.case.history.wires;
    if wires.is_empty() {
        return Ruling::default();
    }
    let mut trouble: Vec<(String, String)> = wires.iter().filter_map(lost).collect();
    if bench.accounting.acknowledged > 0 {
        let sees_none = !wires.iter().any(|wire| wire.of_the_run > 0);
        let of_servers = wires.iter().filter(|wire| wire.wire != Wire::Http);
        trouble.extend(of_servers.filter_map(|wire| unseen(wire, sees_none)));
    }
    let mut trouble = trouble.into_iter();
    match trouble.next() {
        Some((what, cure)) => {
            let missed = Ruling::missed(&G13, what, cure);
            trouble.fold(missed, |ruling, (what, cure)| ruling.doubting(&G13, what, cure))
        }
        None => {
            let sum = |of: fn(&WireFacts) -> u64| wires.iter().map(of).sum::<u64>();
            let (links, steps) = (sum(|wire| wire.links), sum(|wire| wire.steps));
            let links = plural(links, "connection", "connections");
            Ruling::held(&G13, format!("{} on {links}", plural(steps, "step", "steps")))
        }
    }
}

fn lost(wire: &WireFacts) -> Option<(String, String)> {
    let cure =
        "let fewer requests run at once, or put the results folder on a faster disk".to_owned();
    let steps = plural(wire.lost, "step", "steps");
    let what = format!(
        "{steps} of the {} proxy {} not written down, so nothing is concluded from what is missing",
        wire.wire.name(),
        verb(wire.lost, "was", "were")
    );
    (wire.lost > 0).then_some((what, cure))
}

/// Why a wire shows nothing of the run, if so. `sees_none`: no wire saw anything of it.
fn unseen(wire: &WireFacts, sees_none: bool) -> Option<(String, String)> {
    let name = wire.wire.name();
    let server = match wire.wire {
        Wire::Redis => "Redis",
        Wire::Postgres => "PostgreSQL",
        Wire::Http => "its downstreams",
    };
    if wire.links == 0 {
        let what =
            format!("the {name} proxy saw 0 connections: the service reaches {server} another way");
        let cure = format!("give the service the proxy's address in place of {server}'s");
        return Some((what, cure));
    }
    if !sees_none {
        return None;
    }
    let links = plural(wire.links, "connection", "connections");
    if wire.refused > 0 {
        let what = format!(
            "the {name} proxy refused {} of {links}, because {} about to be encrypted",
            wire.refused,
            verb(wire.refused, "it was", "they were")
        );
        return Some((what, format!("switch TLS to {server} off for the drill")));
    }
    let what = format!(
        "none of {} on {links} of the {name} proxy names a user, key or product of \
                        the run",
        plural(wire.steps, "step", "steps")
    );
    let cure = "see that these connections are the service's that is drilled, and that what it sends \
                can be read (`unread`, `unnamed` in the journal)";
    Some((what, cure.to_owned()))
}
