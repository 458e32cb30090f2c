//! `[[phase.fault]]`: when and what, each as an inline table.

use super::super::fault::{Act, Failure, Fault, Hold, Loss, StepTrigger, Trigger, Which};
use super::bursts::share;
use super::sections::{header, line};
use super::values::{duration, inline, text};

pub(super) fn fault(out: &mut String, fault: &Fault) {
    header(out, "[[phase.fault]]");
    match &fault.at {
        Trigger::Step(step) => line(out, "at.step", Some(self::step(step))),
        Trigger::Time(time) => line(out, "at.time", Some(duration(*time))),
    }
    line(out, &format!("do.{}", fault.act.word()), Some(act(&fault.act)));
    line(out, "armed", Some(fault.armed.to_string()));
}

fn step(step: &StepTrigger) -> String {
    let pattern = step.step.as_ref().map_or_else(|| "*".to_owned(), ToString::to_string);
    let which = match step.which {
        Which::Nth(nth) => ("nth", Some(nth.to_string())),
        Which::Every => ("every", Some("true".to_owned())),
        Which::FirstOfEach => ("first-of-each", Some("true".to_owned())),
    };
    inline([
        (step.point.word(), Some(text(&pattern))),
        ("role", step.role.map(|role| text(role.name()))),
        ("of", Some(text(step.of.word()))),
        which,
        ("instance", step.instance.map(|instance| instance.to_string())),
        ("key", step.key.as_deref().map(text)),
        ("table", step.table.as_deref().map(text)),
        ("sql", step.sql.as_deref().map(text)),
        ("parameter", step.parameter.as_deref().map(text)),
        ("probability", share(step.probability)),
    ])
}

fn act(act: &Act) -> String {
    match act {
        Act::Hold(hold) => inline(held(*hold)),
        Act::DropRequest(loss) | Act::DropReply(loss) => then(*loss),
        Act::Delay(lasts) | Act::TakeLease { lasts } => inline([("for", Some(duration(*lasts)))]),
        Act::Reset | Act::BlackHole => "{}".to_owned(),
        Act::Fail(failure) => self::failure(failure),
        Act::Partition(cut) => inline([
            ("wire", Some(text(cut.wire.name()))),
            ("instance", cut.instance.map(|instance| instance.to_string())),
            ("how", Some(text(cut.how.word()))),
            ("for", cut.lasts.map(duration)),
        ]),
        Act::SwapUpstream { wire } => inline([("wire", Some(text(wire.name())))]),
        Act::Expire(expire) => {
            let own = [
                ("what", Some(text(expire.what.word()))),
                ("how", Some(text(expire.how.word()))),
                ("replay", Some(expire.replay.to_string())),
            ];
            inline(own.into_iter().chain(held(expire.hold)))
        }
    }
}

fn held(hold: Hold) -> [(&'static str, Option<String>); 2] {
    [("until", Some(text(hold.until.word()))), ("limit", Some(duration(hold.limit)))]
}

fn then(loss: Loss) -> String {
    inline([("then", Some(text(loss.word())))])
}

fn failure(failure: &Failure) -> String {
    match failure {
        Failure::Postgres { sqlstate, message } => {
            inline([("sqlstate", Some(text(sqlstate))), ("message", Some(text(message)))])
        }
        Failure::Redis { error } => inline([("redis", Some(text(error)))]),
        Failure::Http { status } => inline([("status", Some(status.to_string()))]),
    }
}
