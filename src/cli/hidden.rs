//! The two subcommands that dupeproof runs of itself. Nobody types them.
//!
//! They are dispatched before any argument parser or runtime starts: `guarded-exec` becomes
//! another program and has to be single-threaded until then.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use crate::guard::{self, GuardError};
use crate::ui::{self, Exit};

/// A shell's code for a program that could not be run.
const NOT_RUN: u8 = 127;

/// Runs a hidden subcommand; `None` when these arguments (the program's own name first) name none.
pub(crate) fn dispatch(mut args: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let name = args.nth(1)?;
    if name == OsStr::new("guard") {
        return Some(match guard::serve() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error, Exit::Environment.code()),
        });
    }
    if name == OsStr::new("guarded-exec") {
        let Err(error) = guard::become_guarded(args.collect());
        return Some(fail(&error, NOT_RUN));
    }
    None
}

fn fail(error: &GuardError, code: u8) -> ExitCode {
    ui::note(&format!("dupeproof: {error}"));
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        ui::note(&format!("  because: {cause}"));
        source = cause.source();
    }
    ExitCode::from(code)
}
