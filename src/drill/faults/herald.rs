//! Hears from the load who means what, and lets the faults be armed before the load leaves.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::keeper::Command;
use super::live::Live;
use crate::history::Intent;
use crate::load::{Herald, Heralding};

/// Tells the wires and the faults of a phase.
#[derive(Debug)]
pub(super) struct FaultHerald {
    wires: Arc<dyn Herald>,
    live: Arc<Live>,
    keeper: Mutex<Option<mpsc::Sender<Command>>>,
}

impl FaultHerald {
    pub(super) fn new(wires: Arc<dyn Herald>, live: Arc<Live>) -> Self {
        Self { wires, live, keeper: Mutex::default() }
    }

    /// Who arms the faults of the phase that runs; nobody between phases.
    pub(super) fn listen(&self, keeper: Option<mpsc::Sender<Command>>) {
        *self.keeper.lock().unwrap_or_else(PoisonError::into_inner) = keeper;
    }
}

impl Herald for FaultHerald {
    fn herald<'a>(&'a self, intents: &'a [Intent]) -> Heralding<'a> {
        Box::pin(async {
            self.wires.herald(intents).await?;
            self.live.learn(intents);
            Ok(())
        })
    }

    fn ready(&self) -> Heralding<'_> {
        Box::pin(async {
            let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let Some(keeper) = keeper else { return Ok(()) };
            let (done, armed) = oneshot::channel();
            let gone = || "the faults of the phase have ended".to_owned();
            keeper.send(Command::Arm(done)).await.map_err(|_| gone())?;
            armed.await.map_err(|_| gone())?
        })
    }
}
