UPDATE product_stock
SET available = available - $1,
    last_fence = COALESCE($3, last_fence),
    version = version + 1
WHERE product_id = $2 AND available >= $1 AND ($4::bigint IS NULL OR last_fence < $4)
