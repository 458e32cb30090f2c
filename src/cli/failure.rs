//! Errors of the rooms become failures with a code, a cause and a cure.

use crate::codes;
use crate::drill::{Broken, DrillError};
use crate::history::Secrets;
use crate::load::LoadError;
use crate::ui::{Exit, Failure};

/// The target is there, so it is no use to look for it.
const LOGIN_CURE: &str = "Compare `login` of `[actor]` with what the service expects and answers: \
                          its request, and `token-at` or the cookie that it gives.";

/// How a drill that couldn't be carried out ends its command. No secret is shown, whoever told it.
pub(crate) fn of_drill(error: &DrillError, secrets: &Secrets) -> Failure {
    let failure = match (error, error.code()) {
        (DrillError::Refused { what, cure }, _) => Failure::usage(what, cure),
        (DrillError::ServerDied { last_words, .. }, Some(code)) => {
            let failure = Failure::trouble(code, error);
            match last_words.trim() {
                "" => failure,
                words => failure
                    .with_note(format!("the end of its log:\n  {}", words.replace('\n', "\n  "))),
            }
        }
        (DrillError::Load { source: LoadError::Login { .. }, .. }, Some(code)) => {
            Failure { cure: LOGIN_CURE.to_owned(), ..Failure::trouble(code, error) }
        }
        (_, Some(code)) => Failure::trouble(code, error),
        (_, None) => Failure {
            exit: Exit::Inconclusive,
            ..Failure::usage(error.to_string(), "Run the drill again, to its end.")
        },
    };
    redacted(failure, secrets)
}

fn redacted(failure: Failure, secrets: &Secrets) -> Failure {
    let clean = |text: String| secrets.redact(&text).into_owned();
    Failure {
        what: clean(failure.what),
        because: failure.because.into_iter().map(clean).collect(),
        cure: clean(failure.cure),
        notes: failure.notes.into_iter().map(clean).collect(),
        ..failure
    }
}

/// The same for a drill that was under way: what it recorded is kept, and named.
pub(crate) fn of_broken(broken: &Broken, secrets: &Secrets) -> Failure {
    let failure = of_drill(&broken.error, secrets);
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
