//! The only place where the shop writes: one line on stdout when it listens, and one line on
//! stderr per problem.
//!
//! stdout is for the program that started the shop, which waits for that line to learn the
//! ports; hence JSON, and a flush. A closed stderr must not end the service, so a failure to
//! write a problem is dropped.

use std::{
    io::{self, Write},
    net::SocketAddr,
};

use serde::Serialize;

use super::error::ShopError;

#[derive(Serialize)]
struct Listening {
    listening: SocketAddr,
    counter: Option<SocketAddr>,
}

/// `{"listening":"127.0.0.1:8080","counter":null}`
pub fn listening(listening: SocketAddr, counter: Option<SocketAddr>) -> Result<(), ShopError> {
    let line = serde_json::to_string(&Listening { listening, counter })
        .expect("two addresses always serialise");
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")
        .and_then(|()| stdout.flush())
        .map_err(|source| ShopError::System {
            doing: "announcing the ports on stdout",
            source,
        })
}

pub fn problem(instance: u32, what: &str, error: &ShopError) {
    let told = error.told_in_one_line();
    let _ = writeln!(io::stderr().lock(), "shop {instance}: {what}: {told}");
}
