-- Lets the rest of the first key's life pass: deletes it and every other key that lives no longer. What
-- has no end, and what would outlive it, stays.
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  return 0
end
local gone = 0
for _, key in ipairs(KEYS) do
  local own = redis.call('PTTL', key)
  if own >= 0 and own <= left then
    gone = gone + redis.call('DEL', key)
  end
end
return gone
