'use strict'
// ioredis: what it is told, line by line. Takes REDIS_PORT, PROTOCOL and the folder of its packages.
const { createRequire } = require('node:module')
const { createHash } = require('node:crypto')
const Redis = createRequire(process.env.NODE_PACKAGES + '/')('ioredis')

const say = (...words) => console.log(words.map((word) => JSON.stringify(word)).join(' '))
const refused = (promise) => promise.catch((error) => `${error.name}: ${error.message}`)
const open = (settings) =>
  new Redis({ host: '127.0.0.1', port: process.env.REDIS_PORT, protocol: Number(process.env.PROTOCOL), ...settings })

async function types(redis) {
  say('strings', await redis.set('a', '1'), await redis.get('a'), await redis.get('missing'),
    await redis.set('a', '2', 'NX'), await redis.incrbyfloat('a', 0.5))
  await redis.hset('hash', { x: '1', y: 'ü' })
  await redis.zadd('scores', 1.5, 'one', 'inf', 'two')
  await redis.rpush('list', ...Array.from({ length: 500 }, (_, n) => n))
  await redis.xadd('stream', '1-1', 'field', 'value')
  say('structures', await redis.hgetall('hash'), await redis.zrange('scores', 0, -1, 'WITHSCORES'),
    await redis.lrange('list', 0, -1), await redis.xrange('stream', '-', '+'), await redis.lrange('missing', 0, -1))
  say('wrong', await refused(redis.incr('hash')), await refused(redis.call('NONSENSE')))
  for (const kind of ['null', 'map', 'set', 'double', 'bignum', 'true', 'verbatim', 'integer', 'array']) {
    say('protocol', kind, await refused(redis.call('DEBUG', 'PROTOCOL', kind)))
  }
}

async function atomic(redis) {
  const pipeline = redis.pipeline()
  for (let n = 0; n < 1000; n += 1) pipeline.set(`p${n}`, n).get(`p${n}`).lpop('a')
  const replies = await pipeline.exec()
  say('pipeline', replies.map(([error, value]) => error?.message ?? value))
  say('multi', (await redis.multi().set('m', '1').incr('m').lpush('m', 'x').get('m').exec())
    .map(([error, value]) => error?.message ?? value))
  say('refused', await refused(redis.multi().set('m', '1').call('NONSENSE').exec()))
  const other = open()
  await redis.watch('m')
  await other.set('m', '9')
  say('watch', await redis.multi().set('m', '10').exec(), await redis.get('m'))
  other.disconnect()
}

async function scripts(redis) {
  redis.defineCommand('both', { numberOfKeys: 1, lua: "return {KEYS[1], ARGV[1], {1, {2}}, redis.call('GET', KEYS[1])}" })
  say('script', await redis.both('a', 'v'), await redis.both('a', 'w'))
  say('unknown', await refused(redis.evalsha('0'.repeat(40), 0)))
  say('failing', await refused(redis.eval("return redis.call('INCR', 'hash')", 0)))
}

async function waits(redis) {
  const blocked = open()
  const popped = blocked.blpop('queue', 0)
  while (!(await redis.client('LIST')).includes('cmd=blpop')) await redis.ping()
  await redis.rpush('queue', 'late')
  say('blocking', await popped, await blocked.brpop('queue', 0.05))
  blocked.disconnect()
}

async function news(redis) {
  const listener = open()
  const heard = []
  const enough = new Promise((resolve) => {
    const hear = (...what) => { if (heard.push(what) === 401) resolve() }
    listener.on('message', hear)
    listener.on('pmessage', hear)
  })
  say('subscribed', await listener.subscribe('news', 'gossip'), await listener.psubscribe('new*'))
  for (let n = 0; n < 200; n += 1) redis.publish('news', `number ${n}`)
  redis.publish('gossip', 'x'.repeat(100000))
  await enough
  say('heard', heard.length, createHash('sha256').update(JSON.stringify(heard)).digest('hex'))
  say('left', await listener.unsubscribe('news', 'gossip'), await listener.punsubscribe('new*'), await listener.ping())
  await listener.quit()
}

async function large(redis) {
  const bytes = Buffer.alloc(32 << 20, 'abc\r\n')
  await redis.set('large', bytes)
  say('large', createHash('sha256').update(await redis.getBuffer('large')).digest('hex'), bytes.length)
  const all = await Promise.all(Array.from({ length: 20000 }, (_, n) => redis.incr('counter')))
  say('counter', all[0], all[19999], all.every((value, n) => value === n + 1))
  const keys = []
  for await (const some of redis.scanStream({ match: 'p*', count: 100 })) keys.push(...some)
  say('scan', keys.sort())
}

async function main() {
  const redis = open()
  for (const scene of [types, atomic, scripts, waits, news, large]) await scene(redis)
  say('quit', await redis.quit())
  const wrong = open({ username: 'nobody', password: 'wrong', retryStrategy: null, lazyConnect: true })
  wrong.on('error', (error) => say('login', error.message))
  say('login', await refused(wrong.connect()))
  wrong.disconnect()
}

main()
