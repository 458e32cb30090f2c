//! Drills against services of one's own: launched, attached, and what can go wrong with either.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like the tests themselves")]

mod attached;
mod launched;
mod node;
mod ports;
mod rig;
mod secrets;
mod statements;
mod wires;
