//! One request, one connection, and what came back; nothing is sent twice.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// 0: the connection ended without a byte.
    pub status: u16,
    pub head: String,
    /// Null where it isn't JSON.
    pub body: Value,
}

pub fn post(address: SocketAddr, path: &str, headers: &str, body: &Value) -> Reply {
    exchange(address, "POST", path, headers, &body.to_string())
}

pub fn get(address: SocketAddr, path: &str) -> Reply {
    exchange(address, "GET", path, "", "")
}

fn exchange(address: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> Reply {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{headers}\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    // A reset is an end like any other.
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Reply {
        status: status.unwrap_or(0),
        head: head.to_ascii_lowercase(),
        body: serde_json::from_str(body).unwrap_or(Value::Null),
    }
}
