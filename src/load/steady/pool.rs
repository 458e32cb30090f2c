//! Connections that wait for their next request, the last used first: a load that needs few of them
//! keeps few warm.

use std::sync::{Mutex, PoisonError};

use crate::load::http::Connection;

/// Idle connections by the place of their instance. How many there are is bounded by the requests
/// that are in flight.
#[derive(Debug)]
pub(super) struct Pool {
    idle: Vec<Mutex<Vec<Connection>>>,
}

impl Pool {
    pub fn of(instances: usize) -> Self {
        Self { idle: (0..instances).map(|_| Mutex::default()).collect() }
    }

    /// A connection that the server hasn't closed meanwhile.
    pub fn take(&self, target: usize) -> Option<Connection> {
        loop {
            let mut idle = self.idle[target].lock().unwrap_or_else(PoisonError::into_inner);
            let connection = idle.pop()?;
            drop(idle);
            if connection.is_idle() {
                return Some(connection);
            }
        }
    }

    pub fn keep(&self, target: usize, connection: Connection) {
        self.idle[target].lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}
