-- Products with less than nothing, the lowest first.
SELECT {product}::text AS product, {available}::bigint AS available, count(*) OVER () AS total
FROM {table}
WHERE {available} < 0
ORDER BY 2, 1
LIMIT {most}
