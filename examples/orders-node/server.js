// A small order service: POST /orders with an Idempotency-Key, one order per user and key.
//
// Correct as it stands:
//   - the unique key (user_id, idempotency_key) decides who is first, inside the transaction;
//   - stock is taken by a conditional UPDATE, so that it never goes below zero;
//   - a duplicate is answered from the row, byte for byte like the first one; with another product
//     or quantity it is refused.
//
// ORDERS_SECRET=... makes users log in: POST /login gives a token, and orders are its user's.
//
// ORDERS_DEFECT=check-then-insert switches one defect on: a look for the order, then a plain INSERT,
// and no unique key behind it. Two requests that look at the same moment both insert.

import { createHmac, timingSafeEqual } from "node:crypto";
import express from "express";
import pg from "pg";

const { PORT = "8080", DATABASE_URL, ORDERS_DEFECT = "", ORDERS_SECRET = "" } = process.env;
if (!["", "check-then-insert"].includes(ORDERS_DEFECT)) {
  console.error(`there is no defect ${ORDERS_DEFECT}`);
  process.exit(2);
}
const isDefective = ORDERS_DEFECT === "check-then-insert";
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 20 });
pool.on("error", (error) => console.error("an idle connection was lost:", error.message));

await pool.query(`
  CREATE TABLE IF NOT EXISTS product_stock (
    product_id bigint PRIMARY KEY,
    available  integer NOT NULL CHECK (available >= 0)
  );
  CREATE TABLE IF NOT EXISTS orders (
    order_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id         text NOT NULL,
    idempotency_key text NOT NULL,
    product_id      bigint NOT NULL,
    quantity        integer NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now()
  )`);
if (!isDefective) {
  await pool.query(
    "CREATE UNIQUE INDEX IF NOT EXISTS orders_user_key ON orders (user_id, idempotency_key)",
  );
}

const INSERT = `INSERT INTO orders (user_id, idempotency_key, product_id, quantity)
  VALUES ($1, $2, $3, $4)`;
const FIND = `SELECT order_id, product_id, quantity FROM orders
  WHERE user_id = $1 AND idempotency_key = $2`;
const TAKE = `UPDATE product_stock SET available = available - $2
  WHERE product_id = $1 AND available >= $2`;

class Refusal extends Error {
  constructor(status, code) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

/** Places the order of a user's key, or finds the one that is there already. */
async function place({ user, key, product, quantity }) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    if (isDefective) {
      const found = await client.query(FIND, [user, key]);
      if (found.rowCount > 0) {
        await client.query("COMMIT");
        return found.rows[0];
      }
    }
    // Waits for a duplicate that is under way, then inserts nothing.
    const insert = isDefective ? INSERT : `${INSERT} ON CONFLICT DO NOTHING`;
    const inserted = await client.query(`${insert} RETURNING order_id, product_id, quantity`, [
      user, key, product, quantity,
    ]);
    if (inserted.rowCount === 0) {
      const found = await client.query(FIND, [user, key]);
      await client.query("COMMIT");
      return found.rows[0];
    }
    const taken = await client.query(TAKE, [product, quantity]);
    if (taken.rowCount === 0) throw new Refusal(422, "SOLD_OUT");
    await client.query("COMMIT");
    return inserted.rows[0];
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

/** The token of a user: any instance can check it. */
function token(user) {
  return `${user}.${createHmac("sha256", ORDERS_SECRET).update(user).digest("hex")}`;
}

/** Who asks: by the token where there are logins, else by a header. */
function userOf(request) {
  if (!ORDERS_SECRET) return request.get("X-User-Id");
  const given = (request.get("Authorization") ?? "").replace(/^Bearer /, "");
  const user = given.slice(0, Math.max(given.lastIndexOf("."), 0));
  const [right, sent] = [Buffer.from(token(user)), Buffer.from(given)];
  return right.length === sent.length && timingSafeEqual(right, sent) ? user : undefined;
}

const app = express();
app.disable("x-powered-by");
app.use(express.json({ limit: "16kb" }));

app.get("/healthz", async (_request, response) => {
  await pool.query("SELECT 1");
  response.json({ ok: true });
});

app.post("/login", (request, response) => {
  const { user, password } = request.body ?? {};
  if (!ORDERS_SECRET || !user || password !== ORDERS_SECRET) throw new Refusal(403, "NO_LOGIN");
  response.json({ token: token(user) });
});

app.post("/orders", async (request, response) => {
  const user = userOf(request);
  const key = request.get("Idempotency-Key");
  const { productId, quantity } = request.body ?? {};
  if (!user) throw new Refusal(401, "WHO_ARE_YOU");
  if (!key || key.length > 255) throw new Refusal(400, "MISSING_KEY");
  if (!Number.isSafeInteger(productId) || !Number.isSafeInteger(quantity) || quantity < 1) {
    throw new Refusal(400, "INVALID");
  }
  const order = await place({ user, key, product: productId, quantity });
  // PostgreSQL's bigint comes as text.
  if (Number(order.product_id) !== productId || order.quantity !== quantity) {
    throw new Refusal(409, "KEY_REUSED");
  }
  response.status(201).json({
    orderId: Number(order.order_id),
    productId,
    quantity,
  });
});

app.use((error, _request, response, _next) => {
  const status = error.status ?? 500;
  if (status >= 500) console.error(error);
  response.status(status).json({ code: error.code && status < 500 ? error.code : "INTERNAL" });
});

const server = app.listen(Number(PORT), "127.0.0.1", (error) => {
  if (error) throw error;
  console.log(`listening on http://127.0.0.1:${PORT}`);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => server.close(() => pool.end().then(() => process.exit(0))));
}
