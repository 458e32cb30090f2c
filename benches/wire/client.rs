//! A client that has one exchange in flight and times it.
//!
//! It blocks in plain sockets: a runtime in between would add what is to be measured.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
    RedisGet,
    PostgresPrepared,
}

impl Talk {
    pub const ALL: [Self; 2] = [Self::RedisGet, Self::PostgresPrepared];

    pub const fn name(self) -> &'static str {
        match self {
            Self::RedisGet => "redis GET",
            Self::PostgresPrepared => "pg prepared",
        }
    }
}

/// A connection, what is asked on it, and how the answer ends.
pub struct Client {
    stream: TcpStream,
    request: Vec<u8>,
    ending: &'static [u8],
}

/// ReadyForQuery outside of a transaction.
const READY: &[u8] = b"Z\0\0\0\x05I";

impl Client {
    pub fn connect(talk: Talk, port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        match talk {
            Talk::RedisGet => {
                let request = b"*2\r\n$3\r\nGET\r\n$5\r\nbench\r\n".to_vec();
                Self { stream, request, ending: b"\r\n" }
            }
            Talk::PostgresPrepared => {
                let mut client = Self { stream, request: Vec::new(), ending: READY };
                client.ask(&with_length(b"\0\x03\0\0user\0postgres\0\0"));
                let sql = "SELECT abalance FROM pgbench_accounts WHERE aid = $1";
                let parse = message(b'P', format!("s\0{sql}\0\0\0").as_bytes());
                client.ask(&[parse, message(b'S', b"")].concat());
                // The unnamed portal, one parameter as text; all rows.
                let bind = message(b'B', b"\0s\0\0\0\0\x01\0\0\0\x0217\0\0");
                let execute = message(b'E', b"\0\0\0\0\0");
                client.request = [bind, execute, message(b'S', b"")].concat();
                client
            }
        }
    }

    /// Microseconds of each exchange, in ascending order.
    pub fn times(&mut self, exchanges: usize) -> Vec<f64> {
        let request = std::mem::take(&mut self.request);
        let mut times: Vec<f64> = (0..exchanges)
            .map(|_| {
                let begin = Instant::now();
                self.ask(&request);
                begin.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        self.request = request;
        times
    }

    fn ask(&mut self, request: &[u8]) {
        self.stream.write_all(request).unwrap();
        let (mut buffer, mut filled) = ([0; 4096], 0);
        while !buffer[..filled].ends_with(self.ending) {
            let count = self.stream.read(&mut buffer[filled..]).unwrap();
            assert!(count > 0, "{:?}", String::from_utf8_lossy(&buffer[..filled]));
            filled += count;
        }
    }
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag], with_length(body).as_slice()].concat()
}

fn with_length(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [length.to_be_bytes().as_slice(), body].concat()
}
