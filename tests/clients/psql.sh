#!/usr/bin/env bash
# psql and pg_dump, one subject a call. What is asked goes to PGPORT, what is looked up to DIRECT_PGPORT.
set -euo pipefail
cd "$(dirname "$0")"

hundred_megabytes="SELECT lpad(number::text, 99, 'x') FROM generate_series(1, 1000000) number"
directly() { PGPORT=$DIRECT_PGPORT psql -XAtq "$@"; }

case "$1" in
script)
  # Left out: ids that the server draws.
  psql -X -f psql.sql 2>&1 | sed -E 's/(process with PID|lo_import) [0-9]+/\1 N/'
  ;;
copy-out)
  psql -Xq -c "\\copy ($hundred_megabytes) to stdout" | tee >(wc -c >&2) | sha256sum
  psql -Xq -c "\\copy ($hundred_megabytes) to stdout (format binary)" | sha256sum
  ;;
copy-in)
  psql -Xq -c 'CREATE TABLE copied (line text)'
  directly -c "\\copy ($hundred_megabytes) to stdout" | psql -X -c '\copy copied from stdin'
  directly -c 'SELECT count(*), sum(length(line)), sum(hashtext(line)) FROM copied'
  ;;
large-result)
  psql -XAt -c "SELECT number, md5(number::text) FROM generate_series(1, 1000000) number" | sha256sum
  psql -XAt -c "SELECT length(value), md5(value), value FROM (SELECT repeat('0123456789abcdef', 4000000) AS value) one" | sha256sum
  ;;
cancel)
  psql -X -c "SELECT pg_sleep(600)" 2>&1 &
  asleep="SELECT 1 / count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%' AND state = 'active'"
  for _ in $(seq 200); do
    directly -c "$asleep" >/dev/null 2>&1 && break
    sleep 0.05
  done
  kill -INT $!
  wait $! || echo "psql ended with $?"
  directly -c "SELECT 'statements that run on', count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%' AND state = 'active'"
  ;;
dump)
  directly -f psql.sql >/dev/null 2>&1
  PGPORT=$DIRECT_PGPORT pgbench -q -i -s 1 2>/dev/null
  directly -c 'CREATE DATABASE restored'
  pg_dump -Fd -j 2 -f "$SCRATCH/dump"
  pg_restore -j 2 -d restored "$SCRATCH/dump"
  rm -r "$SCRATCH/dump"
  # Compared as text, less what newer versions draw by chance for each dump.
  as_text() { pg_dump "$1" | grep -v -e '^.restrict' -e '^.unrestrict'; }
  cmp <(as_text "$PGDATABASE") <(PGPORT=$DIRECT_PGPORT as_text restored)
  echo "$(PGPORT=$DIRECT_PGPORT as_text restored | wc -l) lines restored as they were"
  directly -c 'DROP DATABASE restored'
  ;;
esac
