//! Acts on the target: its processes are paused and resumed, journalled before and read back after;
//! keys of its Redis are taken, and time passes for them.

mod error;
mod keys;
mod pause;

pub use error::ChaosError;
pub use keys::Keys;
pub use pause::{Paused, Resumed, pause, resume_all};
