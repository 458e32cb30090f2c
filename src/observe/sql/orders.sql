-- Orders that name a user, a key or a product of the run, or whose id was acknowledged. Names in braces
-- are the profile's tables and columns, quoted; a column that the profile leaves out is NULL.
SELECT {id}::text AS id,
       {user}::text AS user_name,
       {key}::text AS key_text,
       {product}::text AS product,
       {quantity}::bigint AS quantity,
       {fingerprint}::text AS fingerprint,
       {status}::text AS status,
       (extract(epoch FROM {created}) * 1000000)::bigint AS created_us,
       {paid} AS paid_us,
       {closed} AS closed_us
FROM {table}
WHERE {of_the_run}
ORDER BY {id}
