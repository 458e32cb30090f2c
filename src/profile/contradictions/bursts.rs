//! Each phase by itself: numbers that leave something to contend for, one way of arriving.

use std::collections::HashSet;

use super::super::check::thousands;
use super::super::mistake::{Mistake, quoted};
use super::super::node::Node;
use super::{count, loads};
use crate::codes;

const MOST_AT_ONCE: u64 = 50_000;
const MOST_IN_A_PHASE: u64 = 5_000_000;

pub(super) fn compare(profile: &Node, found: &mut Vec<Mistake>) {
    names_differ(profile.get("phase").map(Node::items).unwrap_or_default(), found);
    let is_attached = profile.get("target").is_some_and(|target| target.mentions("urls"));
    for (kind, load) in loads(profile) {
        fits(kind, load, found);
        plans_something(kind, load, found);
        is_contended(kind, load, found);
        shares_add_up(kind, load, found);
        arrives_in_one_way(load, found);
        has_two_sides(kind, load, found);
        if is_attached {
            is_not_frozen(load, found);
        }
    }
}

fn names_differ(phases: &[Node], found: &mut Vec<Mistake>) {
    let names: Vec<&Node> = phases.iter().filter_map(|phase| phase.get("name")).collect();
    let mut seen = HashSet::new();
    for name in names {
        let Some(text) = name.text() else { continue };
        if !seen.insert(text) {
            let what = format!("two phases are called {}", quoted(text));
            found.push(
                Mistake::new(&codes::GIVEN_TWICE, name.span.clone(), what)
                    .label("an earlier phase has this name")
                    .help("results are found by the name of their phase: give it one of its own"),
            );
        }
    }
}

/// The factors of a phase's attempts, and the most that they may come to.
fn attempts(kind: &str, load: &Node) -> Option<(Vec<u64>, u64)> {
    let users = count(load, "users");
    Some(match kind {
        "rate" => {
            let seconds = load.get("for")?.duration()?.as_secs_f64().ceil() as u64;
            (vec![count(load, "per-second")?, seconds], MOST_IN_A_PHASE)
        }
        "sequential" => (vec![users?, 1 + count(load, "repeats")?], MOST_IN_A_PHASE),
        "race" => {
            let sides = load.get("requests")?.items().len() as u64;
            (vec![users?, count(load, "threads")?, sides], MOST_AT_ONCE)
        }
        "bad-keys" => (vec![users?], MOST_AT_ONCE),
        _ => (vec![users?, count(load, "threads")?], MOST_AT_ONCE),
    })
}

fn fits(kind: &str, load: &Node, found: &mut Vec<Mistake>) {
    let Some((factors, limit)) = attempts(kind, load) else { return };
    let attempts = factors.iter().fold(1_u64, |product, &factor| product.saturating_mul(factor));
    if attempts <= limit {
        return;
    }
    let at_once = limit == MOST_AT_ONCE;
    let what = match at_once {
        true => format!("a burst of {} attempts is too large", thousands(attempts)),
        false => format!("a phase of {} attempts is too long", thousands(attempts)),
    };
    let factors: Vec<String> = factors.iter().map(|&factor| thousands(factor)).collect();
    let help = match at_once {
        true => {
            "each attempt has a connection of its own; 200 users x 20 threads find duplicates well"
        }
        false => "every attempt is recorded and judged; lower the rate, the time or the repeats",
    };
    let label =
        format!("{} = {}, limit {}", factors.join(" x "), thousands(attempts), thousands(limit));
    found.push(
        Mistake::new(&codes::BURST_TOO_LARGE, load.span.clone(), what).label(label).help(help),
    );
}

fn plans_something(kind: &str, load: &Node, found: &mut Vec<Mistake>) {
    let Some(lasts) = load.get("for").filter(|_| kind == "rate") else { return };
    let (Some(span), Some(per_second)) = (lasts.duration(), count(load, "per-second")) else {
        return;
    };
    if (per_second as f64 * span.as_secs_f64()).round() < 1.0 {
        let what = "this load plans no attempt".to_owned();
        let label = format!("too short for {} a second", thousands(per_second));
        found.push(
            Mistake::new(&codes::OUT_OF_RANGE, lasts.span.clone(), what)
                .label(label)
                .help("lengthen `for` or raise `per-second`"),
        );
    }
}

