-- Transactions prepared for a two-phase commit may still commit, whatever happens to their clients.
SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()
