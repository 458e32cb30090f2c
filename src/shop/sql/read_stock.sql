SELECT available, last_fence, version FROM product_stock WHERE product_id = $1
