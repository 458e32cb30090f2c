-- Marks a record whose owners keep going missing: from now on its intent is a person's to decide.
-- KEYS[1] record   ARGV last owner
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1]
    or redis.call('HGET', KEYS[1], 'status') ~= 'IN_PROGRESS' then
    return 0
end
redis.call('HSET', KEYS[1], 'status', 'UNKNOWN')
return 1
