SELECT to_regclass('orders_one_per_key') IS NOT NULL AS per_key,
       to_regclass('orders_one_per_bare_key') IS NOT NULL AS per_bare_key,
       to_regclass('orders_one_per_living_key') IS NOT NULL AS per_living_key,
       to_regclass('orders_one_per_user') IS NOT NULL AS per_user,
       to_regclass('orders_one_per_window') IS NOT NULL AS per_window,
       EXISTS (SELECT FROM pg_constraint
               WHERE conrelid = to_regclass('product_stock')
                 AND conname = 'product_stock_not_negative') AS stock_check,
       (SELECT attnotnull FROM pg_attribute
        WHERE attrelid = to_regclass('orders')
          AND attname = 'idempotency_key') AS key_required
