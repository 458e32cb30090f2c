-- Draws the fence of a lease that was taken in a step before, if it is still the caller's.
-- KEYS[1] lock, KEYS[2] counter   ARGV token, ttl ms, highest accepted fence or ''
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
    return false
end
local counter = redis.call('GET', KEYS[2])
if not counter and ARGV[3] == '' then
    return -1
end
local fence = math.max(tonumber(counter or 0), tonumber(ARGV[3]) or 0) + 1
redis.call('SET', KEYS[2], string.format('%.0f', fence))
return fence
