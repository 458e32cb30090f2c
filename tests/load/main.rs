//! The load against real sockets: what leaves, what comes back, and what is written down about it.
//!
//! Servers are the tests' own, on port 0. Where a target has to be frozen it is this very binary,
//! executed again, and really stopped.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world should end there")]

mod arrivals;
mod bursts;
mod classify;
mod frozen;
mod kinds;
mod other;
mod recording;
mod replies;
mod resolving;
mod retries;
mod rig;
mod scenes;
mod sequences;
mod server;
mod splits;
mod tls;
mod witnessing;
