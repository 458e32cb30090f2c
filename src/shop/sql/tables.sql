CREATE TABLE IF NOT EXISTS orders (
    order_id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id             text NOT NULL,
    idempotency_key     text,
    product_id          bigint NOT NULL,
    quantity            int NOT NULL CHECK (quantity > 0),
    request_fingerprint text NOT NULL,
    status              text NOT NULL,
    created_at          timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE IF NOT EXISTS product_stock (
    product_id bigint PRIMARY KEY,
    available  int NOT NULL CHECK (available >= 0),
    last_fence bigint NOT NULL DEFAULT 0
);
