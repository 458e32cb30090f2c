//! The journal's lines of intents and attempts, of which a run may have millions.
//!
//! They are written by hand: the same bytes as those of `Serialize`, at a fraction of the cost. Each
//! struct is taken apart here, so that a new field doesn't compile until it has its place in the line.

use super::{
    Attempt, AttemptId, Cause, Intent, KeyForm, LinkId, Outcome, RunTime, Sent, Standing, Step,
    StepEnd, Waiting,
};

/// Writes the line of an attempt, with its line end.
pub(super) fn write_attempt(out: &mut Vec<u8>, attempt: &Attempt) {
    let Attempt {
        id: AttemptId(id),
        intent,
        cause,
        instance,
        variant,
        sent,
        planned,
        first_byte,
        last_byte,
        released,
        completed,
        outcome,
        status,
        body,
        order,
        replay_marker,
        waiting,
        refusal,
        failure,
    } = attempt;
    let time = |moment: &Option<RunTime>| moment.map(|RunTime(micros)| micros);
    number(out, "{\"attempt\":{\"id\":", *id);
    number(out, ",\"intent\":", intent.0);
    word(out, ",\"cause\":\"", cause_word(*cause));
    number(out, ",\"instance\":", instance.0);
    maybe_number(out, ",\"variant\":", variant.map(|variant| variant.0));
    word(out, ",\"sent\":\"", sent_word(*sent));
    maybe_number(out, ",\"planned\":", time(planned));
    maybe_number(out, ",\"first_byte\":", time(first_byte));
    maybe_number(out, ",\"last_byte\":", time(last_byte));
    maybe_number(out, ",\"released\":", time(released));
    maybe_number(out, ",\"completed\":", time(completed));
    word(out, ",\"outcome\":\"", outcome_word(*outcome));
    maybe_number(out, ",\"status\":", *status);
    maybe_number(out, ",\"body\":", body.map(|body| body.0));
    maybe_text(out, ",\"order\":", order.as_deref());
    if let Some(marker) = replay_marker {
        flag(out, ",\"replay_marker\":", *marker);
    }
    if let Some(Waiting { retry_after, location }) = waiting {
        flag(out, ",\"waiting\":{\"retry_after\":", *retry_after);
        flag(out, ",\"location\":", *location);
        out.push(b'}');
    }
    maybe_text(out, ",\"refusal\":", refusal.as_deref());
    maybe_text(out, ",\"failure\":", failure.as_deref());
    out.extend_from_slice(b"}}\n");
}

/// Writes the line of an intent, with its line end.
pub(super) fn write_intent(out: &mut Vec<u8>, intent: &Intent) {
    let Intent { id, phase, user, key, product, quantity, fingerprint, request, entity, key_form } =
        intent;
    number(out, "{\"intent\":{\"id\":", id.0);
    number(out, ",\"phase\":", phase.0);
    text(out, ",\"user\":", user);
    text(out, ",\"key\":", key);
    number(out, ",\"product\":", *product);
    number(out, ",\"quantity\":", *quantity);
    text(out, ",\"fingerprint\":", fingerprint);
    text(out, ",\"request\":", request);
    maybe_text(out, ",\"entity\":", entity.as_deref());
    if !key_form.is_good() {
        word(out, ",\"key_form\":\"", form_word(*key_form));
    }
    out.extend_from_slice(b"}}\n");
}

