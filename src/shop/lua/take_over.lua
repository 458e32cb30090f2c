-- Hands a record from an owner that overran its processing lease to a new one. The comparison
-- with the previous owner lets one of several waiting duplicates through, and no more.
-- KEYS[1] record   ARGV previous owner, new owner, processing lease ms
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1]
    or redis.call('HGET', KEYS[1], 'status') ~= 'IN_PROGRESS' then
    return 0
end
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'started_at_ms', now_ms,
    'processing_until_ms', now_ms + ARGV[3])
redis.call('HINCRBY', KEYS[1], 'attempts', 1)
return 1
