//! The limit of open files, looked at before a burst: a client that runs out of them in the middle
//! splits the burst without a word.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::error::LoadError;

/// Files for everything that isn't a connection of the burst.
const SPARE: u64 = 128;

/// Room for the burst's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Each client can keep a connection to every instance that it asks.
    Ample,
    /// One connection a client, and no more.
    Tight,
}

/// Raises the soft limit as far as needed and allowed. `least` connections must fit beside what others
/// may open, `best` would be better.
pub(super) fn make_room(least: u64, best: u64, of_others: u64) -> Result<Room, LoadError> {
    let taken = open_now() + SPARE + of_others;
    let (needed, wanted) = (taken + least, taken + best);
    let limit = getrlimit(Resource::Nofile);
    let mut soft = limit.current.unwrap_or(u64::MAX);
    let raised = wanted.min(limit.maximum.unwrap_or(u64::MAX));
    if raised > soft {
        setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum })
            .map_err(|error| LoadError::RaiseOpenFiles {
                from: soft,
                to: raised,
                source: error.into(),
            })?;
        soft = raised;
    }
    match soft {
        soft if soft < needed => Err(LoadError::OpenFiles { needed, limit: soft }),
        soft if soft < wanted => Ok(Room::Tight),
        _ => Ok(Room::Ample),
    }
}

/// Files that this process has open; 0 where there is no /proc to tell.
fn open_now() -> u64 {
    std::fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_that_cannot_fit_says_how_many_files_it_needs() {
        let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        if hard == u64::MAX {
            return;
        }
        let error = make_room(hard + 1, hard + 1, 0).unwrap_err();
        let LoadError::OpenFiles { needed, limit } = &error else { panic!("{error}") };
        assert!(*needed > hard && *limit == hard);
        assert!(error.to_string().contains("ulimit -n"));
    }
}
