SELECT status FROM orders WHERE order_id = $1 AND user_id = $2
