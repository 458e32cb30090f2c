-- Takes a lease that its holder may take again: the holder is counted, and gets the same fence.
-- KEYS[1] lock, KEYS[2] counter or nothing   ARGV token, ttl ms, highest accepted fence or ''
local holder = redis.call('HGET', KEYS[1], 'token')
if holder == ARGV[1] then
    redis.call('HINCRBY', KEYS[1], 'count', 1)
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    return tonumber(redis.call('HGET', KEYS[1], 'fence'))
end
local fence = 0
if KEYS[2] then
    local counter = redis.call('GET', KEYS[2])
    if not counter and ARGV[3] == '' then
        return -1
    end
    fence = math.max(tonumber(counter or 0), tonumber(ARGV[3]) or 0) + 1
end
if holder then
    return false
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'count', 1, 'fence', string.format('%.0f', fence))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if KEYS[2] then
    redis.call('SET', KEYS[2], string.format('%.0f', fence))
end
return fence