/// Writes the line of a step, with its line end.
pub(super) fn write_step<Text: AsRef<str>>(out: &mut Vec<u8>, step: &Step<Text>) {
    let Step {
        wire,
        link: LinkId(link),
        verb,
        object,
        subject,
        statement,
        role,
        intent,
        product,
        transaction,
        standing,
        token,
        lease_ms,
        compares,
        resent,
        asked: RunTime(asked),
        held,
        forwarded,
        answered,
        delivered,
        end,
        answer,
    } = step;
    let time = |moment: &Option<RunTime>| moment.map(|RunTime(micros)| micros);
    word(out, "{\"step\":{\"wire\":\"", wire.name());
    number(out, ",\"link\":", *link);
    text(out, ",\"verb\":", verb.as_ref());
    maybe_text(out, ",\"object\":", object.as_ref().map(AsRef::as_ref));
    maybe_text(out, ",\"subject\":", subject.as_ref().map(AsRef::as_ref));
    maybe_number(out, ",\"statement\":", statement.map(|statement| statement.0));
    if let Some(role) = role {
        word(out, ",\"role\":\"", role.name());
    }
    maybe_number(out, ",\"intent\":", intent.map(|intent| intent.0));
    maybe_number(out, ",\"product\":", *product);
    maybe_number(out, ",\"transaction\":", *transaction);
    if let Some(standing) = standing {
        word(out, ",\"standing\":\"", standing_word(*standing));
    }
    maybe_number(out, ",\"token\":", *token);
    maybe_number(out, ",\"lease_ms\":", *lease_ms);
    if *compares {
        flag(out, ",\"compares\":", true);
    }
    if *resent {
        flag(out, ",\"resent\":", true);
    }
    number(out, ",\"asked\":", *asked);
    maybe_number(out, ",\"held\":", time(held));
    maybe_number(out, ",\"forwarded\":", time(forwarded));
    maybe_number(out, ",\"answered\":", time(answered));
    maybe_number(out, ",\"delivered\":", time(delivered));
    word(out, ",\"end\":\"", end_word(*end));
    maybe_text(out, ",\"answer\":", answer.as_ref().map(AsRef::as_ref));
    out.extend_from_slice(b"}}\n");
}

#[inline]
fn number(out: &mut Vec<u8>, name: &str, number: impl itoa::Integer) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[inline]
fn maybe_number(out: &mut Vec<u8>, name: &str, value: Option<impl itoa::Integer>) {
    if let Some(value) = value {
        number(out, name, value);
    }
}

/// A word that nothing has to be quoted in; `name` ends with its opening quote.
#[inline]
fn word(out: &mut Vec<u8>, name: &str, word: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(word.as_bytes());
    out.push(b'"');
}

fn flag(out: &mut Vec<u8>, name: &str, value: bool) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

fn text(out: &mut Vec<u8>, name: &str, text: &str) {
    out.extend_from_slice(name.as_bytes());
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        serde_json::to_writer(out, text).expect("a text is JSON, and a Vec takes everything");
    }
}

fn maybe_text(out: &mut Vec<u8>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        text(out, name, value);
    }
}

const fn cause_word(cause: Cause) -> &'static str {
    match cause {
        Cause::Burst => "burst",
        Cause::Retry => "retry",
        Cause::Resolve => "resolve",
        Cause::Prepare => "prepare",
        Cause::Replay => "replay",
        Cause::Steady => "steady",
        Cause::Probe => "probe",
    }
}

const fn sent_word(sent: Sent) -> &'static str {
    match sent {
        Sent::Nothing => "nothing",
        Sent::Part => "part",
        Sent::Whole => "whole",
    }
}

const fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::NotSent => "not-sent",
        Outcome::Acknowledged => "acknowledged",
        Outcome::Pending => "pending",
        Outcome::Parked => "parked",
        Outcome::Refused => "refused",
        Outcome::Unknown => "unknown",
    }
}

const fn standing_word(standing: Standing) -> &'static str {
    match standing {
        Standing::Idle => "idle",
        Standing::Open => "open",
        Standing::Aborted => "aborted",
    }
}

const fn end_word(end: StepEnd) -> &'static str {
    match end {
        StepEnd::Done => "done",
        StepEnd::Failed => "failed",
        StepEnd::Skipped => "skipped",
        StepEnd::Unanswered => "unanswered",
    }
}

