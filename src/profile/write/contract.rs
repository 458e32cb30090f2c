//! `[contract]` with every clause: words stand where a clause is that there is none.

use super::super::contract::{Answer, Contract, KeyCarrier, MissingKey, OtherParameters};
use super::sections::{header, line};
use super::values::{answer, duration, inline, list, numbers, text, with_answer};

pub(super) fn contract(out: &mut String, contract: &Contract) {
    let key = &contract.key;
    let (carrier, place) = match &key.carrier {
        KeyCarrier::Header(name) => ("header", name),
        KeyCarrier::Body(pointer) => ("body", pointer),
    };
    let longest = key.longest.map_or_else(|| text("unsaid"), |longest| longest.to_string());
    let key = inline([
        (carrier, Some(text(place))),
        ("syntax", Some(text(key.syntax.word()))),
        ("longest", Some(longest)),
        ("scope", Some(text(key.scope.word()))),
    ]);
    let status = contract.replay.statuses.as_deref().map_or_else(|| text("first"), numbers);
    let replay =
        inline([("status", Some(status)), ("body", Some(text(contract.replay.body.word())))]);
    let maybe = |answer: Option<&Answer>| Some(answer.map_or_else(|| text("unsaid"), self::answer));
    let word_or = |word, value: Option<String>| Some(value.unwrap_or_else(|| text(word)));
    let columns = contract.one_order_per.iter().map(|column| text(column.word()));
    let in_progress = Some(&contract.in_progress).filter(|answer| !answer.statuses.is_empty());
    header(out, "[contract]");
    line(out, "preset", Some(text(contract.preset)));
    line(out, "key", Some(key));
    line(out, "one-order-per", Some(list(columns)));
    line(out, "recovery-limit", Some(duration(contract.recovery_limit)));
    line(out, "first", Some(numbers(&contract.first)));
    line(out, "replay", Some(replay));
    line(out, "replay-marker", word_or("none", contract.replay_marker.as_deref().map(text)));
    line(out, "in-progress", maybe(in_progress));
    line(out, "other-parameters", Some(other_parameters(&contract.other_parameters)));
    line(out, "missing-key", Some(missing_key(&contract.missing_key)));
    line(out, "malformed-key", maybe(contract.malformed_key.as_ref()));
    line(out, "business-rejection", Some(answer(&contract.business_rejection)));
    line(out, "shed", Some(answer(&contract.shed)));
    line(out, "parked", maybe(contract.parked.as_ref()));
    line(out, "hint", Some(text(contract.hint.word())));
    line(out, "rejection-is-stored", Some(contract.rejection_is_stored.to_string()));
    line(out, "after-expiry", Some(text(contract.after_expiry.word())));
    line(out, "redis-down", contract.redis_down.map(|down| text(down.word())));
    line(out, "window", word_or("none", contract.window.map(duration)));
    line(out, "settles-within", word_or("atomic", contract.settles_within.map(duration)));
    line(out, "longest-wait", Some(duration(contract.longest_wait)));
}

fn other_parameters(clause: &OtherParameters) -> String {
    match clause {
        OtherParameters::Rejected { answer, while_in_progress } => {
            with_answer(answer, [("while-in-progress", Some(while_in_progress.to_string()))])
        }
        OtherParameters::OldResult => text("old-result"),
        OtherParameters::Unsaid => text("unsaid"),
    }
}

fn missing_key(clause: &MissingKey) -> String {
    match clause {
        MissingKey::Rejected(rejection) => answer(rejection),
        MissingKey::Executed => text("executed"),
        MissingKey::Unsaid => text("unsaid"),
    }
}
