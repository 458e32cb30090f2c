CREATE TABLE IF NOT EXISTS orders (
    order_id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id             text NOT NULL,
    idempotency_key     text,
    product_id          bigint NOT NULL,
    quantity            int NOT NULL CHECK (quantity > 0),
    address_version     bigint NOT NULL,
    coupon              text,
    request_fingerprint text NOT NULL,
    status              text NOT NULL CHECK (status IN ('CREATED', 'PAYING', 'PAID', 'CLOSED')),
    window_start        timestamptz,
    created_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    paying_at           timestamptz,
    paid_at             timestamptz,
    closed_at           timestamptz
);
CREATE INDEX IF NOT EXISTS orders_paying ON orders (paying_at) WHERE status = 'PAYING';
CREATE TABLE IF NOT EXISTS product_stock (
    product_id bigint PRIMARY KEY,
    available  int NOT NULL,
    last_fence bigint NOT NULL DEFAULT 0,
    version    bigint NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS stock_movements (
    movement_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id    bigint NOT NULL,
    product_id  bigint NOT NULL,
    delta       int NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE IF NOT EXISTS reconciliation (
    user_id             text NOT NULL,
    idempotency_key     text NOT NULL,
    request_fingerprint text NOT NULL,
    reason              text NOT NULL,
    noted_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    resolved_at         timestamptz,
    PRIMARY KEY (user_id, idempotency_key)
);