const fn form_word(form: KeyForm) -> &'static str {
    match form {
        KeyForm::Good => "good",
        KeyForm::Missing => "missing",
        KeyForm::Empty => "empty",
        KeyForm::TooLong => "too-long",
        KeyForm::Twice => "twice",
        KeyForm::WrongSyntax => "wrong-syntax",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::history::{
        BodyId, Fact, InstanceId, IntentId, PhaseId, Role, StatementId, VariantId, Wire,
    };

    fn serialized(fact: &Fact) -> String {
        serde_json::to_string(fact).unwrap() + "\n"
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z0-9-]{0,12}", "[\\x00-\\x7f]{0,12}", "\\PC{0,8}", any::<String>()]
    }

    fn shared() -> impl Strategy<Value = Option<Arc<str>>> {
        option::of(text().prop_map(Into::into))
    }

    fn time() -> impl Strategy<Value = Option<RunTime>> {
        option::of(any::<u64>().prop_map(RunTime))
    }

    fn cause() -> impl Strategy<Value = Cause> {
        prop::sample::select(vec![
            Cause::Burst,
            Cause::Retry,
            Cause::Resolve,
            Cause::Prepare,
            Cause::Replay,
            Cause::Steady,
            Cause::Probe,
        ])
    }

    fn outcome() -> impl Strategy<Value = Outcome> {
        prop::sample::select(vec![
            Outcome::NotSent,
            Outcome::Acknowledged,
            Outcome::Pending,
            Outcome::Parked,
            Outcome::Refused,
            Outcome::Unknown,
        ])
    }

    fn waiting() -> impl Strategy<Value = Option<Waiting>> {
        option::of(
            any::<(bool, bool)>()
                .prop_map(|(retry_after, location)| Waiting { retry_after, location }),
        )
    }

    prop_compose! {
        fn attempt()(
            (id, intent, instance, variant) in any::<(u32, u32, u16, Option<u32>)>(),
            (cause, outcome) in (cause(), outcome()),
            sent in prop::sample::select(vec![Sent::Nothing, Sent::Part, Sent::Whole]),
            (planned, first_byte, last_byte) in (time(), time(), time()),
            (released, completed) in (time(), time()),
            (status, body, replay_marker) in any::<(Option<u16>, Option<u32>, Option<bool>)>(),
            waiting in waiting(),
            (order, refusal, failure) in (shared(), shared(), shared()),
        ) -> Attempt {
            Attempt {
                id: AttemptId(id),
                intent: IntentId(intent),
                cause,
                instance: InstanceId(instance),
                variant: variant.map(VariantId),
                sent,
                planned,
                first_byte,
                last_byte,
                released,
                completed,
                outcome,
                status,
                body: body.map(BodyId),
                order,
                replay_marker,
                waiting,
                refusal,
                failure,
            }
        }
    }

    prop_compose! {
        fn intent()(
            (id, phase, product, quantity) in any::<(u32, u16, i64, u32)>(),
            (user, key, fingerprint, request) in (text(), text(), text(), text()),
            entity in option::of(text()),
            form in 0..=KeyForm::BAD.len(),
        ) -> Intent {
            let key_form = KeyForm::BAD.get(form).copied().unwrap_or_default();
            let (id, phase) = (IntentId(id), PhaseId(phase));
            Intent {
                id, phase, user, key, product, quantity, fingerprint, request, entity, key_form,
            }
        }
    }

    prop_compose! {
        fn step()(
            wire in prop::sample::select(Wire::ALL.to_vec()),
            (link, statement, intent, product) in
                any::<(u32, Option<u32>, Option<u32>, Option<i64>)>(),
            (transaction, token, lease_ms) in any::<(Option<u32>, Option<u64>, Option<u64>)>(),
            (compares, resent, asked) in any::<(bool, bool, u64)>(),
            verb in text(),
            (object, subject, answer) in (shared(), shared(), shared()),
            role in option::of(prop::sample::select(Role::ALL.to_vec())),
            standing in option::of(prop::sample::select(vec![
                Standing::Idle,
                Standing::Open,
                Standing::Aborted,
            ])),
            end in prop::sample::select(vec![
                StepEnd::Done,
                StepEnd::Failed,
                StepEnd::Skipped,
                StepEnd::Unanswered,
            ]),
            (held, forwarded, answered, delivered) in (time(), time(), time(), time()),
        ) -> Step {
            Step {
                wire,
                link: LinkId(link),
                verb: verb.into(),
                object,
                subject,
                statement: statement.map(StatementId),
                role,
                intent: intent.map(IntentId),
                product,
                transaction,
                standing,
                token,
                lease_ms,
                compares,
                resent,
                asked: RunTime(asked),
                held,
                forwarded,
                answered,
                delivered,
                end,
                answer,
            }
        }
    }

    proptest! {
        #[test]
        fn a_steps_line_is_that_of_its_serialization(step in step()) {
            let mut out = Vec::new();
            write_step(&mut out, &step);
            assert_eq!(String::from_utf8(out).unwrap(), serialized(&Fact::Step(step)));
        }

        #[test]
        fn an_attempts_line_is_that_of_its_serialization(attempt in attempt()) {
            let mut out = Vec::new();
            write_attempt(&mut out, &attempt);
            assert_eq!(String::from_utf8(out).unwrap(), serialized(&Fact::Attempt(attempt)));
        }

        #[test]
        fn an_intents_line_is_that_of_its_serialization(intent in intent()) {
            let mut out = Vec::new();
            write_intent(&mut out, &intent);
            assert_eq!(String::from_utf8(out).unwrap(), serialized(&Fact::Intent(intent)));
        }
    }
}
