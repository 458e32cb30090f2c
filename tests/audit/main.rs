//! The judgement floor, from outside: cases are built, judged, and the judgement is looked at.
//!
//! Every check has a planted defect that it catches and a clean drill that it passes; the simulator
//! asks the same of thousands of random services.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are tests; clippy's own exemption ends at #[test]"
)]

mod agreed;
mod bursts;
mod clauses;
mod faults;
mod fixture;
mod gates;
mod invariants;
mod leases;
mod lints;
mod outages;
mod overlap;
mod payments;
mod properties;
mod retried;
mod rules;
mod service;
mod shape;
mod simulator;
mod soundness;
mod speed;
mod steps;
mod stories;
mod strangers;
mod struck;
mod wires;
