-- Claims the record of one intent, or tells what it holds. Redis runs a script as one step, so two
-- duplicates can't both read "absent". The clock is Redis's own: instances needn't agree on time.
-- The record lives for as long as clients retry; its owner's processing lease is a field of it.
-- Nil if the claim was made; found, the fourth field is the record's age, and the eighth what is
-- left of the processing lease.
-- KEYS[1] record   ARGV fingerprint, owner token, ttl ms, processing lease ms
local record = KEYS[1]
local found = redis.call('HMGET', record, 'fingerprint', 'status', 'owner', 'started_at_ms',
    'response_status', 'response_location', 'response_body', 'processing_until_ms', 'attempts')
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)

if found[1] then
    found[4] = string.format('%d', now_ms - tonumber(found[4]))
    found[8] = string.format('%d', tonumber(found[8]) - now_ms)
    return found
end
redis.call('HSET', record, 'fingerprint', ARGV[1], 'status', 'IN_PROGRESS', 'owner', ARGV[2],
    'started_at_ms', now_ms, 'processing_until_ms', now_ms + ARGV[4], 'attempts', 1)
redis.call('PEXPIRE', record, ARGV[3])
return false
