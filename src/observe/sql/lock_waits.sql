-- Back-ends that wait for a lock, and for whom. One that is active and waits for its client is idle in
-- the middle of a pipeline, and has no wait event of this type.
SELECT pid, pg_blocking_pids(pid) AS blockers
FROM pg_stat_activity
WHERE wait_event_type = 'Lock'
  AND application_name <> 'dupeproof'
