UPDATE product_stock SET available = available + $1, version = version + 1 WHERE product_id = $2
