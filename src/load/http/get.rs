//! One GET on a connection of its own, for readiness and counters.

use std::time::Duration;

use crate::history::Clock;
use crate::load::error::LoadError;
use crate::load::target::TargetInstance;

use super::budget::ReplyBudget;
use super::connection::Connection;
use super::reply::{Reply, ReplyReader};

/// The longest body such an answer may have.
const LONGEST: usize = 1024 * 1024;

/// Gets `path` (behind the instance's base path) within `patience`, whatever its status is.
pub async fn get(
    target: &TargetInstance,
    path: &str,
    patience: Duration,
) -> Result<Reply, LoadError> {
    let path = format!("{}{path}", target.base_path);
    let failed = |reason| LoadError::Get { host: target.host.clone(), path: path.clone(), reason };
    if path.bytes().any(|byte| !byte.is_ascii_graphic()) {
        return Err(failed("the path has a character that a path cannot hold".to_owned()));
    }
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        target.host
    );
    let getting = async {
        let mut connection = Connection::open(&target.resolve(patience).await, patience).await?;
        connection.prepare(request.as_bytes())?;
        let mut reader = ReplyReader::new(LONGEST, &ReplyBudget::new(2 * LONGEST));
        connection.receive(Clock::start(), &mut reader).await
    };
    match tokio::time::timeout(patience, getting).await {
        Ok(reply) => reply.map_err(failed),
        Err(_) => Err(failed(format!("no complete reply within {patience:?}"))),
    }
}
