-- Gives a lease that may be entered again another term, if it is still the caller's.
-- KEYS[1] lock   ARGV token, ttl ms
if redis.call('HGET', KEYS[1], 'token') == ARGV[1] then
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
