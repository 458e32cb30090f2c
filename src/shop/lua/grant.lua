-- Takes the lease and draws its fence in one step: whoever holds the lease has the highest number.
-- Where the counter is gone, Redis has lost its memory: nothing is taken (-1) until the caller
-- brings the highest fence that the resource has accepted.
-- KEYS[1] lock, KEYS[2] counter   ARGV token, ttl ms, highest accepted fence or ''
local counter = redis.call('GET', KEYS[2])
if not counter and ARGV[3] == '' then
    return -1
end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return false
end
local fence = math.max(tonumber(counter or 0), tonumber(ARGV[3]) or 0) + 1
redis.call('SET', KEYS[2], string.format('%.0f', fence))
return fence
