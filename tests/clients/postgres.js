'use strict'
// node-postgres: what it is told, line by line. Takes PGHOST, PGPORT and the folder of its packages.
const { createRequire } = require('node:module')
const { createHash } = require('node:crypto')
const load = createRequire(process.env.NODE_PACKAGES + '/')
const pg = load('pg')
const Cursor = load('pg-cursor')

const say = (...words) => console.log(words.map((word) => JSON.stringify(word)).join(' '))
const failed = (error) => {
  const { message, code, detail, hint, severity, constraint, position, routine } = error
  return { message, code, detail, hint, severity, constraint, position, routine }
}
const refused = (promise) => promise.then(() => 'accepted', failed)

async function types(client) {
  const sql = `SELECT $1::int2 a, $2::int8 b, $3::numeric c, $4::bool d, $5::text e, $6::bytea f,
    $7::jsonb g, $8::int[] h, $9::timestamptz i, $10::uuid j, $11::float8 k, $12::inet l, $13::text m`
  const values = [-3, '9007199254740993', '1.50', true, 'ü€😀', Buffer.from([0, 1, 255]), { a: [1, null] },
    [1, null, 3], '2020-02-29T12:00:00Z', '00000000-0000-0000-0000-000000000001', 0.1, '127.0.0.1', null]
  const result = await client.query(sql, values)
  say('types', result.rows, result.fields.map(({ name, dataTypeID, format }) => [name, dataTypeID, format]))
  say('binary', (await client.query({ text: sql, values, binary: true })).rows.length)
  say('arrays', (await client.query({ text: 'SELECT 1, 2 UNION ALL SELECT 3, 4', rowMode: 'array' })).rows)
  say('several', (await client.query('SELECT 1 a; CREATE TEMP TABLE t (a int); INSERT INTO t VALUES (1), (2)'))
    .map(({ command, rowCount, rows }) => [command, rowCount, rows]))
}

async function errors(client) {
  await client.query('CREATE TABLE told (id int PRIMARY KEY, name text NOT NULL)')
  await client.query("INSERT INTO told VALUES (1, 'a')")
  say('errors', await refused(client.query("INSERT INTO told VALUES (1, 'b')")),
    await refused(client.query('INSERT INTO told VALUES ($1, $2)', [2, null])),
    await refused(client.query('SELECT nonsense')), await refused(client.query('SELECT $1::int', ['x'])),
    await refused(client.query('SELECT 1 / $1::int', [0])))
}

async function transactions(client) {
  await client.query('BEGIN')
  await client.query("INSERT INTO told VALUES (2, 'b')")
  await client.query('SAVEPOINT s')
  say('aborted', await refused(client.query('SELECT 1 / 0')), await refused(client.query('SELECT 1')))
  await client.query('ROLLBACK TO s')
  await client.query('COMMIT')
  say('kept', (await client.query('SELECT * FROM told ORDER BY id')).rows)
}

async function prepared(client) {
  for (const id of [1, 2, 3]) {
    say('prepared', (await client.query({ name: 'one', text: 'SELECT name FROM told WHERE id = $1', values: [id] })).rows)
  }
  const all = Array.from({ length: 200 }, (_, number) => client.query('SELECT $1::int AS n', [number]))
  say('queued', (await Promise.all(all)).map(({ rows }) => rows[0].n))
}

async function asides(client) {
  const notices = []
  const heard = []
  client.on('notice', (notice) => notices.push([notice.severity, notice.code, notice.message, notice.hint]))
  client.on('notification', ({ channel, payload }) => heard.push([channel, payload]))
  await client.query("DO $$ BEGIN RAISE NOTICE 'n %', 1; RAISE WARNING 'w' USING HINT = 'h'; END $$")
  await client.query('LISTEN news')
  await client.query("SELECT pg_notify('news', n::text) FROM generate_series(1, 50) n")
  await client.query('SELECT 1')
  say('asides', notices, heard)
}

async function large(client) {
  const bytes = Buffer.alloc(20 << 20, 'abcdefg')
  const { rows } = await client.query('SELECT $1::bytea b, length($1::bytea) l, md5($1::bytea) m', [bytes])
  say('large', rows[0].l, rows[0].m, createHash('sha256').update(rows[0].b).digest('hex'))
  const many = await client.query('SELECT n, repeat(md5(n::text), 3) t FROM generate_series(1, 100000) n')
  say('many', createHash('sha256').update(JSON.stringify(many.rows)).digest('hex'))
  const cursor = client.query(new Cursor('SELECT n FROM generate_series(1, 25) n'))
  for (let rows = await cursor.read(10); rows.length > 0; rows = await cursor.read(10)) {
    say('cursor', rows.map(({ n }) => n))
  }
  await cursor.close()
}

async function pools() {
  const pool = new pg.Pool({ max: 5 })
  const results = await Promise.all(Array.from({ length: 100 }, (_, n) => pool.query('SELECT $1::int + 1 AS n', [n])))
  say('pool', results.map(({ rows }) => rows[0].n), pool.totalCount)
  say('pool', await refused(pool.query('SELECT 1 / 0')), (await pool.query('SELECT 2 AS n')).rows)
  say('timeout', await refused(pool.query("SET statement_timeout = 20; SELECT pg_sleep(5)")))
  await pool.end()
}

async function main() {
  const client = new pg.Client()
  await client.connect()
  for (const scene of [types, errors, transactions, prepared, asides, large]) await scene(client)
  await client.end()
  await pools()
  const nobody = new pg.Client({ database: 'nowhere' })
  say('refused', await refused(nobody.connect()))
}

main()
