//! Acts on keys of the target's Redis, past every proxy: takes a lease, lets time pass, looks who holds
//! what.
//!
//! Each act is one script or one command, so that nobody comes in between. A key without an end of
//! its own never goes here: that would be loss and not the passing of time (S01).

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, Script};

use super::error::ChaosError;

const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to the target's Redis.
#[derive(Clone)]
pub struct Keys {
    connection: MultiplexedConnection,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Keys")
    }
}

impl Keys {
    /// Connects to the server itself.
    ///
    /// # Errors
    /// [`ChaosError::Keys`].
    pub async fn connect(url: &str) -> Result<Self, ChaosError> {
        let act = "connect to the target's Redis";
        let failed = |source| ChaosError::Keys { act, source };
        let client = Client::open(url).map_err(failed)?;
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        let connecting = client.get_multiplexed_async_connection_with_config(&config);
        Ok(Self { connection: connecting.await.map_err(failed)? })
    }

    /// Takes a lease that nobody has; whether it could be had.
    ///
    /// # Errors
    /// [`ChaosError::Keys`], as for all that follow.
    pub async fn take(
        &mut self,
        key: &str,
        token: &str,
        lasts: Duration,
    ) -> Result<bool, ChaosError> {
        let mut command = redis::cmd("SET");
        command.arg(key).arg(token).arg("NX").arg("PX").arg(millis(lasts));
        let taken: Option<String> =
            command.query_async(&mut self.connection).await.map_err(failed("take a lease"))?;
        Ok(taken.is_some())
    }

    /// Gives a lease back that is still ours; whether it was.
    pub async fn give_back(&mut self, key: &str, token: &str) -> Result<bool, ChaosError> {
        let script = Script::new(include_str!("lua/give_back.lua"));
        let given: u32 = script
            .key(key)
            .arg(token)
            .invoke_async(&mut self.connection)
            .await
            .map_err(failed("give a lease back"))?;
        Ok(given > 0)
    }

    /// Who holds each of these keys, in their order.
    pub async fn holders(&mut self, keys: &[&str]) -> Result<Vec<Option<Vec<u8>>>, ChaosError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let script = Script::new(include_str!("lua/holders.lua"));
        let mut asked = script.prepare_invoke();
        for key in keys {
            asked.key(*key);
        }
        let held: Vec<Vec<Vec<u8>>> = asked
            .invoke_async(&mut self.connection)
            .await
            .map_err(failed("look who holds a lease"))?;
        Ok(held.into_iter().map(|holder| holder.into_iter().next()).collect())
    }

    /// What is left of a key's life; none where there is no such key, or no end of it.
    pub async fn left(&mut self, key: &str) -> Result<Option<Duration>, ChaosError> {
        let left: i64 = redis::cmd("PTTL")
            .arg(key)
            .query_async(&mut self.connection)
            .await
            .map_err(failed("look how long a key lives"))?;
        Ok(u64::try_from(left).ok().map(Duration::from_millis))
    }

    /// Lets the rest of a key's life pass: deletes it, and those of the others that live no longer. How
    /// many are gone.
    pub async fn let_pass(&mut self, key: &str, others: &[String]) -> Result<u32, ChaosError> {
        let script = Script::new(include_str!("lua/let_pass.lua"));
        let mut asked = script.key(key);
        for other in others.iter().filter(|other| *other != key) {
            asked.key(other);
        }
        asked.invoke_async(&mut self.connection).await.map_err(failed("let a key's time pass"))
    }
}

fn failed(act: &'static str) -> impl Fn(RedisError) -> ChaosError {
    move |source| ChaosError::Keys { act, source }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}
