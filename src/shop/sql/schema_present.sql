SELECT to_regclass('orders') IS NOT NULL AND to_regclass('product_stock') IS NOT NULL,
       to_regclass('orders_one_per_key') IS NOT NULL,
       to_regclass('orders_one_per_user') IS NOT NULL
