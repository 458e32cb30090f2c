//! Faults of a phase, and the rules of `dupeproof proxy`: triggers and acts.

use super::super::fault::{
    Act, Cut, Expire, Expired, Failure, Fault, Hold, Loss, Owned, Partition, Passing, StepTrigger,
    Trigger, Until, Which,
};
use super::super::node::Node;
use super::super::pattern;
use super::take::{
    at, count, duration, flag, maybe_duration, maybe_text, maybe_word, meaning, share, text, word,
};
use crate::history::{Role, StepPoint, Wire};

pub(super) fn fault(node: &Node) -> Fault {
    Fault { armed: flag(node, "armed"), ..rule(node) }
}

/// A rule is a fault that is always armed.
pub(in crate::profile) fn rule(node: &Node) -> Fault {
    let when = at(node, "at");
    let at = match when.get("step") {
        Some(step) => Trigger::Step(self::step(step)),
        None => Trigger::Time(duration(when, "time")),
    };
    Fault { at, act: act(self::at(node, "do")), armed: true }
}

fn step(node: &Node) -> StepTrigger {
    let points = StepPoint::ALL.into_iter();
    let (point, pattern) = points
        .filter_map(|point| Some((point, maybe_text(node, point.word())?)))
        .next()
        .expect("the check has found one point");
    StepTrigger {
        point,
        step: pattern::read(&pattern),
        role: maybe_word(node, "role").map(|word| meaning(&Role::ALL, Role::name, word)),
        of: meaning(&Owned::ALL, Owned::word, word(node, "of")),
        which: which(node),
        instance: node.get("instance").map(|_| count(node, "instance")),
        key: maybe_text(node, "key"),
        table: maybe_text(node, "table"),
        sql: maybe_text(node, "sql"),
        parameter: maybe_text(node, "parameter"),
        probability: share(node, "probability"),
    }
}

fn which(node: &Node) -> Which {
    match (flag(node, "every"), flag(node, "first-of-each")) {
        (true, _) => Which::Every,
        (_, true) => Which::FirstOfEach,
        _ => Which::Nth(node.get("nth").map_or(1, |_| count(node, "nth"))),
    }
}

fn act(node: &Node) -> Act {
    let act = node.entries().first().expect("the check has found one act");
    let node = &act.node;
    match act.name.as_str() {
        "hold" => Act::Hold(hold(node)),
        "drop-request" => Act::DropRequest(loss(node)),
        "drop-reply" => Act::DropReply(loss(node)),
        "delay" => Act::Delay(duration(node, "for")),
        "reset" => Act::Reset,
        "fail" => Act::Fail(failure(node)),
        "black-hole" => Act::BlackHole,
        "partition" => Act::Partition(Partition {
            wire: wire(node),
            instance: node.get("instance").map(|_| count(node, "instance")),
            how: meaning(&Cut::ALL, Cut::word, word(node, "how")),
            lasts: maybe_duration(node, "for"),
        }),
        "swap-upstream" => Act::SwapUpstream { wire: wire(node) },
        "expire" => Act::Expire(expire(node)),
        "take-lease" => Act::TakeLease { lasts: duration(node, "for") },
        other => unreachable!("the description has no act `{other}`"),
    }
}

fn hold(node: &Node) -> Hold {
    Hold {
        until: meaning(&Until::ALL, Until::word, word(node, "until")),
        limit: duration(node, "limit"),
    }
}

fn loss(node: &Node) -> Loss {
    meaning(&Loss::ALL, Loss::word, word(node, "then"))
}

fn failure(node: &Node) -> Failure {
    match (maybe_text(node, "sqlstate"), maybe_text(node, "redis")) {
        (Some(sqlstate), _) => Failure::Postgres { sqlstate, message: text(node, "message") },
        (None, Some(error)) => Failure::Redis { error },
        (None, None) => Failure::Http { status: count(node, "status") },
    }
}

/// Where time really passes at once, there is nothing to try again with time that does.
fn expire(node: &Node) -> Expire {
    let how = meaning(&Passing::ALL, Passing::word, word(node, "how"));
    Expire {
        what: meaning(&Expired::ALL, Expired::word, word(node, "what")),
        how,
        replay: how == Passing::Delete && flag(node, "replay"),
        hold: hold(node),
    }
}

fn wire(node: &Node) -> Wire {
    meaning(&Wire::ALL, Wire::name, word(node, "wire"))
}
