//! The built program as its users meet it: every verdict, every trouble, every exit code.
//!
//! Each test has a folder of its own and real servers in it, so any number of them may run at once.

#[path = "../common/backends.rs"]
mod backends;
#[path = "../common/defect_drills.rs"]
mod defect_drills;
#[path = "../common/footprint.rs"]
mod footprint;
#[path = "../common/waiting.rs"]
mod waiting;

mod breaking;
mod checks;
mod commands;
mod damaged;
mod defects;
mod faults;
mod killing;
mod lints;
mod proxying;
mod rig;
mod schemas;
mod troubles;
mod verdicts;
mod wires;
