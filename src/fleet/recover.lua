-- Makes the counts of a store that may have lost some whole again: by what gates offer that they have been told of them.
-- tests/fleet/store_model.hpp says the same without a store; fleet/recovery.cpp writes the words and reads the answer.
--
-- KEYS  1 the head, 2 the recovery, 3 the offered hour's record, 4 the record of the hour before, 5 the day's record,
--       6 gates that have something untold.
-- ARGV  1 the gate's name, 2 whether this ends its offer (1, 0), 3 hour, 4 rules, 5 and 6 numbers of buckets (hour, day;
--       0: no such window), 7 how many other gates there were, 8 how many budgets, 9 and 10 which recovery the gate
--       knows of, or nothing, and for how long (ms: clocks of servers may leap), 11 and 12 by what name the gate will have
--       told of all that it has accepted at once (telling.lua), or nothing, and in which hour it has; then those gates'
--       names, and of each budget
--         id, series in hour and day, its shelf if it has a place of its own there, or 0
--       and at last the run_id of the server that this connection leads to.
-- Answer  clock (s, us), whether the counts are whole (1, 0), what tells this recovery from others.
--
-- What is offered is taken whether a recovery is under way or not: it was counted once, so it is never too much. Of each
-- count the largest is kept, and no window goes back. Sets are not restored: see IDm in claim.lua. So nobody has a place
-- in the sets for what was accepted at once and is untold: in the hour that is held (a field of the head) claim.lua decides
-- about nothing else, until all gates that have such series have left their list. And nothing more is accepted at once
-- before the hour before is one that the store has had whole: in hours from whole_from (of the head) on that is so.
-- Fields of the recovery: server; since; g:NAME of each gate that is waited for, 1 when it has offered all.

local call, floor, max = redis.call, math.floor, math.max

local HOUR_SECONDS, DAY_SECONDS = 3600, 86400
local KEPT, KEPT_SPREAD, HEAD_KEPT = 7200, 600, 172800  -- as in claim.lua
local RECOVERY_KEPT = 3600
local WAIT_MIN, WAIT_MAX = 2000, 5000  -- ms

-- As in claim.lua: it keeps a record from the form of small hashes.
local ABOUT = 'ID: series counted, IDr: incumbents of them that have returned, pID: budgets opened on a shelf'

local HEAD, RECOVERY, HOUR, BEFORE, DAY, UNTOLD = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local name, is_last, server = ARGV[1], ARGV[2] == '1', ARGV[#ARGV]
local hour, rules = tonumber(ARGV[3]), ARGV[4]
local day = floor(hour / 24)
local buckets, day_buckets = tonumber(ARGV[5]), tonumber(ARGV[6])
local gate_count, budget_count, waited = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[10])
local untold_as, untold_hour = ARGV[11], tonumber(ARGV[12])
local first_budget = 13 + gate_count

local time = redis.call('TIME')

-- The windows --------------------------------------------------------------------------------------------------------

local head = call('HMGET', HEAD, 'server', 'since', 'hour', 'buckets', 'day', 'held', 'whole_from', 'telling', 'kept_day')
local open, open_buckets, open_day = tonumber(head[3] or -1), head[4], tonumber(head[5] or -1)

-- It expires once all is written: what is of no use any more, for the gates could hear no store for hours, goes at once.
local function create_record(key, n)
    call('HSET', key, 'buckets', n, 'rules', rules, 'all_rules', 0, 'all_mixed', 1, 'about', ABOUT)
end
local function let_expire(key, ends)
    if call('TTL', key) == -1 then call('EXPIREAT', key, ends + KEPT + KEPT_SPREAD) end  -- telling.lua may keep it longer
end

if budget_count > 0 and hour > open then
    -- As in claim.lua.
    local days_first, held_hour, kept_day = day * 24, tonumber(head[6] or -1), tonumber(head[9] or -1)
    local is_telling = tonumber(head[8] or 0) > 0
    local is_first_held = held_hour == days_first and open <= days_first and (day_buckets > 0 or open_day == day)
    if hour > days_first and (is_first_held or (open == days_first and is_telling and kept_day == day)) then
        if is_first_held then kept_day = -1 end
        call('HSET', HEAD, 'uncounted_day', day, 'kept_day', kept_day)
    end
    if open == hour - 1 then
        call('HSET', HEAD, 'before', open, 'before_buckets', open_buckets)
    else
        call('HDEL', HEAD, 'before', 'before_buckets')
    end
    open = hour
    -- By which rules others claim in it is not seen.
    call('HSET', HEAD, 'hour', hour, 'buckets', buckets, 'members', 0, 'telling', 0, 'same_from', hour + 2)
    call('EXPIREAT', HEAD, max((hour + 1) * HOUR_SECONDS, tonumber(time[1])) + HEAD_KEPT)
    create_record(HOUR, buckets)
end
local in_hour = open == hour
local in_day = day_buckets > 0 and floor(open / 24) == day
if budget_count > 0 and in_day and open_day ~= day then
    call('HSET', HEAD, 'day', day, 'day_buckets', day_buckets, 'day_members', 0)
    create_record(DAY, day_buckets)
end

local function is_not_whole()
    local whole_from = max(open, floor(tonumber(time[1]) / HOUR_SECONDS)) + 2
    if whole_from > tonumber(head[7] or 0) then call('HSET', HEAD, 'whole_from', whole_from) end
