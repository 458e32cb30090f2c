-- The columns of a table with their types; no row at all when the table doesn't exist.
SELECT attname::text AS name, format_type(atttypid, NULL) AS type
FROM pg_attribute
WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
