-- Claims the record of one intent, or says why not. Redis runs a script as one step, so two
-- duplicates can't both read "absent". The clock is Redis's own: instances needn't agree on time.
-- KEYS[1] record   ARGV fingerprint, owner token, ttl ms, processing lease ms
local record = KEYS[1]
local found = redis.call('HMGET', record, 'fingerprint', 'status', 'owner', 'started_at_ms',
    'response_status', 'response_location', 'response_body')
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)

if not found[1] then
    redis.call('HSET', record, 'fingerprint', ARGV[1], 'status', 'IN_PROGRESS', 'owner', ARGV[2],
        'started_at_ms', now_ms, 'attempts', 1)
    redis.call('PEXPIRE', record, ARGV[3])
    return {'CREATED'}
end
if found[1] ~= ARGV[1] then
    return {'FINGERPRINT_MISMATCH'}
end
if found[2] == 'SUCCESS' then
    return {'SUCCESS', found[5], found[6], found[7]}
end
if now_ms - tonumber(found[4]) > tonumber(ARGV[4]) then
    return {'IN_PROGRESS', found[3]}
end
return {'IN_PROGRESS'}
