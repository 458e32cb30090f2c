//! Free ports on loopback for servers that can't be told to take any.
//!
//! A port that was free a moment ago may be taken by the time the server binds it; then the server
//! ends and says so, and another port is tried. Whether the one who answers on a port is OUR server
//! is asked of the server itself (data folder, pid), not read from /proc: in a container, root may
//! not look at the descriptors of another user's process.

use std::future::Future;
use std::net::{Ipv4Addr, TcpListener};

use super::error::LabError;

const TRIES: usize = 5;

/// Starts a server on a free port, and again on another one when that was taken meanwhile.
pub(super) async fn on_free_port<T, F, Fut>(mut start: F) -> Result<T, LabError>
where
    F: FnMut(u16) -> Fut,
    Fut: Future<Output = Result<T, LabError>>,
{
    let mut tries = 1;
    loop {
        match start(free_port()?).await {
            Err(LabError::Died { tail, .. }) if says_taken(&tail) && tries < TRIES => tries += 1,
            other => return other,
        }
    }
}

fn free_port() -> Result<u16, LabError> {
    let address =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    Ok(address.map_err(|source| LabError::Port { source })?.port())
}

/// The C library's text of EADDRINUSE, which both servers log, and other runtimes in lower case.
fn says_taken(tail: &str) -> bool {
    tail.to_ascii_lowercase().contains("address already in use")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn died(tail: &str) -> LabError {
        LabError::Died {
            what: "redis".to_owned(),
            status: "exit status: 1".to_owned(),
            log: "redis.log".into(),
            tail: tail.to_owned(),
        }
    }

    #[tokio::test]
    async fn a_taken_port_is_answered_with_another_one() {
        let mut ports = Vec::new();
        let started = on_free_port(|port| {
            ports.push(port);
            let result =
                if ports.len() < 3 { Err(died("bind: Address already in use")) } else { Ok(port) };
            std::future::ready(result)
        });
        assert_eq!(started.await.unwrap(), ports[2]);
    }

    #[tokio::test]
    async fn bad_luck_has_an_end_and_other_deaths_are_final() {
        for (tail, expected) in [("Address already in use", TRIES), ("out of memory", 1)] {
            let mut tries = 0;
            let started: Result<(), _> = on_free_port(|_| {
                tries += 1;
                std::future::ready(Err(died(tail)))
            })
            .await;
            assert!(started.is_err());
            assert_eq!(tries, expected, "{tail}");
        }
    }
}
