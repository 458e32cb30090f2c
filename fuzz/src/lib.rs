//! Drives the codecs of the wire room as a link does, with anything, and checks what must hold.
//!
//! A fuzzer and the ordinary tests (`tests/fuzz_seeds`) share it: each protocol is one function of
//! bytes, which are read as a [`script`] of a conversation. It is said twice, once in pieces, with
//! holds, partial writes and small buffers, and once turn by turn at once. Both times the frames must
//! be the same, and what comes out must be what went in.

mod http;
mod link;
mod postgres;
mod redis;
mod script;
mod told;
mod way;

/// Redis: requests and replies.
pub fn redis(bytes: &[u8]) {
    link::check::<redis::Redis>(bytes);
}

/// PostgreSQL: front-end, back-end, and what the names of statements and portals mean.
pub fn postgres(bytes: &[u8]) {
    link::check::<postgres::Postgres>(bytes);
}

/// HTTP/1.1: requests and replies.
pub fn http(bytes: &[u8]) {
    link::check::<http::Http>(bytes);
}
