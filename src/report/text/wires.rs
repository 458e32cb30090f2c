//! What the wires saw, in a line under the gate: how far the run was looked at from inside.

use super::super::format::{counted, thousands};
use super::super::result::WireResult;
use super::wrapped;

pub(super) fn write(wires: &[WireResult], out: &mut String) {
    if wires.is_empty() {
        return;
    }
    let mut parts: Vec<String> = wires.iter().map(seen).collect();
    let sum = |of: fn(&WireResult) -> u64| wires.iter().map(of).sum::<u64>();
    parts.push(format!("noise {}", thousands(sum(|wire| wire.noise))));
    parts.extend(unnamed(wires));
    let rest = [
        ("passed unread", sum(|wire| wire.unread)),
        ("refused", sum(|wire| wire.refused)),
        ("not connected", sum(|wire| wire.unreached)),
    ];
    for (what, links) in rest.into_iter().filter(|(_, links)| *links > 0) {
        parts.push(format!("{} {what}", counted(links, "connection", "connections")));
    }
    let lost = sum(|wire| wire.lost);
    if lost > 0 {
        parts.push(format!("{} not written down", counted(lost, "step", "steps")));
    }
    wrapped(out, 4, "wires    ", &parts.join("; "));
}

fn seen(wire: &WireResult) -> String {
    let steps = counted(wire.steps, "step", "steps");
    let links = counted(wire.links, "connection", "connections");
    format!("{} {steps} on {links}", wire.wire)
}

fn unnamed(wires: &[WireResult]) -> Option<String> {
    let each = wires.iter().flat_map(|wire| &wire.unnamed);
    let each: Vec<_> =
        each.map(|(driver, count)| format!("{} of {driver}", thousands(*count))).collect();
    (!each.is_empty()).then(|| format!("not named: {}", each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(wire: &str, steps: u64, links: u64) -> WireResult {
        WireResult { wire: wire.to_owned(), steps, links, ..WireResult::default() }
    }

    #[test]
    fn what_was_seen_and_what_was_not_is_one_line() {
        let mut out = String::new();
        write(&[], &mut out);
        assert_eq!(out, "");
        let mut postgres = wire("postgres", 1, 1);
        postgres.unnamed.insert("node-postgres".to_owned(), 3);
        (postgres.noise, postgres.refused, postgres.lost) = (1_200, 2, 1);
        write(&[wire("redis", 12_400, 4), postgres], &mut out);
        assert_eq!(
            out,
            "    wires    redis 12,400 steps on 4 connections; postgres 1 step on 1\n             \
             connection; noise 1,200; not named: 3 of node-postgres; 2\n             \
             connections refused; 1 step not written down\n"
        );
    }
}
