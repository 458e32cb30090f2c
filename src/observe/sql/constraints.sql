-- What the schema forbids by itself on the audited tables: unique indexes and check constraints.
-- A column may be NULL in a unique index as often as it likes, unless the index says NULLS NOT DISTINCT
-- (PostgreSQL 15 and later, hence the look by way of JSON).
SELECT i.indrelid::regclass::text AS table_name,
       c.relname::text AS name,
       'unique' AS kind,
       ARRAY (SELECT a.attname::text
              FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
              JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
              WHERE k.place <= i.indnkeyatts
              ORDER BY k.place) AS columns,
       pg_get_indexdef(i.indexrelid) AS definition,
       i.indpred IS NOT NULL AS partial,
       ARRAY (SELECT a.attname::text
              FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
              JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
              WHERE k.place <= i.indnkeyatts
                AND NOT a.attnotnull
                AND NOT coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false)
              ORDER BY k.place) AS nullable
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indisunique AND i.indisvalid
  AND i.indrelid = ANY (SELECT to_regclass(t) FROM unnest($1::text[]) t)
UNION ALL
SELECT conrelid::regclass::text, conname::text, 'check', ARRAY[]::text[],
       pg_get_constraintdef(oid), false, ARRAY[]::text[]
FROM pg_constraint
WHERE contype = 'c'
  AND conrelid = ANY (SELECT to_regclass(t) FROM unnest($1::text[]) t)
ORDER BY 1, 3 DESC, 2
