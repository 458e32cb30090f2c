//! Paying through the provider stub, with real processes: the provider, PostgreSQL, Redis, shops.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like the tests themselves")]

mod defects;
mod http;
mod paying;
mod provider;
mod reconciling;
mod rig;
#[path = "../common/waiting.rs"]
mod waiting;
