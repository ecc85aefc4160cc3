-- Keeps the list of gates that accept incumbents at once and tell of them afterwards (fleet/enrolment.hpp): while one is
-- on it, claim.lua keeps the places of incumbents. tests/fleet/store_model.hpp says the same without a store.
--
-- KEYS  1 the head, 2 the hour's record, 3 the record of the hour before, 4 gates that recover.lua waits for.
-- ARGV  1 hour, 2 all rules, 3 grace in s, 4 name of the gate, of this one run of it, 5 whether it enters (1) or leaves
--       (0), 6 whether it counts by the day (1, 0), 7 the run_id of the server that this connection leads to.
-- Answer  clock (s, us) and 0 the hour is not open, or the server's counts are not whole, 1 it is on the list,
--         2 its incumbents have to wait, 3 it has left.
--
-- The store has a place for each of its incumbents if all that was counted in the hour before was counted by the very
-- rules that the gate has, and in a budget of its own, and none of it has been lost, and nothing came out of a share.
-- Once an hour is open, nothing of that changes for the hour before, but for a loss.
--
-- In a day's first hour the day has to have these places, too: it has, if all of the day before was counted by these rules and
-- none of it has been lost, for then no budget had more in its last hour than it may have in a day, but for what completed
-- histograms. Should the gate not tell of all, claim.lua counts what was awaited by the two records, which are kept as long as
-- the day's.

local NOT_OPEN, LISTED, MUST_WAIT, LEFT = 0, 1, 2, 3
local HOUR_SECONDS, DAY_SECONDS = 3600, 86400
local KEPT, KEPT_SPREAD = 7200, 600  -- as in claim.lua
local HEAD, HOUR, BEFORE, AWAITED = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local hour, all_rules, name, field = tonumber(ARGV[1]), ARGV[2], ARGV[4], 'u' .. ARGV[4]
local day = math.floor(hour / 24)
local opens_day = hour == day * 24
local limits_day = opens_day and ARGV[6] == '1'

local time = redis.call('TIME')
local now = tonumber(time[1])
local function answer(state) return {now, tonumber(time[2]), state} end

local head = redis.call('HMGET', HEAD, 'hour', 'before', 'server', 'whole_from', 'held', 'same_from')
local is_open = tonumber(head[1] or -1) == hour
if ARGV[5] == '0' then
    if is_open and redis.call('HEXISTS', HOUR, field) == 1 then
        redis.call('HINCRBY', HEAD, 'telling', -1)
        redis.call('HDEL', HOUR, field)
    end
    redis.call('SREM', AWAITED, name)
    if tonumber(head[5] or -1) == hour and redis.call('EXISTS', AWAITED) == 0 then redis.call('HDEL', HEAD, 'held') end
    return answer(LEFT)
end
if not is_open or head[3] ~= ARGV[7] then return answer(NOT_OPEN) end
if not head[2] or now >= hour * HOUR_SECONDS + tonumber(ARGV[3]) then return answer(MUST_WAIT) end
if hour < tonumber(head[4] or 0) then return answer(MUST_WAIT) end
local before = redis.call('HMGET', BEFORE, 'all_rules', 'all_mixed', 'shared', 'owed', 'owed_day')
if before[1] ~= all_rules or before[2] or before[3] then return answer(MUST_WAIT) end
-- What was let pass out of shares, and told of, may have made more incumbents than claims can take; so may histograms that
-- were completed two hours ago, and passed at once in the hour before.
if before[4] or (before[5] and opens_day) then return answer(MUST_WAIT) end
-- whole_from is the second hour after the one in which counts were made whole.
local day_before_from = math.max(tonumber(head[4] or 0) - 1, tonumber(head[6] or 0))
if limits_day and hour - 24 < day_before_from then return answer(MUST_WAIT) end
if redis.call('HEXISTS', HOUR, field) == 0 then
    if limits_day then
        local kept_until = (day + 1) * DAY_SECONDS + KEPT + KEPT_SPREAD
        redis.call('EXPIREAT', HOUR, kept_until)
        redis.call('EXPIREAT', BEFORE, kept_until)
        redis.call('HSET', HEAD, 'kept_day', day)
    end
    redis.call('HINCRBY', HEAD, 'telling', 1)  -- first: should the other one fail, places are kept for too long
    redis.call('HSET', HOUR, field, 1)
end
return answer(LISTED)
