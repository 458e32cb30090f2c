-- Stores the answer that every later duplicate will be given. The order is in the database by now,
-- so whoever says so is right, also an owner that was slow and has been taken over meanwhile: a
-- duplicate that comes after its answer must not be told to come back later. Whatever else stands
-- under the key was never a record.
-- KEYS[1] record   ARGV owner, fingerprint, status code, location, body, ttl ms
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then
    redis.call('DEL', KEYS[1])
end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'status', 'SUCCESS', 'fingerprint', ARGV[2],
    'response_status', ARGV[3], 'response_location', ARGV[4], 'response_body', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return 1
