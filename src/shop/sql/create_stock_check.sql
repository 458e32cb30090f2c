ALTER TABLE product_stock ADD CONSTRAINT product_stock_not_negative CHECK (available >= 0)
