SELECT user_id, order_id
FROM orders
WHERE status = 'PAYING' AND paying_at < clock_timestamp() - make_interval(secs => $1)
ORDER BY paying_at
LIMIT 100
