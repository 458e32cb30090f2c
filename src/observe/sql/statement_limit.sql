-- For the rest of the transaction, or until the savepoint is rolled back to.
SELECT set_config('statement_timeout', $1, true)
