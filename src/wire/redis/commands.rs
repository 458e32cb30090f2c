//! Which arguments of a command are its keys, and the options of SET.
//!
//! Source: the key specifications of <https://redis.io/docs/latest/commands/>. A command that is
//! not listed has no known keys; its frame is passed on like any other.

use std::iter::StepBy;
use std::ops::Range;
use std::time::Duration;

use super::request::{Request, SetOptions};

/// The places of the keys of a command whose name is in capitals.
pub(super) fn keys(verb: &str, request: &Request<'_>) -> StepBy<Range<usize>> {
    let end = request.arguments();
    match verb {
        "SET" | "GET" | "SETNX" | "GETSET" | "GETDEL" | "GETEX" | "SETEX" | "PSETEX" | "APPEND"
        | "STRLEN" | "INCR" | "DECR" | "INCRBY" | "DECRBY" | "INCRBYFLOAT" | "EXPIRE"
        | "PEXPIRE" | "EXPIREAT" | "PEXPIREAT" | "PERSIST" | "TTL" | "PTTL" | "TYPE" | "HSET"
        | "HSETNX" | "HGET" | "HMGET" | "HMSET" | "HGETALL" | "HDEL" | "HEXISTS" | "HINCRBY"
        | "LPUSH" | "RPUSH" | "LPOP" | "RPOP" | "LRANGE" | "SADD" | "SREM" | "SISMEMBER"
        | "SMEMBERS" | "ZADD" | "ZREM" | "ZRANGE" | "ZSCORE" | "XADD" => one(1, end),
        "DEL" | "UNLINK" | "EXISTS" | "TOUCH" | "MGET" | "WATCH" => (1..end).step_by(1),
        "MSET" | "MSETNX" => (1..end).step_by(2),
        "EVAL" | "EVALSHA" | "EVAL_RO" | "EVALSHA_RO" | "FCALL" | "FCALL_RO" => {
            let keys = request.number(2).and_then(|keys| usize::try_from(keys).ok());
            (3..end.min(keys.unwrap_or(0).saturating_add(3)).max(3)).step_by(1)
        }
        _ => one(1, 0),
    }
}

fn one(place: usize, end: usize) -> StepBy<Range<usize>> {
    (place..end.min(place + 1).max(place)).step_by(1)
}

pub(super) fn set_options(request: &Request<'_>) -> SetOptions {
    let mut options = SetOptions::default();
    let mut place = 3;
    while let Some(word) = request.argument(place) {
        let is = |name: &[u8]| word.bytes.eq_ignore_ascii_case(name);
        place += 1;
        if is(b"NX") {
            options.nx = true;
        } else if is(b"XX") {
            options.xx = true;
        } else if is(b"PX") {
            options.lease = request.number(place).map(Duration::from_millis);
            place += 1;
        } else if is(b"EX") {
            options.lease = request.number(place).map(Duration::from_secs);
            place += 1;
        } else if is(b"PXAT") || is(b"EXAT") || is(b"IFEQ") || is(b"IFNE") {
            place += 1;
        }
    }
    options
}
