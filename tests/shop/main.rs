//! The reference order service, alone: each line of defence does what it says, and each defect
//! deviates in just the way that its file tells. Real PostgreSQL, real Redis, a process an instance.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like the tests themselves")]

mod defects_of_the_fence;
mod defects_of_the_lease;
mod defects_of_the_record;
mod defects_of_the_schema;
mod defects_of_the_stock;
mod defects_of_the_transaction;
mod fences;
mod gate;
mod leases;
mod orders;
mod parked;
mod redis_down;
mod reference;

mod rig;
mod strategies;
