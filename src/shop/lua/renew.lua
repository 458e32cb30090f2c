-- Gives the lease another term, if it is still the caller's.
-- KEYS[1] lock   ARGV token, ttl ms
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
