//! The dead man's process that ends what a killed dupeproof leaves behind.
//!
//! [`Guard::start`] runs the own program a second time (`dupeproof guard`) and holds the write
//! end of a pipe that is its stdin. What must be undone goes down the pipe as lines BEFORE it is
//! done ([`Line`]); when the pipe closes without `done`, its owner is dead, SIGKILL included, and
//! the guard undoes everything: paused processes run again, processes of ours, their kernel
//! leftovers and their folders are gone.
//!
//! Servers are started through [`Guard::command`], so that no moment exists in which a server
//! lives and the guard doesn't know it: the child writes its own line, then becomes the server.

mod command;
mod ending;
mod error;
mod family;
mod handle;
mod journal;
mod launch;
mod peek;
mod process;
mod serve;
mod shared_memory;

pub use command::{Account, GuardedChild, GuardedCommand};
pub use ending::end;
pub use error::GuardError;
pub use family::family;
pub use handle::Guard;
pub use journal::{Journal, Kind, Line};
pub use launch::become_guarded;
pub use process::{Process, ProcessId, Signal, Stat, State};
pub use serve::serve;
