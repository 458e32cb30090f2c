-- Stock movements of the run's products.
SELECT {order}::text AS order_id,
       {product}::text AS product,
       {delta}::bigint AS delta
FROM {table}
WHERE {product} = ANY ($1::text[]::{product_type}[])
ORDER BY 1, 2, 3
