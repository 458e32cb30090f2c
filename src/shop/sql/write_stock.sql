UPDATE product_stock SET available = $1 WHERE product_id = $2
