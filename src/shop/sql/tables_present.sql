SELECT to_regclass('orders') IS NOT NULL AND to_regclass('product_stock') IS NOT NULL
   AND to_regclass('stock_movements') IS NOT NULL
   AND to_regclass('reconciliation') IS NOT NULL
