//! The verbs that steps are named with, wire by wire.
//!
//! PostgreSQL's are all there are: the wire names a text of SQL by its first effect. Those of Redis are
//! the commands on data of <https://redis.io/docs/latest/commands/>, those of HTTP the methods of RFC 9110.

pub const POSTGRES: &[&str] = &[
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "MERGE",
    "COPY",
    "CHECKPOINT",
    "SAVEPOINT",
    "RELEASE",
    "TRUNCATE",
    "LOCK",
    "CALL",
    "DO",
    "NOTIFY",
    "VACUUM",
    "ANALYZE",
    "CREATE",
    "ALTER",
    "DROP",
    "GRANT",
    "REVOKE",
    "PREPARE",
    "EXECUTE",
    "DECLARE",
    "FETCH",
    "MOVE",
    "VALUES",
    "TABLE",
    "REFRESH",
];

/// What a connection is told or asked about itself is no step.
pub const POSTGRES_NOISE: &[&str] =
    &["DEALLOCATE", "DISCARD", "SET", "SHOW", "RESET", "LISTEN", "UNLISTEN", "CLOSE", "EXPLAIN"];

#[rustfmt::skip]
pub const REDIS: &[&str] = &[
    "APPEND", "BITCOUNT", "BITFIELD", "BITOP", "BITPOS", "BLMOVE", "BLMPOP", "BLPOP", "BRPOP", "BZMPOP",
    "BZPOPMAX", "BZPOPMIN", "COPY", "DBSIZE", "DECR", "DECRBY", "DEL", "DISCARD", "DUMP", "EVAL", "EVAL_RO",
    "EXEC", "EXISTS", "EXPIRE", "EXPIREAT", "EXPIRETIME", "FCALL", "FCALL_RO", "FLUSHALL", "FLUSHDB",
    "FUNCTION", "GEOADD", "GEODIST", "GEOPOS", "GEOSEARCH", "GET", "GETBIT", "GETDEL", "GETEX", "GETRANGE",
    "GETSET", "HDEL", "HEXISTS", "HEXPIRE", "HGET", "HGETALL", "HGETDEL", "HGETEX", "HINCRBY",
    "HINCRBYFLOAT", "HKEYS", "HLEN", "HMGET", "HMSET", "HPERSIST", "HPEXPIRE", "HPTTL", "HRANDFIELD",
    "HSCAN", "HSET", "HSETEX", "HSETNX", "HSTRLEN", "HTTL", "HVALS", "INCR", "INCRBY", "INCRBYFLOAT",
    "KEYS", "LCS", "LINDEX", "LINSERT", "LLEN", "LMOVE", "LMPOP", "LPOP", "LPOS", "LPUSH", "LPUSHX",
    "LRANGE", "LREM", "LSET", "LTRIM", "MGET", "MOVE", "MSET", "MSETNX", "OBJECT", "PERSIST", "PEXPIRE",
    "PEXPIREAT", "PEXPIRETIME", "PFADD", "PFCOUNT", "PFMERGE", "PSETEX", "PTTL", "PUBLISH", "RANDOMKEY",
    "RENAME", "RENAMENX", "RESTORE", "RPOP", "RPOPLPUSH", "RPUSH", "RPUSHX", "SADD", "SCAN", "SCARD",
    "SDIFF", "SDIFFSTORE", "SET", "SETBIT", "SETEX", "SETNX", "SETRANGE", "SINTER", "SINTERCARD",
    "SINTERSTORE", "SISMEMBER", "SMEMBERS", "SMISMEMBER", "SMOVE", "SORT", "SORT_RO", "SPOP", "SPUBLISH",
    "SRANDMEMBER", "SREM", "SSCAN", "STRLEN", "SUBSTR", "SUNION", "SUNIONSTORE", "SWAPDB", "TOUCH", "TTL",
    "TYPE", "UNLINK", "WAIT", "WAITAOF", "WATCH", "XACK", "XADD", "XAUTOCLAIM", "XCLAIM", "XDEL", "XGROUP",
    "XINFO", "XLEN", "XPENDING", "XRANGE", "XREAD", "XREADGROUP", "XREVRANGE", "XTRIM", "ZADD", "ZCARD",
    "ZCOUNT", "ZDIFF", "ZINCRBY", "ZINTER", "ZMPOP", "ZMSCORE", "ZPOPMAX", "ZPOPMIN", "ZRANDMEMBER",
    "ZRANGE", "ZRANGEBYLEX", "ZRANGEBYSCORE", "ZRANGESTORE", "ZRANK", "ZREM", "ZREMRANGEBYLEX",
    "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE", "ZREVRANGE", "ZREVRANK", "ZSCAN", "ZSCORE", "ZUNION",
];

/// As for PostgreSQL.
#[rustfmt::skip]
pub const REDIS_NOISE: &[&str] = &[
    "HELLO", "AUTH", "CLIENT", "SELECT", "PING", "QUIT", "RESET", "INFO", "COMMAND", "SCRIPT", "ECHO",
    "CONFIG", "READONLY", "READWRITE", "CLUSTER", "UNWATCH", "MULTI", "TIME", "ROLE", "MEMORY", "LATENCY",
    "ACL",
];

pub const HTTP: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

/// What is sent under another word than its step is called.
pub const ALIASES: &[(&str, &str)] = &[
    ("EVALSHA", "EVAL"),
    ("EVALSHA_RO", "EVAL_RO"),
    ("START", "BEGIN"),
    ("END", "COMMIT"),
    ("ABORT", "ROLLBACK"),
];
