//! The end of a task that somebody awaited.

use tokio::task::JoinError;

/// What a task gave; nothing when it was aborted with its owner. A panic in a task is a bug of ours
/// and goes on in whoever awaited it.
pub(super) fn joined<T>(end: Result<T, JoinError>) -> Option<T> {
    match end {
        Ok(given) => Some(given),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => None,
        },
    }
}
