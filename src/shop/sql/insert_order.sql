INSERT INTO orders (user_id, idempotency_key, product_id, quantity, address_version, coupon,
                    request_fingerprint, status, window_start)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'CREATED',
        date_bin(make_interval(secs => $8), clock_timestamp(), timestamptz 'epoch'))
RETURNING order_id
