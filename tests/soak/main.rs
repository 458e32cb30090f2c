//! What takes longer than the gate allows: `make soak`. Each campaign asserts its claim and writes
//! its figures to `docs/measured/`, with date, command and machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world should end there")]

#[path = "../common/defect_drills.rs"]
mod defect_drills;
#[path = "../common/footprint.rs"]
mod footprint;
#[path = "../load/other.rs"]
#[expect(dead_code, reason = "shared with the tests of bursts, which use all of it")]
mod other;
#[path = "../load/rig.rs"]
#[expect(dead_code, reason = "likewise")]
mod rig;
#[path = "../load/server.rs"]
#[expect(dead_code, reason = "likewise")]
mod server;
#[path = "../shop/rig.rs"]
#[expect(dead_code, reason = "shared with the tests of the shop, which use all of it")]
mod shop_rig;
#[path = "../experiments/table.rs"]
#[expect(dead_code, reason = "shared with the experiments of the gate, which use all of it")]
mod table;
#[path = "../experiments/table_a.rs"]
mod table_a;
#[path = "../experiments/table_b.rs"]
mod table_b;
#[path = "../common/waiting.rs"]
mod waiting;

mod crashes;
mod experiments;
mod kills;
mod measured;
mod memory;
mod steady;
mod strategies;
mod verdicts;
