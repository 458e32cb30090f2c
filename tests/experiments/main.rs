//! The experiments: one step of a drill is held, lost or answered, and the defect that shows then is found at
//! the first try.
//!
//! Each pair has a profile under `profiles/experiments/`. The correct shop passes it, and with its fault
//! disarmed it proves nothing.

#[path = "../drill/checks.rs"]
#[expect(dead_code, reason = "shared with the tests of drills, which use all of it")]
mod checks;
#[path = "../common/footprint.rs"]
mod footprint;
#[path = "../drill/rig.rs"]
#[expect(dead_code, reason = "likewise")]
mod rig;
#[path = "../common/waiting.rs"]
mod waiting;

mod crowd;
mod pairs;
mod shelf;
mod table;
mod table_a;
mod table_b;
