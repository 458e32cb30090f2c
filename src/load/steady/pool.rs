//! Connections that wait for their next request, the last used first: a load that needs few of them
//! keeps few warm.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::history::RunTime;
use crate::load::http::Connection;

/// A connection that answered so shortly ago isn't looked at: what its server may have done since
/// then could as well happen a moment later, with the next request on its way.
const FRESH: Duration = Duration::from_micros(100);

/// Idle connections by the place of their instance. How many there are is bounded by the requests
/// that are in flight.
#[derive(Debug)]
pub(super) struct Pool {
    idle: Vec<Mutex<Vec<(Connection, RunTime)>>>,
}

impl Pool {
    pub fn of(instances: usize) -> Self {
        Self { idle: (0..instances).map(|_| Mutex::default()).collect() }
    }

    /// A connection that the server hasn't closed meanwhile.
    pub fn take(&self, target: usize, now: RunTime) -> Option<Connection> {
        loop {
            let mut idle = self.idle[target].lock().unwrap_or_else(PoisonError::into_inner);
            let (connection, answered) = idle.pop()?;
            drop(idle);
            if now.since(answered) < FRESH || connection.is_idle() {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection that answered at this time.
    pub fn keep(&self, target: usize, connection: Connection, answered: RunTime) {
        let mut idle = self.idle[target].lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((connection, answered));
    }
}
