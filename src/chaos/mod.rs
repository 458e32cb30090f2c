//! Acts on processes of the target: pause and resume, journalled before and read back after.

mod error;
mod pause;

pub use error::ChaosError;
pub use pause::{Paused, Resumed, pause, resume_all};
