//! The contract: a preset, with every clause that the profile gives in its place.

use std::time::Duration;

use super::super::contract::{
    AfterExpiry, Answer, BodyCode, BusinessColumn, Contract, Hint, KeyCarrier, KeyRule, KeyScope,
    KeySyntax, MissingKey, OtherParameters, RedisDown, Replay, ReplayBody,
};
use super::super::node::Node;
use super::super::presets;
use super::take::{at, flag, maybe_duration, maybe_text, maybe_word, meaning, text, texts, word};

pub(super) fn contract(node: &Node) -> Contract {
    let preset = presets::contract(word(node, "preset"));
    with_clauses(preset.expect("the description lists the presets"), node)
}

/// A preset from its file, which has every clause.
pub(in crate::profile) fn preset(name: &'static str, node: &Node) -> Contract {
    let nothing = Contract {
        preset: name,
        key: KeyRule {
            carrier: KeyCarrier::Header(String::new()),
            syntax: KeySyntax::Raw,
            longest: None,
            scope: KeyScope::User,
        },
        first: Vec::new(),
        replay: Replay { statuses: None, body: ReplayBody::Bytes },
        replay_marker: None,
        in_progress: Answer::default(),
        other_parameters: OtherParameters::Unsaid,
        missing_key: MissingKey::Unsaid,
        malformed_key: None,
        business_rejection: Answer::default(),
        shed: Answer::default(),
        parked: None,
        hint: Hint::None,
        rejection_is_stored: false,
        after_expiry: AfterExpiry::NewOrder,
        window: None,
        settles_within: None,
        longest_wait: Duration::ZERO,
        one_order_per: Vec::new(),
        recovery_limit: Duration::ZERO,
        redis_down: None,
    };
    with_clauses(nothing, node)
}

/// A rule for keys with what `[contract] key` says in its place.
pub(in crate::profile) fn key_rule(mut rule: KeyRule, contract: &Node) -> KeyRule {
    if let Some(given) = contract.get("key") {
        key(&mut rule, given);
    }
    rule
}

fn with_clauses(mut contract: Contract, node: &Node) -> Contract {
    contract.key = key_rule(contract.key, node);
    let columns = |list: &Node| {
        let words = list.items().iter().filter_map(Node::word);
        words.map(|word| meaning(&BusinessColumn::ALL, BusinessColumn::word, word)).collect()
    };
    replace(&mut contract.one_order_per, node.get("one-order-per").map(columns));
    replace(&mut contract.recovery_limit, maybe_duration(node, "recovery-limit"));
    replace(&mut contract.first, node.get("first").map(statuses));
    if let Some(replay) = node.get("replay") {
        let of_first = |node: &Node| node.word().is_none().then(|| statuses(node));
        replace(&mut contract.replay.statuses, replay.get("status").map(of_first));
        let body = maybe_word(replay, "body");
        replace(
            &mut contract.replay.body,
            body.map(|word| meaning(&ReplayBody::ALL, ReplayBody::word, word)),
        );
    }
    let marker = |node: &Node| match node.word() {
        Some(_) => None,
        None => node.text().map(str::to_ascii_lowercase),
    };
    replace(&mut contract.replay_marker, node.get("replay-marker").map(marker));
    let in_progress = |node: &Node| maybe_answer(node).unwrap_or_default();
    replace(&mut contract.in_progress, node.get("in-progress").map(in_progress));
    replace(&mut contract.other_parameters, node.get("other-parameters").map(other_parameters));
    replace(&mut contract.missing_key, node.get("missing-key").map(missing_key));
    replace(&mut contract.malformed_key, node.get("malformed-key").map(maybe_answer));
    replace(&mut contract.business_rejection, node.get("business-rejection").map(answer));
    replace(&mut contract.shed, node.get("shed").map(answer));
    replace(&mut contract.parked, node.get("parked").map(maybe_answer));
    let hint = maybe_word(node, "hint");
    replace(&mut contract.hint, hint.map(|word| meaning(&Hint::ALL, Hint::word, word)));
    let is_stored = node.get("rejection-is-stored").and_then(Node::flag);
    replace(&mut contract.rejection_is_stored, is_stored);
    let expiry = maybe_word(node, "after-expiry");
    replace(
        &mut contract.after_expiry,
        expiry.map(|word| meaning(&AfterExpiry::ALL, AfterExpiry::word, word)),
    );
    replace(&mut contract.window, node.get("window").map(Node::duration));
    replace(&mut contract.settles_within, node.get("settles-within").map(Node::duration));
    replace(&mut contract.longest_wait, maybe_duration(node, "longest-wait"));
    let down = maybe_word(node, "redis-down");
    let unless_unsaid = |word| RedisDown::ALL.into_iter().find(|it| it.word() == word);
    replace(&mut contract.redis_down, down.map(unless_unsaid));
    contract
}

fn key(rule: &mut KeyRule, node: &Node) {
    let header = maybe_text(node, "header").map(|name| name.to_ascii_lowercase());
    replace(&mut rule.carrier, header.map(KeyCarrier::Header));
    replace(&mut rule.carrier, maybe_text(node, "body").map(KeyCarrier::Body));
    let syntax = maybe_word(node, "syntax");
    replace(&mut rule.syntax, syntax.map(|word| meaning(&KeySyntax::ALL, KeySyntax::word, word)));
    let longest = |node: &Node| node.count().and_then(|count| count.try_into().ok());
    replace(&mut rule.longest, node.get("longest").map(longest));
    let scope = maybe_word(node, "scope");
    replace(&mut rule.scope, scope.map(|word| meaning(&KeyScope::ALL, KeyScope::word, word)));
}

fn other_parameters(node: &Node) -> OtherParameters {
    match node.word() {
        Some("old-result") => OtherParameters::OldResult,
        Some(_) => OtherParameters::Unsaid,
        None => OtherParameters::Rejected {
            answer: answer(node),
            while_in_progress: flag(node, "while-in-progress"),
        },
    }
}

fn missing_key(node: &Node) -> MissingKey {
    match node.word() {
        Some("executed") => MissingKey::Executed,
        Some(_) => MissingKey::Unsaid,
        None => MissingKey::Rejected(answer(node)),
    }
}

fn maybe_answer(node: &Node) -> Option<Answer> {
    node.word().is_none().then(|| answer(node))
}

fn answer(node: &Node) -> Answer {
    let code = node
        .get("code")
        .map(|values| BodyCode { pointer: text(node, "code-at"), values: texts(values) });
    Answer { statuses: statuses(at(node, "status")), code }
}

fn statuses(list: &Node) -> Vec<u16> {
    let statuses = list.items().iter().filter_map(Node::count);
    statuses.filter_map(|status| status.try_into().ok()).collect()
}

fn replace<T>(clause: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *clause = given;
    }
}
