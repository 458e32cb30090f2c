//! Rows and history become findings. Pure functions.

mod finding;

pub use finding::{
    Accounting, Evidence, Finding, Gate, GateState, Judgement, Overlap, Scene, Verdict, Witness,
};
