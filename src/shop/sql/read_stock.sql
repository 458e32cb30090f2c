SELECT available FROM product_stock WHERE product_id = $1
