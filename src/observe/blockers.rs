//! Who waits for whose lock in PostgreSQL (S02), asked again and again while a step is held.

use std::collections::{HashMap, HashSet};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Row};

use super::ObserveError;

/// A connection of its own, so that nobody else's question is in the way.
#[derive(Debug)]
pub struct LockWatch {
    connection: PgConnection,
}

/// Who waits for whom, by the processes of PostgreSQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockWaits {
    blockers: HashMap<u32, Vec<u32>>,
}

impl LockWatch {
    /// Connects to the server itself.
    pub async fn connect(url: &str) -> Result<Self, ObserveError> {
        let refused = |error: sqlx::Error| ObserveError::Connect {
            place: super::rows::place_of(url),
            source: error.into(),
        };
        let options: PgConnectOptions = url.parse().map_err(refused)?;
        let connection = options.application_name("dupeproof").connect().await.map_err(refused)?;
        Ok(Self { connection })
    }

    /// Who waits now.
    pub async fn waits(&mut self) -> Result<LockWaits, ObserveError> {
        let failed = |error: sqlx::Error| ObserveError::Query {
            doing: "looked who waits for whose lock",
            source: error.into(),
        };
        let rows = sqlx::query(include_str!("sql/lock_waits.sql"))
            .fetch_all(&mut self.connection)
            .await
            .map_err(failed)?;
        let mut blockers = HashMap::new();
        for row in rows {
            let pid: i32 = row.try_get("pid").map_err(failed)?;
            let of: Vec<i32> = row.try_get("blockers").map_err(failed)?;
            let of = of.into_iter().filter_map(|pid| u32::try_from(pid).ok());
            blockers.insert(u32::try_from(pid).unwrap_or_default(), of.collect());
        }
        Ok(LockWaits { blockers })
    }
}

impl LockWaits {
    /// Waits as they were seen: each process, and those that it waits for.
    pub fn of(waits: impl IntoIterator<Item = (u32, Vec<u32>)>) -> Self {
        Self { blockers: waits.into_iter().collect() }
    }

    /// How many wait at all.
    pub fn count(&self) -> usize {
        self.blockers.len()
    }

    /// How many wait for this process, directly or through others.
    pub fn behind(&self, holder: u32) -> usize {
        let mut reached = HashSet::from([holder]);
        loop {
            let before = reached.len();
            let waits = |(pid, of): (&u32, &Vec<u32>)| {
                of.iter().any(|blocker| reached.contains(blocker)).then_some(*pid)
            };
            let more: Vec<u32> = self.blockers.iter().filter_map(waits).collect();
            reached.extend(more);
            if reached.len() == before {
                return reached.len() - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_one_that_waits_is_behind_it_too() {
        let waits = LockWaits::of([(2, vec![1]), (3, vec![2]), (4, vec![9]), (5, vec![9, 3])]);
        assert_eq!((waits.behind(1), waits.behind(9), waits.behind(7)), (3, 2, 0));
        let circle = LockWaits::of([(1, vec![2]), (2, vec![1])]);
        assert_eq!(circle.behind(1), 1);
    }
}
