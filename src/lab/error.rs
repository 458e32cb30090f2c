//! What can go wrong while a lab is built, runs or ends.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::guard::GuardError;

#[derive(Debug, thiserror::Error)]
pub enum LabError {
    #[error(
        "the lab needs `{program}` and did not find it in {looked_in}; \
         `apt-get install {package}` brings it (or put its folder in PATH)"
    )]
    Missing { program: &'static str, package: &'static str, looked_in: String },
    #[error(
        "PostgreSQL refuses to run as root, and there is neither a user `postgres` nor `nobody` to \
         run it as; start dupeproof as another user"
    )]
    NoAccount,
    #[error(
        "PostgreSQL runs as user {uid} here, who may not enter {}; set TMPDIR to a folder that \
         everybody may enter, such as /tmp, and install programs outside of home folders",
        path.display()
    )]
    Unreachable { path: PathBuf, uid: u32 },
    #[error("could not {act} {}", path.display())]
    File { act: &'static str, path: PathBuf, source: io::Error },
    #[error("could not {act}")]
    Guard { act: &'static str, source: GuardError },
    #[error("could not find a free port on 127.0.0.1")]
    Port { source: io::Error },
    #[error(
        "{what} ended before it was ready ({status}); the end of {}:\n{tail}",
        log.display()
    )]
    Died { what: String, status: String, log: PathBuf, tail: String },
    #[error(
        "{what} was not ready within {limit:?}; the end of {}:\n{tail}",
        log.display()
    )]
    NotReady { what: String, limit: Duration, log: PathBuf, tail: String },
    #[error(
        "{what} was not ready within {limit:?}: {said}; the end of {}:\n{tail}",
        log.display()
    )]
    NotUp { what: String, limit: Duration, said: String, log: PathBuf, tail: String },
    #[error(
        "port {port}, which {what} was given, is held by {holder}, which did not come of {what}'s \
         command: requests would go to a stranger; let the command stay in the foreground, or name \
         what runs already by `target.urls`"
    )]
    Stranger { what: String, port: u16, holder: String },
    #[error("could not wait for {what} to end")]
    Wait { what: String, source: io::Error },
    #[error("could not put {products} products into product_stock")]
    Stock { products: usize, source: sqlx::Error },
    #[error("the routine that ends the lab panicked; the guard ends it when dupeproof ends")]
    StopPanicked { source: tokio::task::JoinError },
}

impl LabError {
    /// Whether the guard failed, and not a server of the lab.
    pub fn is_trouble_of_the_guard(&self) -> bool {
        matches!(self, Self::Guard { .. })
    }

    /// Whether a package would cure it.
    pub fn is_missing_program(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }
}
