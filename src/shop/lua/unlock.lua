-- Compare and delete: a lease that expired may belong to somebody else by now.
-- KEYS[1] lock   ARGV token
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