end

if untold_as ~= '' and untold_hour >= open and untold_hour >= tonumber(head[6] or -1) then
    call('SADD', UNTOLD, untold_as)
    call('EXPIREAT', UNTOLD, (untold_hour + 1) * HOUR_SECONDS + KEPT)
    call('HSET', HEAD, 'held', untold_hour)
    if open < 0 then call('EXPIRE', HEAD, HEAD_KEPT) end
end

-- Counts -------------------------------------------------------------------------------------------------------------

local ids = {}
for i = 1, budget_count do ids[i] = ARGV[first_budget + 4 * (i - 1)] end

local function counts_in(record, counts)
    local values = counts and call('HMGET', record, unpack(ids)) or {}
    for i = 1, budget_count do values[i] = tonumber(values[i] or 0) end
    return values
end

-- Of budgets that were told of first by a gate which knows them from the feed alone, not on which shelf: whoever knows that
-- opens their place. Field IDf of the record that has the places.
local function placeless_in(record)
    local fields = {}
    for i = 1, budget_count do fields[i] = ids[i] .. 'f' end
    return call('HMGET', record, unpack(fields))
end

local function restore()
    local places = in_day and DAY or HOUR
    local placeless = placeless_in(places)
    local hourly, before, daily = counts_in(HOUR, in_hour), counts_in(BEFORE, in_hour), counts_in(DAY, in_day)
    local hour_fields, day_fields, missing, opened = {}, {}, {}, {}
    for i = 1, budget_count do
        local at = first_budget + 4 * (i - 1)
        local of_hour, of_day, shelf = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), ARGV[at + 3]
        local is_new = hourly[i] == 0 and daily[i] == 0 and before[i] == 0
        local has_more = false
        if in_hour and of_hour > hourly[i] then
            hour_fields[#hour_fields + 1], hour_fields[#hour_fields + 2] = ids[i], of_hour
            missing[#missing + 1], missing[#missing + 2] = ids[i] .. 'm', of_hour - hourly[i]
            has_more = true
        end
        if in_day and of_day > daily[i] then
            day_fields[#day_fields + 1], day_fields[#day_fields + 2] = ids[i], of_day
            has_more = true
        end
        if shelf ~= '0' and ((is_new and has_more) or placeless[i]) then
            opened[shelf] = (opened[shelf] or 0) + 1
            if placeless[i] then call('HDEL', places, ids[i] .. 'f') end
        elseif is_new and has_more then
            call('HSET', places, ids[i] .. 'f', 1)
        end
    end
    if #hour_fields > 0 then
        call('HSET', HOUR, 'missing', 1, unpack(hour_fields))
        for i = 1, #missing, 2 do call('HINCRBY', HOUR, missing[i], missing[i + 1]) end
        local theirs = call('HGET', HOUR, 'rules')
        if theirs ~= rules then call('HSET', HOUR, 'mixed', 1) end
    end
    if #day_fields > 0 then call('HSET', DAY, unpack(day_fields)) end
    if #hour_fields > 0 or #day_fields > 0 then is_not_whole() end
    for shelf, count in pairs(opened) do call('HINCRBY', places, 'p' .. shelf, count) end
end

if budget_count > 0 and (in_hour or in_day) then
    restore()
    if in_hour then let_expire(HOUR, (hour + 1) * HOUR_SECONDS) end
    if in_day then let_expire(DAY, (day + 1) * DAY_SECONDS) end
end

-- The recovery -------------------------------------------------------------------------------------------------------

local function answer(is_whole, since) return {tonumber(time[1]), tonumber(time[2]), is_whole, since} end

if head[1] == server then
    -- It comes from another server, or from before this one's loss: its sets may have what these have not.
    if budget_count > 0 and ARGV[9] ~= (head[2] or '') then is_not_whole() end
    return answer(1, head[2] or '')
end

local recovery = call('HMGET', RECOVERY, 'server', 'since')
local since = recovery[2]
if recovery[1] ~= server then
    since = time[1] .. '.' .. time[2]
    call('HDEL', HEAD, 'server', 'since')
    call('DEL', RECOVERY)
    call('HSET', RECOVERY, 'server', server, 'since', since)
    call('EXPIRE', RECOVERY, RECOVERY_KEPT)
end
for i = 1, gate_count do call('HSETNX', RECOVERY, 'g:' .. ARGV[12 + i], 0) end
-- What it has offered in another one may not have been all.
if ARGV[9] ~= since then waited, is_last = 0, is_last and ARGV[9] == '' end
if is_last then call('HSET', RECOVERY, 'g:' .. name, 1) else call('HSETNX', RECOVERY, 'g:' .. name, 0) end

local function all_have_offered()
    local fields = call('HGETALL', RECOVERY)
    for i = 1, #fields, 2 do
        if string.sub(fields[i], 1, 2) == 'g:' and fields[i + 1] ~= '1' then return false end
    end
    return true
end

if waited < WAIT_MIN or (waited < WAIT_MAX and not all_have_offered()) then return answer(0, since) end
call('HSET', HEAD, 'server', server, 'since', since)
-- A namespace that nobody has counted in has lost nothing.
if open >= 0 then is_not_whole() else call('EXPIRE', HEAD, HEAD_KEPT) end
call('DEL', RECOVERY)
return answer(1, since)
