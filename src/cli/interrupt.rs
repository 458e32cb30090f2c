//! Ctrl-C once stops the load, heals and still audits; twice ends at once.
//!
//! SIGTERM counts as Ctrl-C, so that a CI system that cancels a job gets its audit too.

use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Hears signals for as long as it lives.
#[derive(Debug)]
pub(crate) struct Interrupts {
    stop: CancellationToken,
    at_once: CancellationToken,
    _listener: Arc<AbortOnDropHandle<()>>,
}

impl Interrupts {
    /// Must be called inside the runtime.
    pub(crate) fn listen() -> Self {
        let (stop, at_once) = (CancellationToken::new(), CancellationToken::new());
        let (first, second) = (stop.clone(), at_once.clone());
        let listener = tokio::spawn(async move {
            let heard = signal(SignalKind::interrupt()).and_then(|interrupt| {
                signal(SignalKind::terminate()).map(|terminate| (interrupt, terminate))
            });
            let Ok((mut interrupt, mut terminate)) = heard else { return };
            for token in [first, second] {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                token.cancel();
            }
        });
        Self { stop, at_once, _listener: Arc::new(AbortOnDropHandle::new(listener)) }
    }

    /// Cancelled by the first signal.
    pub(crate) const fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Returns after the second signal.
    pub(crate) async fn at_once(&self) {
        self.at_once.cancelled().await;
    }
}
