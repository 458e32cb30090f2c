//! What takes longer than the gate allows: `make soak`. Each campaign asserts its claim and writes
//! its figures to `docs/measured/`, with date, command and machine.

#[path = "../common/defect_drills.rs"]
mod defect_drills;
#[path = "../common/footprint.rs"]
mod footprint;
#[path = "../common/waiting.rs"]
mod waiting;

mod kills;
mod measured;
mod memory;
mod verdicts;
