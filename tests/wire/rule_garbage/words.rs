//! What a client says: valid messages, now and then what is none.

use dupeproof::history::Wire;
use rand::{Rng, RngExt};

use crate::postgres_messages::{about, bind, execute, message, parse, query, startup, sync};
use crate::redis_meaning::array;

/// Requests in a row. Every third link has garbage in them.
pub fn requests(wire: Wire, number: u64, rng: &mut impl Rng) -> Vec<u8> {
    let mut said = if wire == Wire::Postgres { startup() } else { Vec::new() };
    for _ in 0..rng.random_range(20..60) {
        let mut request = request(wire, rng);
        if number.is_multiple_of(3) && rng.random_bool(0.1) {
            spoil(&mut request, rng);
        }
        said.extend(request);
    }
    said
}

fn request(wire: Wire, rng: &mut impl Rng) -> Vec<u8> {
    let number = rng.random_range(0..9_u32).to_string();
    let text = "x".repeat(rng.random_range(0..3_000));
    match (wire, rng.random_range(0..10)) {
        (Wire::Redis, 0) => array(&["SET", &number, &text]),
        (Wire::Redis, 1) => array(&["EVAL", "return redis.call('DEL', KEYS[1])", "1", &number]),
        (Wire::Redis, 2) => {
            let multi = [&["MULTI"][..], &["INCR", &number], &["EXEC"]];
            multi.iter().flat_map(|command| array(command)).collect()
        }
        (Wire::Redis, 3) => array(&["PING"]),
        (Wire::Redis, _) => array(&["GET", &number]),
        (Wire::Postgres, 0) => query("BEGIN"),
        (Wire::Postgres, 1) => query("COMMIT"),
        (Wire::Postgres, 2) => query(&format!("INSERT INTO orders VALUES ('{text}')")),
        (Wire::Postgres, 3) => {
            [parse("s", "SELECT $1", &[]), about(b'D', b'S', "s"), message(b'H', &[])].concat()
        }
        (Wire::Postgres, 4) => [about(b'C', b'S', "s"), sync()].concat(),
        (Wire::Postgres, 5) => {
            let one = [parse("", "INSERT INTO orders VALUES ($1)", &[]), bound(&text)].concat();
            let commit = [parse("", "COMMIT", &[]), bound("")].concat();
            [one.clone(), one, commit, sync()].concat()
        }
        (Wire::Postgres, _) => {
            [parse("", "UPDATE stock SET n = $1", &[]), bound(&number), sync()].concat()
        }
        (Wire::Http, 0) => format!("GET /charges/{number} HTTP/1.1\r\n\r\n").into_bytes(),
        (Wire::Http, _) => {
            let length = text.len();
            format!("POST /charges HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{text}").into_bytes()
        }
    }
}

fn bound(value: &str) -> Vec<u8> {
    [bind("", "", &[], &[Some(value.as_bytes())]), execute("")].concat()
}

/// Eight megabytes each that are one thing, or that lead to nothing.
pub fn large(wire: Wire) -> [Vec<u8>; 2] {
    let text = "x".repeat(8 << 20);
    match wire {
        Wire::Redis => [array(&["SET", "large", &text]), array(&["GET", "small"]).repeat(300_000)],
        Wire::Postgres => {
            let bound = bind("", "s", &[], &[Some(&[b'x'; 100])]);
            [query(&text), bound.repeat(70_000)]
        }
        Wire::Http => {
            let post = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{text}", text.len());
            [post.into_bytes(), b"GET / HTTP/1.1\r\n\r\n".repeat(300_000)]
        }
    }
}

/// Bytes that differ, are missing, or are anything.
pub fn spoil(bytes: &mut Vec<u8>, rng: &mut impl Rng) {
    let place = rng.random_range(0..bytes.len().max(1));
    match rng.random_range(0..3) {
        0 => bytes.truncate(place),
        1 => bytes.splice(place..place, (0..place % 200).map(|_| rng.random())).for_each(drop),
        _ => bytes.get_mut(place).map(|byte| *byte = rng.random()).unwrap_or_default(),
    }
}

/// How much of it comes in one piece.
pub fn piece(rng: &mut impl Rng) -> usize {
    let most = [8, 64, 1_000, 70_000][rng.random_range(0..4)];
    rng.random_range(1..=most)
}
