'use strict'
// node-postgres: an order through a pool on which a fault waits, and what its application is told. Takes
// KEY, PGHOST, PGPORT and the folder of its packages; WAY=deaf leaves out the listener that a client which
// is in use needs. Prints one line of JSON: what each attempt came to, and each order afterwards.
const { createRequire } = require('node:module')
const { setTimeout: pause } = require('node:timers/promises')
const load = createRequire(process.env.NODE_PACKAGES + '/')
const pg = load('pg')

const pool = new pg.Pool({ max: 1 })
pool.on('error', () => {})
if (process.env.WAY !== 'deaf') pool.on('connect', (client) => client.on('error', () => {}))

const inWord = (error) => error.code ?? error.message

// One attempt, in a word.
async function placed(client, key) {
  try {
    await client.query('BEGIN')
    await client.query('INSERT INTO orders VALUES ($1)', [key])
    await client.query('INSERT INTO lines VALUES ($1)', [key])
    await client.query('COMMIT')
    return 'placed'
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    return inWord(error)
  }
}

// Attempts until it is certain. What can be repeated at once is, on the same connection.
async function order(key) {
  const attempts = []
  const deadline = Date.now() + 20_000
  while (Date.now() < deadline) {
    const client = await pool.connect()
    do attempts.push(await placed(client, key))
    while (attempts.at(-1) === '40001')
    client.release(!['placed', '23505'].includes(attempts.at(-1)))
    if (['placed', '23505'].includes(attempts.at(-1))) break
    await pause(50)
  }
  return attempts
}

async function main() {
  const attempts = await order(process.env.KEY)
  const after = []
  for (let number = 0; number < 6; number += 1) after.push(...(await order(`${process.env.KEY}-after-${number}`)))
  await pool.end()
  console.log(JSON.stringify({ driver: 'node pg', version: load('pg/package.json').version, attempts, after }))
}

main()
