#!/usr/bin/env bash
# redis-benchmark and redis-cli, one subject a call. What is asked goes to REDIS_PORT, what is looked up
# to DIRECT_REDIS_PORT.
set -euo pipefail
cd "$(dirname "$0")"

cli() { redis-cli -p "$REDIS_PORT" "$@"; }
directly() { redis-cli -p "$DIRECT_REDIS_PORT" "$@"; }
until_there() {
  for _ in $(seq 400); do
    "$@" && return
    sleep 0.05
  done
  return 1
}

case "$1" in
benchmark)
  # What the server counted: each command once, none refused and none failed. How long: the client's.
  redis-benchmark -p "$REDIS_PORT" -P 100 -c 50 -n "$2" -d 64 -r 100000 -q \
    -t set,get,incr,lpush,rpop,sadd,hset,mset,lrange_100 2>&1 |
    tr '\r' '\n' | sed -nE 's/^([A-Z_]+[^:]*): .* requests per second.*/\1: done/p'
  directly INFO commandstats | tr -d '\r' |
    sed -nE 's/^cmdstat_(set|get|incr|lpush|rpop|sadd|hset|mset|lrange):calls=([0-9]+),.*(rejected_calls=.*)/\1 \2 \3/p' | sort
  ;;
mass)
  python3 - "$2" <<'PYTHON' | cli --pipe
import sys
for number in range(int(sys.argv[1])):
    key, value = f"key:{number}", f"value {number}\r\n" * (number % 5)
    sys.stdout.write(f"*3\r\n$3\r\nSET\r\n${len(key)}\r\n{key}\r\n${len(value)}\r\n{value}\r\n")
PYTHON
  directly DBSIZE
  directly DEBUG DIGEST
  ;;
monitor)
  redis-cli -p "$REDIS_PORT" MONITOR >"$SCRATCH/monitor" &
  monitor=$!
  trap 'kill $monitor 2>/dev/null || true' EXIT
  until_there grep -q OK "$SCRATCH/monitor"
  seq 1 2000 | sed 's/.*/SET watched &/' | directly >/dev/null
  directly SET last "$(printf 'quoted "\r\n\001')" >/dev/null
  until_there grep -q '"last"' "$SCRATCH/monitor"
  sed -E 's/^[0-9.]+ \[([0-9]+) [^]]*\]/\1/' "$SCRATCH/monitor"
  ;;
subscribe)
  redis-cli -p "$REDIS_PORT" SUBSCRIBE news gossip >"$SCRATCH/subscribe" &
  listener=$!
  trap 'kill $listener 2>/dev/null || true' EXIT
  heard_by_one() { [ "$(directly PUBSUB NUMSUB gossip | tail -n 1)" = 1 ]; }
  until_there heard_by_one
  seq 1 5000 | sed 's/.*/PUBLISH news &/' | directly | sort | uniq -c
  directly PUBLISH gossip end
  until_there grep -q '^end' "$SCRATCH/subscribe"
  sha256sum <"$SCRATCH/subscribe"
  wc -l <"$SCRATCH/subscribe"
  ;;
large)
  head -c 67108864 /dev/zero | tr '\0' 'z' | cli -x SET large
  cli STRLEN large
  cli GET large | sha256sum
  cli GETRANGE large 67108860 -1
  ;;
protocol)
  # A line is a command, all on one connection; --show-pushes so that pushes are told where stdout is a file.
  cli ${2:+"$2"} --show-pushes yes --no-auth-warning <<'COMMANDS' 2>&1
SET a 1
INCR a
GET missing
HSET hash x 1 y "two words" z "\x00\r\n"
HGETALL hash
ZADD scores 1.5 one inf two
ZRANGE scores 0 -1 WITHSCORES
SADD set only
SMEMBERS set
INCR hash
NONSENSE
GET
MULTI
SET a 5
INCR hash
GET a
EXEC
MULTI
NONSENSE
EXEC
MULTI
DISCARD
EVAL "return {1, {ok='fine'}, {err='wrong'}, 'text', false}" 0
EVALSHA ffffffffffffffffffffffffffffffffffffffff 0
DEBUG PROTOCOL string
DEBUG PROTOCOL integer
DEBUG PROTOCOL double
DEBUG PROTOCOL null
DEBUG PROTOCOL array
DEBUG PROTOCOL set
DEBUG PROTOCOL map
DEBUG PROTOCOL push
DEBUG PROTOCOL verbatim
DEBUG PROTOCOL true
CLIENT TRACKING ON
GET a
SET a 6
PING
CLIENT TRACKING OFF
OBJECT ENCODING a
XADD stream 1-1 field value
XRANGE stream - +
BLPOP missing 0.01
SELECT 1
GET a
ECHO "the end"
COMMANDS
  ;;
raw)
  # Commands as plain lines, and such that want no reply.
  exec 3<>"/dev/tcp/127.0.0.1/$REDIS_PORT"
  printf '%s\r\n' 'SET a 1' '' 'CLIENT REPLY SKIP' 'INCR a' 'GET a' 'CLIENT REPLY OFF' 'INCR a' 'PING' \
    'CLIENT REPLY ON' 'GET  "a"' 'SUBSCRIBE news' 'PING' 'UNSUBSCRIBE' 'RESET' 'ECHO "x y' 'GET a' >&3
  tr -d '\r' <&3
  ;;
esac
