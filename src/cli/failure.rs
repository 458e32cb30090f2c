//! Errors of the rooms become failures with a code, a cause and a cure.

use crate::codes;
use crate::drill::{Broken, DrillError};
use crate::ui::{Exit, Failure};

/// How a drill that couldn't be carried out ends its command.
pub(crate) fn of_drill(error: &DrillError) -> Failure {
    let failure = Failure::trouble(error.code(), error);
    match error {
        DrillError::ServerDied { last_words, .. } if !last_words.trim().is_empty() => failure
            .with_note(format!(
                "the end of its log:\n  {}",
                last_words.trim_end().replace('\n', "\n  ")
            )),
        _ => failure,
    }
}

/// The same for a drill that was under way: what it recorded is kept, and named.
pub(crate) fn of_broken(broken: &Broken) -> Failure {
    let failure = of_drill(&broken.error);
    match &broken.folder {
        Some(folder) => failure.with_note(format!("what was recorded is in {}", folder.display())),
        None => failure,
    }
}

/// The program can't find its own file, which it runs again as guard and as shop.
pub(crate) fn own_file(source: &std::io::Error) -> Failure {
    Failure {
        exit: Exit::Environment,
        code: Some(&codes::E08),
        ..Failure::usage(
            format!("dupeproof cannot find its own program file: {source}"),
            "Start it from a file that stays where it is while it runs.",
        )
    }
}

/// A lab that didn't come up or didn't go down.
pub(crate) fn of_lab(error: &crate::lab::LabError) -> Failure {
    let code = if error.is_missing_program() { &codes::E01 } else { &codes::E02 };
    Failure::trouble(code, error)
}
