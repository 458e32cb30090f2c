-- Counts one entry less, and removes the lease with the last.
-- KEYS[1] lock   ARGV token
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then
    return 0
end
if redis.call('HINCRBY', KEYS[1], 'count', -1) <= 0 then
    redis.call('DEL', KEYS[1])
end
return 1
