'use strict'
// ioredis: a lease given back while a fault waits, and what its application is told. Takes KEY, REDIS_PORT and
// the folder of its packages; PATIENCE: how many seconds a reply may take. Prints one line of JSON: what
// each attempt came to, and each command afterwards.
const { createRequire } = require('node:module')
const { setTimeout: pause } = require('node:timers/promises')
const load = createRequire(process.env.NODE_PACKAGES + '/')
const Redis = load('ioredis')

const { KEY, PATIENCE, REDIS_PORT } = process.env
const redis = new Redis({
  host: '127.0.0.1',
  port: REDIS_PORT,
  ...(PATIENCE ? { commandTimeout: 1000 * PATIENCE } : {}),
})
redis.on('error', () => {})
redis.defineCommand('unlock', {
  numberOfKeys: 1,
  lua: "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
})

// Attempts until it is certain what the server says.
async function until(asked) {
  const attempts = []
  const deadline = Date.now() + 20_000
  while (Date.now() < deadline) {
    try {
      attempts.push(String(await asked()))
      break
    } catch (error) {
      attempts.push(error.message.split(' ')[0] === 'READONLY' ? 'READONLY' : error.message)
    }
    await pause(50)
  }
  return attempts
}

async function main() {
  // The script is known from then on.
  await redis.set(`lock:warm:${KEY}`, 'token-of-warming', 'PX', 60_000, 'NX')
  await redis.unlock(`lock:warm:${KEY}`, 'token-of-warming')
  await redis.set(`lock:${KEY}`, `token-of-${KEY}`, 'PX', 60_000, 'NX')
  const attempts = await until(() => redis.unlock(`lock:${KEY}`, `token-of-${KEY}`))
  const after = []
  for (let number = 0; number < 6; number += 1) {
    await redis.set(`after:${KEY}:${number}`, number)
    after.push(await redis.get(`after:${KEY}:${number}`))
  }
  await redis.quit()
  console.log(JSON.stringify({ driver: 'ioredis', version: load('ioredis/package.json').version, attempts, after }))
}

main()
