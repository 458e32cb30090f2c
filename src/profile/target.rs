//! What is drilled: the lab, a service that runs already, or one that dupeproof starts.
//!
//! URLs of databases come from the environment and never leave this type in a message: a [`Secret`]
//! shows itself as the name it was taken from.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use crate::history::Role;

/// `[target]`; left out, the lab's shop.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Target {
    #[default]
    Lab,
    /// A service that runs already.
    Attached(Attached),
    /// A command of the user's, started N times with a private PostgreSQL and Redis.
    Launched(Launched),
}

/// `target.urls`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attached {
    /// `http://` or `https://`, host, port and perhaps a base path, one for each instance.
    pub urls: Vec<Secret>,
    /// Path that answers 2xx when an instance is ready.
    pub ready: Option<String>,
}

/// `target.launch`.
#[derive(Clone, Debug, PartialEq)]
pub struct Launched {
    /// Program and arguments; `{port}`, `{postgres.url}`, `{redis.url}` are filled in.
    pub command: Vec<String>,
    pub instances: u16,
    /// Environment of the command, filled in likewise.
    pub env: Vec<(String, Secret)>,
    /// Folder in which it runs; the profile's own when left out.
    pub folder: Option<String>,
    pub ready: Option<String>,
    /// How long an instance may take to become ready.
    pub ready_within: Duration,
    /// Whether it reaches its servers through proxies.
    pub proxies: bool,
}

/// `[postgres]` of an attached target: what the audit reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Postgres {
    pub url: Secret,
    /// Where the target finds it while the run lasts; left out, nobody stands in between.
    pub proxy: Option<SocketAddr>,
}

/// `[redis]`: the target's Redis, and how its keys are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Redis {
    pub url: Option<Secret>,
    pub proxy: Option<SocketAddr>,
    /// Such as `idem:orders:{user}:{key}`.
    pub idempotency_keys: Option<String>,
    /// Such as `lock:stock:{product}`.
    pub lock_keys: Option<String>,
}

/// `[payments]`: an HTTP service that an attached target calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Downstream {
    pub url: Secret,
    pub proxy: SocketAddr,
}

/// `[wires]`: what the proxies can't know by themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wires {
    /// What steps are for, by their name.
    pub roles: Vec<(String, Role)>,
    /// Addresses beside loopback on which proxies may listen.
    pub listen_on: Vec<String>,
}

/// A value that may hold `${NAME}`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    value: String,
    written: String,
    is_secret: bool,
}

impl Secret {
    /// A value as it is used, and as it was written (`${NAME}` and all).
    pub fn new(value: String, written: String) -> Self {
        Self { is_secret: value != written, value, written }
    }

    /// A value that was written in plain sight.
    pub fn plain(value: impl Into<String>) -> Self {
        let value = value.into();
        Self { written: value.clone(), value, is_secret: false }
    }

    /// For use, never for show.
    pub fn reveal(&self) -> &str {
        &self.value
    }

    /// For show and for writing the profile back.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether any part of it came from the environment.
    pub const fn is_secret(&self) -> bool {
        self.is_secret
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Secret({})", self.written)
    }
}

/// Who sends the requests: `[actor]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Actor {
    /// Logs a user in before its first request: the request's index.
    pub login: Option<Login>,
    /// Users that exist already (rule S09), in place of made-up ones.
    pub users: Vec<Secret>,
    /// Products that exist already, in place of made-up ones.
    pub products: Vec<i64>,
}

/// `[actor] login`.
#[derive(Clone, Debug, PartialEq)]
pub struct Login {
    pub request: usize,
    /// JSON pointer to a token in the answer, for `{token}`; left out: its cookies are kept.
    pub token_at: Option<String>,
}

/// SQL of the user's own that changes the database: `[setup]`, `[teardown]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    /// Run in order, each in a transaction of its own. `{users}` and `{products}` become array
    /// literals of the run's.
    pub sql: Vec<String>,
}

/// `[[audit.sql]]`: every row that it returns, and didn't at the baseline, is a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomCheck {
    pub title: String,
    pub severity: crate::codes::Severity,
    pub query: String,
}
