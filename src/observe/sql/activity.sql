-- What the target's back-ends are doing that may still change something. An open transaction
-- without a transaction id has written nothing; a back-end that is active but waits for its client
-- (the middle of a pipeline) does nothing until the client speaks.
SELECT pid,
       (extract(epoch FROM coalesce(xact_start, query_start)) * 1000000)::bigint AS began_us,
       state,
       left(regexp_replace(query, '\s+', ' ', 'g'), 120) AS query
FROM pg_stat_activity
WHERE backend_type = 'client backend'
  AND datname = current_database()
  AND application_name <> 'dupeproof'
  AND state NOT IN ('idle', 'disabled')
  AND NOT (state LIKE 'idle in transaction%' AND backend_xid IS NULL)
  AND NOT (state = 'active' AND wait_event = 'ClientRead')
