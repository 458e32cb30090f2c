//! Requests whose connection ended before they were answered, to tell when a driver asks again.
//!
//! Some clients of Redis send a command again on a new connection by themselves: the same bytes, of
//! which the application knows nothing (`redis-py`, `ioredis`).

use foldhash::HashMap;

use crate::history::InstanceId;

/// Requests that are remembered; further ones are not.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Orphans(HashMap<(Option<InstanceId>, u64), u32>);

impl Orphans {
    /// A link has ended with these requests.
    pub(super) fn add(&mut self, of: Option<InstanceId>, requests: impl Iterator<Item = u64>) {
        for identity in requests {
            if self.0.len() < MOST {
                *self.0.entry((of, identity)).or_default() += 1;
            }
        }
    }

    /// Whether this request is one of them; then it isn't any more.
    pub(super) fn take(&mut self, of: Option<InstanceId>, identity: u64) -> bool {
        let Some(count) = self.0.get_mut(&(of, identity)) else { return false };
        *count -= 1;
        if *count == 0 {
            self.0.remove(&(of, identity));
        }
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
