#!/usr/bin/env bash
# pgbench with a fixed seed: how many transactions there were, and what the tables hold afterwards.
# Takes CLIENTS, TRANSACTIONS and MODE. What is asked goes to PGPORT, what is looked up to DIRECT_PGPORT.
set -euo pipefail

pgbench -q -i -s 1 2>&1 | grep -v -e '^done in' -e elapsed
pgbench -n -c "$1" -j 1 -t "$2" -M "$3" --random-seed=7 2>&1 |
  grep -e 'transactions actually' -e 'failed transactions'
PGPORT=$DIRECT_PGPORT psql -XAt <<'SQL'
SELECT 'accounts', count(*), sum(abalance), md5(string_agg(aid || ':' || abalance, ',' ORDER BY aid)) FROM pgbench_accounts;
SELECT 'tellers', count(*), sum(tbalance), md5(string_agg(tid || ':' || tbalance, ',' ORDER BY tid)) FROM pgbench_tellers;
SELECT 'branches', count(*), sum(bbalance) FROM pgbench_branches;
SELECT 'history', count(*), sum(delta), md5(string_agg(concat_ws(':', tid, bid, aid, delta), ',' ORDER BY tid, bid, aid, delta)) FROM pgbench_history;
SQL
