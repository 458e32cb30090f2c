-- Stock against the sum of all movements of its product; those that differ, and how many there are of
-- both kinds. A ledger that began after the stock never adds up.
WITH sums AS (
    SELECT stock.product, stock.available, coalesce(moved.units, 0) AS moved
    FROM (SELECT {product}::text AS product, {available}::bigint AS available FROM {stock}) AS stock
    LEFT JOIN (
        SELECT {movement_product}::text AS product, sum({delta})::bigint AS units
        FROM {movements}
        GROUP BY 1
    ) AS moved USING (product)
)
SELECT product, available, moved,
       (SELECT count(*) FROM sums AS agreeing WHERE agreeing.available = agreeing.moved) AS agree,
       count(*) OVER () AS total
FROM sums
WHERE available <> moved
ORDER BY 1
LIMIT {most}
