UPDATE product_stock SET available = available - $1 WHERE product_id = $2
