-- Removes a claim that certainly had no effect, so that a retry may start afresh.
-- KEYS[1] record   ARGV owner
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1]
    or redis.call('HGET', KEYS[1], 'status') ~= 'IN_PROGRESS' then
    return 0
end
return redis.call('DEL', KEYS[1])
