-- Stock of the run's products.
SELECT {product}::text AS product,
       {available}::bigint AS available,
       {fence}::bigint AS fence
FROM {table}
WHERE {product} = ANY ($1::text[]::{product_type}[])
