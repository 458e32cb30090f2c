INSERT INTO product_stock (product_id, available)
SELECT * FROM unnest($1::bigint[], $2::int[])
ON CONFLICT (product_id) DO UPDATE SET available = excluded.available
