//! Whoever wants to know who means what before the first byte of it leaves.
//!
//! A frame on a wire of the target is recognised by the words of its intent; so these must be known
//! there before a request of that intent can cause one.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use crate::history::Intent;

use super::error::LoadError;

/// A future of a [`Herald`].
pub type Heralding<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Is told of intents, and comes back when whom it may concern knows them. Failures are told in words.
pub trait Herald: Send + Sync + Debug {
    fn herald<'a>(&'a self, intents: &'a [Intent]) -> Heralding<'a>;

    /// All intents of a phase have been told of, its scene is set, and the first byte of its load is about
    /// to leave.
    fn ready(&self) -> Heralding<'_> {
        Box::pin(async { Ok(()) })
    }
}

/// Tells of intents, if there is somebody who wants to know.
pub(super) async fn herald(who: Option<&dyn Herald>, intents: &[Intent]) -> Result<(), LoadError> {
    match who.filter(|_| !intents.is_empty()) {
        Some(who) => who.herald(intents).await.map_err(|reason| LoadError::Herald { reason }),
        None => Ok(()),
    }
}

/// Says that the load is about to leave.
pub(super) async fn ready(who: Option<&dyn Herald>) -> Result<(), LoadError> {
    match who {
        Some(who) => who.ready().await.map_err(|reason| LoadError::Herald { reason }),
        None => Ok(()),
    }
}
