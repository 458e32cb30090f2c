-- Orders and their stock movements that don't match, product by product. What is younger than the time
-- that the contract gives a saga to settle ($2, in seconds) is left out.
WITH due AS (
    SELECT {id}::text AS order_id,
           {product}::text AS product,
           CASE WHEN {valid} THEN -{quantity}::bigint ELSE 0 END AS units,
           {is_settled} AS is_settled
    FROM {orders}
    WHERE $1::text[] IS NOT NULL AND $2::float8 IS NOT NULL
), moved AS (
    SELECT {movement_order}::text AS order_id, {movement_product}::text AS product,
           sum({delta})::bigint AS units
    FROM {movements}
    WHERE {movement_order} IS NOT NULL
    GROUP BY 1, 2
)
SELECT coalesce(due.order_id, moved.order_id) AS order_id,
       coalesce(due.product, moved.product) AS product,
       coalesce(due.units, 0) AS due,
       coalesce(moved.units, 0) AS moved,
       EXISTS (SELECT FROM due AS any_of WHERE any_of.order_id = moved.order_id)
           OR due.order_id IS NOT NULL AS has_order,
       count(*) OVER () AS total
FROM due
FULL JOIN moved ON moved.order_id = due.order_id AND moved.product = due.product
WHERE coalesce(due.units, 0) <> coalesce(moved.units, 0) AND coalesce(due.is_settled, true)
ORDER BY 1, 2
LIMIT {most}
