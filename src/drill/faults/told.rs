//! What a watcher is told of faults: that one fired, the first time, and at the end what came of each.

use super::keeper::Assigned;
use crate::drill::{Event, Watcher};
use crate::history::{FiredStep, FiringEnd};
use crate::report::format::counted;

/// A fault has fired for the first time.
pub(super) fn first(watcher: &dyn Watcher, fault: &Assigned, step: Option<&FiredStep>) {
    let at = step.map_or_else(String::new, |step| format!(", at {}", step.name));
    watcher.see(Event::Fault { what: format!("fault fired: {}{at}", fault.spec.name()) });
}

/// The phase is over.
pub(super) fn over(watcher: &dyn Watcher, faults: &[Assigned]) {
    for fault in faults {
        watcher.see(Event::Fault { what: in_words(fault) });
    }
}

fn in_words(fault: &Assigned) -> String {
    let name = fault.spec.name();
    match (fault.is_armed, fault.fired) {
        (false, _) => format!("fault not armed: {name}"),
        (true, 0) => format!("fault never fired: {name}"),
        (true, fired) => {
            let mut out = format!("{name}: fired {}", counted(fired, "time", "times"));
            for (place, (how, count)) in fault.ends.iter().enumerate() {
                let begin = if place == 0 { "; ended" } else { "," };
                out.push_str(&format!("{begin} {how} {count}x"));
            }
            out
        }
    }
}

/// How a firing ended, in words.
pub(super) const fn end(how: FiringEnd) -> &'static str {
    match how {
        FiringEnd::AtOnce => "at once",
        FiringEnd::OthersAnswered => "when the others were answered",
        FiringEnd::OthersBlocked => "when the others were blocked",
        FiringEnd::OwnHold => "since the others needed its connection",
        FiringEnd::TakenOver => "when its lease was taken over",
        FiringEnd::LeaseOver => "when its lease was gone",
        FiringEnd::TimeOver => "by its time limit",
        FiringEnd::ClientLeft => "when its client left",
        FiringEnd::ServerClosed => "when the server closed",
        FiringEnd::Healed => "with the phase",
    }
}
