//! Reads a profile for a command; its mistakes end the command with exit 2.

use std::path::Path;

use crate::profile::{self, LoadProfileError, Profile};
use crate::ui::{self, Failure};

/// Reads and checks a profile.
pub(crate) fn read(path: &Path) -> Result<Profile, Failure> {
    profile::load(path, &|name| std::env::var(name).ok()).map_err(|error| failure(&error))
}

/// Reads the profile of a run that is judged again: nothing is sent, so what came from the
/// environment then needn't be there now.
pub(crate) fn read_for_audit(path: &Path) -> Result<Profile, Failure> {
    let stand_in = |name: &str| Some(std::env::var(name).unwrap_or_else(|_| format!("${name}")));
    profile::load(path, &stand_in).map_err(|error| failure(&error))
}

/// Checks a profile's text.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Profile, Failure> {
    profile::parse(path, text, &|name| std::env::var(name).ok())
        .map_err(|mistakes| failure(&LoadProfileError::Mistakes(mistakes)))
}

/// How a profile that can't be used ends a command.
pub(crate) fn failure(error: &LoadProfileError) -> Failure {
    Failure::told(error.render(ui::colors_stderr()))
}
