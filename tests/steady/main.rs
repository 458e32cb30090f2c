//! Steady loads, in a binary of their own and one test at a time: what they measure is time and
//! memory, which others would disturb.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world should end there")]

#[path = "../load/other.rs"]
mod other;
#[path = "../load/recording.rs"]
#[expect(dead_code, reason = "likewise")]
mod recording;
#[path = "../load/rig.rs"]
#[expect(dead_code, reason = "shared with the tests of bursts, which use all of it")]
mod rig;
#[path = "../load/server.rs"]
mod server;
mod steady;
