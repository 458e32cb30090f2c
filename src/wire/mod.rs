//! What crosses a connection between the target and its servers, cut into frames.
//!
//! A [`Codec`] takes the bytes of one direction in whatever pieces they come, keeps them byte for
//! byte until they have been passed on, and has a [`Scanner`] say where frames begin and end. The
//! scanners know one protocol each: [`redis`], [`postgres`] and [`http`].
//!
//! Scanners are told nothing twice and hold back nothing: a frame is never needed whole, however
//! large it is, only a bounded part of it is kept to tell what it is. What can't be read as frames
//! any more is passed on as it comes, and nothing more is said about it.

mod codec;
pub mod http;
mod mark;
mod part;
pub mod postgres;
pub mod redis;

pub use codec::Codec;
pub use mark::{Mark, Scanner};
pub use part::Part;
