//! What takes longer than the gate allows: `make soak`. Each campaign asserts its claim and writes
//! its figures to `docs/measured/`, with date, command and machine.

mod kills;
mod measured;
mod verdicts;
