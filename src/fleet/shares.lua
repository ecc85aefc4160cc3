-- Gives the first gates of a day a number each: who has one has a share of what claims leave (claim/reserve.hpp), of the
-- open hour's budgets and of this day's. tests/fleet/store_model.hpp says the same without a store.
--
-- KEYS  1 the head, 2 the day's numbers, by gate.
-- ARGV  1 hour, 2 all rules, 3 name of the gate, of this one run of it, 4 how many may have a number, 5 the run_id of the
--       server that this connection leads to.
-- Answer  clock (s, us), 0 not now, 1 no number is left, 2 it has a share of this hour, 3 and of this day; its number.
--
-- There are shares in a window only if every claim in it leaves them alone: if all have been made by the very rules that
-- the gate has since an hour before it began (same_from of the head), or ever. And a server that has lost counts may have lost numbers:
-- it gives none in that hour, and no share of that day; what gates have been given before is theirs.

local NOT_NOW, NONE_LEFT, OF_HOUR, OF_DAY = 0, 1, 2, 3
local DAY_SECONDS, KEPT = 86400, 7200
local HEAD, NUMBERS = KEYS[1], KEYS[2]
local hour, all_rules, name, places = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
local day = math.floor(hour / 24)

local time = redis.call('TIME')
local function answer(state, number) return {tonumber(time[1]), tonumber(time[2]), state, number} end

local head = redis.call('HMGET', HEAD, 'hour', 'server', 'whole_from', 'all_rules', 'same_from')
if tonumber(head[1] or -1) ~= hour or head[2] ~= ARGV[5] or head[4] ~= all_rules then return answer(NOT_NOW, 0) end
-- whole_from is the second hour after the one in which counts were made whole.
local from = math.max(tonumber(head[3] or 0) - 1, tonumber(head[5] or 0))
if hour < from then return answer(NOT_NOW, 0) end
local number = tonumber(redis.call('HGET', NUMBERS, name) or 0)
if number == 0 then
    local given = redis.call('HLEN', NUMBERS)
    if given >= places then return answer(NONE_LEFT, 0) end
    number = given + 1
    redis.call('HSET', NUMBERS, name, number)
    redis.call('EXPIREAT', NUMBERS, (day + 1) * DAY_SECONDS + KEPT)
end
return answer(day * 24 >= from and OF_DAY or OF_HOUR, number)
