-- Who holds each key: its text, or the names of its fields; an empty list where there is none.
local holders = {}
for place, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  if kind == 'none' then
    holders[place] = {}
  elseif kind == 'string' then
    holders[place] = {redis.call('GET', key)}
  elseif kind == 'hash' then
    local names = redis.call('HKEYS', key)
    table.sort(names)
    holders[place] = {table.concat(names, ' ')}
  else
    holders[place] = {redis.call('DUMP', key)}
  end
end
return holders
