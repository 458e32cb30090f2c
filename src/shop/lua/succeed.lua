-- Stores the answer that every later duplicate will be given, if the record is still the
-- owner's: somebody who took over meanwhile stores the answer itself.
-- KEYS[1] record   ARGV owner, fingerprint, status code, location, body, ttl ms
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
    return 0
end
redis.call('HSET', KEYS[1], 'status', 'SUCCESS', 'fingerprint', ARGV[2],
    'response_status', ARGV[3], 'response_location', ARGV[4], 'response_body', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return 1
