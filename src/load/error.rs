//! What can keep a load from running at all.
//!
//! An attempt that goes wrong is no error: it is a fact with an outcome. These are the cases in
//! which a burst would not be the burst that was planned.

/// Why there was no load, or not the planned one.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(
        "a burst needs {needed} open files, and the limit is {limit}: raise it \
         with `ulimit -n {needed}`, or plan fewer users"
    )]
    OpenFiles { needed: u64, limit: u64 },
    #[error("cannot raise the limit of open files from {from} to {to}")]
    RaiseOpenFiles { from: u64, to: u64, source: std::io::Error },
    #[error("the target has no instance to send to")]
    NoInstance,
    #[error("the profile has no request number {index}")]
    NoRequest { index: usize },
    #[error("user `{user}` cannot log in: {answer}")]
    Login { user: String, answer: String },
    #[error("the burst has {planned} attempts; a run can number {limit}")]
    TooMany { planned: u64, limit: u64 },
    #[error("request `{request}` cannot be sent: {reason}")]
    Unsendable { request: String, reason: String },
    #[error(
        "a frozen release needs a target that can be paused; \
         `release = \"loop\"` does without"
    )]
    NothingToFreeze,
    #[error("cannot freeze the target: {reason}")]
    Freeze { reason: String },
    #[error("cannot resume the frozen target: {reason}")]
    Thaw { reason: String },
    #[error("cannot measure what twenty sends cost on loopback")]
    Gauge { source: std::io::Error },
    #[error("the thread that releases the burst ended early: {reason}")]
    Release { reason: String },
    #[error("cannot tell the wires which intents are to come: {reason}")]
    Herald { reason: String },
    #[error("cannot use the certificates for TLS: {reason}")]
    Certificates { reason: String },
    #[error("`{host}` is not a name that a TLS certificate can be issued for")]
    TlsName { host: String },
    #[error("cannot get {path} from {host}: {reason}")]
    Get { host: String, path: String, reason: String },
}
