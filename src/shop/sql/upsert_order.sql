INSERT INTO orders (user_id, idempotency_key, product_id, quantity, address_version, coupon,
                    request_fingerprint, status, window_start)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'CREATED',
        date_bin(make_interval(secs => $8), clock_timestamp(), timestamptz 'epoch'))
ON CONFLICT (user_id, idempotency_key) DO UPDATE
SET product_id = EXCLUDED.product_id,
    quantity = EXCLUDED.quantity,
    address_version = EXCLUDED.address_version,
    coupon = EXCLUDED.coupon,
    request_fingerprint = EXCLUDED.request_fingerprint
RETURNING order_id
