//! The logs of a run, without secrets.
//!
//! A service writes its log itself, into a file, so that no pipe of ours can hold it up; so the
//! values are taken out when its processes have ended, in place. A dupeproof that is killed before
//! leaves the logs as they were written.

use std::fs;
use std::io;
use std::path::Path;

use crate::history::Secrets;

/// Goes through all files of the folder.
///
/// # Errors
/// When a log can't be read or written again; the others are gone through all the same.
pub(super) fn redact_logs(folder: &Path, secrets: &Secrets) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut result = Ok(());
    for entry in entries.flatten() {
        let path = entry.path();
        let redacted = fs::read(&path).and_then(|bytes| match secrets.redact_bytes(&bytes) {
            Some(clean) => fs::write(&path, clean),
            None => Ok(()),
        });
        result = result.and(redacted);
    }
    result
}