fn is_contended(kind: &str, load: &Node, found: &mut Vec<Mistake>) {
    let mut report = |key: &str, what: String, label: String, help: &str| {
        let span = load.get(key).map_or(&load.span, |node| &node.span).clone();
        let mistake = Mistake::new(&codes::NOTHING_CONTENDED, span, what);
        found.push(mistake.label(label).help(help));
    };
    let asks_several =
        ["same-key", "same-fingerprint", "mutated", "fresh-key", "submit-token", "mixed"];
    if asks_several.contains(&kind) && count(load, "threads") == Some(1) {
        let what = format!("a burst `{kind}` with one thread sends nothing twice");
        let label = "one attempt has nobody to meet".to_owned();
        report("threads", what, label, "at least 2, better 5 to 20");
    }
    if kind == "shared-key" {
        let (users, sharing) = (count(load, "users"), count(load, "sharing"));
        if sharing == Some(1) || users == Some(1) {
            let key = if users == Some(1) { "users" } else { "sharing" };
            let what = "one user shares a key with nobody".to_owned();
            report(
                key,
                what,
                "at least 2".to_owned(),
                "several users must send the same key string",
            );
        }
    }
    if kind == "last-unit" && count(load, "stock") == Some(0) {
        let what = "there is no last unit: nothing is in stock".to_owned();
        let label = "at least 1".to_owned();
        report("stock", what, label, "the last unit is drilled by more buyers than units");
    }
    if kind == "last-unit"
        && let (Some(users), Some(quantity), Some(stock)) =
            (count(load, "users"), count(load, "quantity"), count(load, "stock"))
        && stock >= users.saturating_mul(quantity)
    {
        let wanted = thousands(users * quantity);
        let what = format!("there is enough for everybody: {} units", thousands(stock));
        let label = format!("not fewer than {users} x {quantity} = {wanted}");
        report("stock", what, label, "the last unit is drilled by more buyers than units");
    }
}

fn shares_add_up(kind: &str, load: &Node, found: &mut Vec<Mistake>) {
    if kind != "mixed" {
        return;
    }
    let share = |name: &str| load.get(name).and_then(Node::share);
    let names = ["variant-share", "mutated-share", "fresh-share"];
    let shares: Option<Vec<f64>> = names.into_iter().map(share).collect();
    let Some(sum) = shares.map(|shares| shares.iter().sum::<f64>()) else { return };
    if sum > 1.0 + 1e-9 {
        let what = "the shares of a mixed burst are more than all of it";
        found.push(
            Mistake::new(&codes::SHARES, load.span.clone(), what)
                .label(format!("they add up to {sum:.3}"))
                .help("at most 1 together; what is left over repeats the original bytes"),
        );
    } else if sum == 0.0 {
        let what = "a mixed burst without a share mixes nothing";
        found.push(
            Mistake::new(&codes::SHARES, load.span.clone(), what)
                .label("no share is above 0")
                .help("add `variant-share`, `mutated-share` or `fresh-share`; or use `burst.same-key`"),
        );
    }
}

fn arrives_in_one_way(load: &Node, found: &mut Vec<Mistake>) {
    let arrival = load.get("arrival").and_then(Node::word);
    let stagger = load.get("stagger");
    let mut report = |span: &std::ops::Range<usize>, what: String, label: &str, help: &str| {
        let mistake = Mistake::new(&codes::ARRIVAL, span.clone(), what);
        found.push(mistake.label(label).help(help));
    };
    if let (Some(stagger), Some(word)) = (stagger, arrival)
        && word != "staggered"
    {
        report(
            &stagger.span,
            format!("a stagger contradicts `arrival = \"{word}\"`"),
            "the attempts leave one after the other",
            "take one of both out: `stagger` alone is enough",
        );
    }
    if arrival == Some("staggered") && !load.mentions("stagger") {
        report(
            &load.get("arrival").unwrap_or(load).span,
            "`arrival = \"staggered\"` doesn't say how far apart".to_owned(),
            "`stagger` is missing",
            "for example `stagger = \"4ms\"`",
        );
    }
    let is_at_once = !load.mentions("stagger") && matches!(arrival, None | Some("at-once"));
    let in_turn = load.get("in-turn").and_then(Node::flag) == Some(true);
    if let Some(release) = load.get("release").filter(|release| release.word() == Some("frozen"))
        && (!is_at_once || in_turn)
    {
        report(
            &release.span,
            "a frozen release lets everything arrive at once".to_owned(),
            "these attempts leave one after the other",
            "leave `release` out: it is `loop` here",
        );
    }
}

fn has_two_sides(kind: &str, load: &Node, found: &mut Vec<Mistake>) {
    if kind != "race" {
        return;
    }
    let runs_alone = |requests: &&Node| requests.items().len() < 2 && !meets_itself(load);
    if let Some(requests) = load.get("requests").filter(runs_alone) {
        found.push(
            Mistake::new(&codes::RACE, requests.span.clone(), "a race needs two requests or more")
                .label("one runs alone")
                .help("such as `requests = [\"pay\", \"close\"]`")
                .help("or let one run against itself, with `threads = 2` or more"),
        );
    }
    if let Some(entry) = load.entry("request") {
        found.push(
            Mistake::new(&codes::RACE, entry.key.clone(), "a race has no `request`")
                .label("which side would it be?")
                .help("`first` makes the entity, `requests` lists what races at it"),
        );
    }
}

/// One request in several attempts, such as a buyer who clicks on pay twice.
fn meets_itself(load: &Node) -> bool {
    count(load, "threads").is_some_and(|threads| threads > 1)
}

fn is_not_frozen(load: &Node, found: &mut Vec<Mistake>) {
    if let Some(release) = load.get("release").filter(|release| release.word() == Some("frozen")) {
        found.push(
            Mistake::new(
                &codes::RELEASE,
                release.span.clone(),
                "an attached target can't be frozen",
            )
            .label("its processes aren't ours to stop")
            .help("leave `release` out: it is `loop` for an attached target")
            .help("or let dupeproof start the service: `[target] launch`"),
        );
    }
}
