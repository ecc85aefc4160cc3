-- Decides one claim: series that a gate does not know, all or nothing each, against budgets that a fleet shares.
-- tests/fleet/store_model.hpp says the same without a store; fleet/claim_text.cpp writes the words and reads the answer.
--
-- KEYS  1 the head, 2 the hour's record, 3 the record of the hour before, 4 the day's record, then buckets, one a
--       series each: of the hour if the gate gives their number, of the day if it is asked, of the hour before.
-- ARGV  1 hour, 2 rules, 3 grace in s, 4 whether the day is asked (1, 0), 5 room, 6 room of the day, 7 to 9 numbers
--       of buckets (hour, day, before), 10 to 13 numbers of series, runs, shelves and budgets, 14 all rules; then of each
--         series   fingerprint
--         run      series (negative: they only look), places of its budgets as bytes
--         shelf    id, places at most, overflow id, overflow maxima (hour, day)
--         budget   id, maxima (hour, day), place of its shelf or 0
-- Answer  status, clock (s, us), open hour, buckets (hour, day, before); when decided also
--         two bytes a series: k known, t taken, u unknown, h or d refused by the hour or the day, with the budget's place;
--         four numbers a budget: whether it shares, series in hour and day, series awaited (-1: all of its room).
--
-- Fields of the head: hour, buckets, members, telling (gates that have yet to tell what they accepted in the hour, see
-- telling.lua), before (if the hour before was open until now), before_buckets, day, day_buckets, day_members. Of a
-- record: buckets, rules, mixed (claims by other rules were made), all_rules and all_mixed (the same of rules with their
-- maxima), shared (a series was counted in an overflow budget), members; ID series counted, IDr incumbents returned,
-- pSHELF budgets opened, uNAME gates that accept incumbents at once. IDs and fingerprints stay strings: numbers of Lua
-- lose bits above 2^53.
--
-- What a write could fail for is asked before the first one. Should one fail nevertheless (a foreign value under one of
-- our keys), what is in a set by then is counted.

local call, try = redis.call, redis.pcall
local byte, char, floor, huge = string.byte, string.char, math.floor, math.huge

local DECIDED, CLOSED, MOVED = 0, 1, 2
local HOUR_SECONDS, DAY_SECONDS = 3600, 86400
local OPENED_EARLY = 5           -- seconds before its begin that an hour may be opened
local KEPT, KEPT_SPREAD = 7200, 600  -- seconds that keys outlive their window; by bucket, so that they do not go at once
local HEAD_KEPT = 172800         -- how long a namespace without gates is remembered
local BUCKET_MEMBERS = 256       -- on average, when a window is full: beyond 512 a set is no intset any more
local BUCKETS_MAX = 1048576
local ROOM_UNKNOWN, ROOM_MAX = 65536, 4194304  -- series

local HEAD, HOUR, BEFORE, DAY = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local hour, rules, all_rules, with_day = tonumber(ARGV[1]), ARGV[2], ARGV[14], ARGV[4] == '1'
local hour_start, day = hour * HOUR_SECONDS, floor(hour / 24)

local time = redis.call('TIME')
local now = tonumber(time[1])

-- The windows --------------------------------------------------------------------------------------------------------

local head = call('HMGET', HEAD, 'hour', 'buckets', 'before', 'before_buckets', 'day', 'day_buckets', 'members', 'day_members',
                  'telling')
local open, buckets = tonumber(head[1] or -1), tonumber(head[2] or 0)
local has_before, before_buckets = head[3] ~= false, tonumber(head[4] or 0)
local open_day, day_buckets = tonumber(head[5] or -1), tonumber(head[6] or 0)
local telling = tonumber(head[9] or 0)

local function answer(status)
    local has_day = open_day == floor(open / 24)
    return {status, now, tonumber(time[2]), open, buckets, has_day and day_buckets or 0, has_before and before_buckets or 0}
end

-- A power of two for a window that may come to so many series as the last, or as its limits let come.
local function buckets_for(last, room)
    local series = math.max((tonumber(last) or 0) * 1.25, room == 0 and ROOM_UNKNOWN or math.min(room, ROOM_MAX))
    local n = 1
    while n < BUCKETS_MAX and n * BUCKET_MEMBERS < series do n = n * 2 end
    return n
end

local function create_record(key, ends, n)
    call('HSET', key, 'buckets', n, 'rules', rules, 'all_rules', all_rules)
    call('EXPIREAT', key, ends + KEPT + KEPT_SPREAD)
end

if hour > open and now >= hour_start - OPENED_EARLY and now < hour_start + HOUR_SECONDS then
    has_before = open == hour - 1
    before_buckets = has_before and buckets or 0
    open, buckets = hour, buckets_for(head[7], tonumber(ARGV[5]))
    telling = 0
    call('HSET', HEAD, 'hour', open, 'buckets', buckets, 'members', 0, 'telling', 0)
    if has_before then
        call('HSET', HEAD, 'before', hour - 1, 'before_buckets', before_buckets)
    else
        call('HDEL', HEAD, 'before', 'before_buckets')
    end
    call('EXPIREAT', HEAD, hour_start + HOUR_SECONDS + HEAD_KEPT)
    create_record(HOUR, hour_start + HOUR_SECONDS, buckets)
end
if hour ~= open then return answer(CLOSED) end
if with_day and open_day ~= day then
    open_day, day_buckets = day, buckets_for(head[8], tonumber(ARGV[6]))
    call('HSET', HEAD, 'day', day, 'day_buckets', day_buckets, 'day_members', 0)
    create_record(DAY, (day + 1) * DAY_SECONDS, day_buckets)
end

-- Room is kept for incumbents through the grace, and until every gate has told of those that it accepted at once.
local in_grace = has_before and (now < hour_start + tonumber(ARGV[3]) or telling > 0)
local knows_before = has_before and tonumber(ARGV[9]) == before_buckets
if tonumber(ARGV[7]) ~= buckets or (with_day and tonumber(ARGV[8]) ~= day_buckets) or (in_grace and not knows_before) then
    return answer(MOVED)
end

-- What the claim names -----------------------------------------------------------------------------------------------

local series_count, run_count = tonumber(ARGV[10]), tonumber(ARGV[11])
local shelf_count, budget_count = tonumber(ARGV[12]), tonumber(ARGV[13])
local first_run = 15 + series_count
local first_shelf = first_run + 2 * run_count
local first_budget = first_shelf + 5 * shelf_count

-- A tally is what the records say of one id. Budgets that share an overflow budget have one tally.
local tallies, ids, tally_of = {}, {}, {}
local function tally(id)
    local known = tally_of[id]
    if known then return known end
    known = {place = #ids + 1, hour = 0, day = 0, before = 0, returned = 0}
    local place = known.place
    ids[place], tallies[place], tally_of[id] = id, known, known
    return known
end

local shelves, opened_of = {}, {}
for i = 1, shelf_count do
    local at = first_shelf + 5 * (i - 1)
    local field = 'p' .. ARGV[at]
    opened_of[field] = opened_of[field] or {count = 0}
    shelves[i] = {field = field, opened = opened_of[field], places = tonumber(ARGV[at + 1]), tally = tally(ARGV[at + 2]),
                  hourly = tonumber(ARGV[at + 3]), daily = tonumber(ARGV[at + 4])}
end
local budgets = {}
for i = 1, budget_count do
    local at = first_budget + 4 * (i - 1)
    budgets[i] = {place = i - 1, tally = tally(ARGV[at]), hourly = tonumber(ARGV[at + 1]), daily = tonumber(ARGV[at + 2]),
                  shelf = shelves[tonumber(ARGV[at + 3])]}
end
local id_count = #ids

-- What the records say of it -----------------------------------------------------------------------------------------

-- The counts of all ids, and behind them what else is asked of a record.
local function read_counts(record, of, more)
    local fields = {unpack(ids)}
    for i = 1, #more do fields[id_count + i] = more[i] end
    local values = call('HMGET', record, unpack(fields))
    for i = 1, id_count do tallies[i][of] = tonumber(values[i] or 0) end
    return values
end

local function read_places(values, first)
    for i = 1, shelf_count do shelves[i].opened.count = tonumber(values[first + i] or 0) end
end

local more = {'rules', 'mixed', 'members', 'all_rules', 'all_mixed'}
if in_grace then
    for i = 1, id_count do more[5 + i] = ids[i] .. 'r' end
end
local places = {}
for i = 1, shelf_count do places[i] = shelves[i].field end
if not with_day then
    for i = 1, shelf_count do more[#more + 1] = places[i] end
end
local values = read_counts(HOUR, 'hour', more)
local other_rules, mixed = values[id_count + 1] ~= rules, values[id_count + 2]
local members, members_day = tonumber(values[id_count + 3] or 0), 0
local others_rules, all_mixed = values[id_count + 4] ~= all_rules, values[id_count + 5]
if in_grace then
    for i = 1, id_count do tallies[i].returned = tonumber(values[id_count + 5 + i] or 0) end
end
if with_day then
    table.insert(places, 1, 'members')
    local of_day = read_counts(DAY, 'day', places)
    members_day = tonumber(of_day[id_count + 1] or 0)
    read_places(of_day, id_count + 1)
else
    read_places(values, #values - shelf_count)
end

local await_all = false  -- all room is kept for incumbents: it is not known how many count against which budget
if in_grace then
    local before = read_counts(BEFORE, 'before', {'rules', 'mixed'})
    await_all = before[id_count + 1] ~= rules or before[id_count + 2] ~= false
elseif has_before then
    -- Only whether they had a budget of their own, and only of those for which this is not yet clear.
    local unclear, fields = {}, {}
    for i = 1, budget_count do
        local t = budgets[i].tally
        if budgets[i].shelf and t.hour == 0 and t.day == 0 then
            unclear[#unclear + 1], fields[#fields + 1] = t, ids[t.place]
        end
    end
    if #fields > 0 then
        local before = call('HMGET', BEFORE, unpack(fields))
        for i = 1, #fields do unclear[i].before = tonumber(before[i] or 0) end
    end
end

-- Room ---------------------------------------------------------------------------------------------------------------

-- Whether a budget of a shelf has a place of its own, or is asked as the shelf's overflow budget. Once in a claim.
local function resolve(b)
    b.resolved = true
    local shelf, own = b.shelf, b.tally
    if not shelf then return end
    if own.hour == 0 and own.day == 0 and own.before == 0 then
        if shelf.opened.count >= shelf.places then
            b.shares, b.tally, b.hourly, b.daily = true, shelf.tally, shelf.hourly, shelf.daily
            return
        end
        b.opens = true  -- when it takes its first series
    end
    b.awaits_all = own.before == 0 and shelf.tally.before > 0
end

local function awaited(b)
    if not in_grace then return 0 end
    if await_all or b.awaits_all then return huge end
    local left = b.tally.before - b.tally.returned
    return left > 0 and left or 0
end

local first_hour = hour % 24 == 0

-- The first of the run's budgets without room for a series, as it stands in the answer.
local function refusal(run, incumbent, day_known)
    for i = 1, #run do
        local b = run[i]
        local t, kept = b.tally, incumbent and 0 or awaited(b)
        if b.hourly > 0 and t.hour + kept >= b.hourly then return 'h' .. char(b.place) end
        if with_day and not day_known and b.daily > 0 and t.day + (first_hour and kept or 0) >= b.daily then
            return 'd' .. char(b.place)
        end
    end
end

-- How many series find room, whatever they are.
local function room(run)
    local least = huge
    for i = 1, #run do
        local b = run[i]
        local t, kept = b.tally, awaited(b)
        if b.hourly > 0 then least = math.min(least, b.hourly - t.hour - kept) end
        if with_day and b.daily > 0 then least = math.min(least, b.daily - t.day - (first_hour and kept or 0)) end
    end
    return math.max(least, 0)
end

-- Series -------------------------------------------------------------------------------------------------------------

local outcomes = {}
local KNOWN, TAKEN, UNKNOWN = 'k\0', 't\0', 'u\0'
local hour_keys = 4
local day_keys = hour_keys + series_count
local before_keys = with_day and day_keys + series_count or day_keys

-- Buckets that are there have their expiry. One call asks for all of a claim's whether any may be new.
local function may_be_new(first_key)
    return series_count > 0 and call('EXISTS', unpack(KEYS, first_key + 1, first_key + series_count)) < series_count
end

-- 1: added, 0: it was there, else an error.
local function add(key, fingerprint, new_bucket, ends)
    local added = try('SADD', key, fingerprint)
    if added == 1 and new_bucket then
        call('EXPIREAT', key, ends + KEPT + tonumber(string.match(key, '%d+$')) % KEPT_SPREAD)
    end
    return added
end

-- What a run has taken since it was last settled: its budgets' tallies are written once for many series.
local taken, taken_day, came_back = 0, 0, 0
local took, took_shared = false, false  -- anything in this claim, and in an overflow budget of a shelf
local function settle(run)
    if taken == 0 then return end
    took = true
    for i = 1, #run do
        local b = run[i]
        local t = b.tally
        t.hour, t.taken = t.hour + taken, true
        if taken_day > 0 then t.day, t.taken_day = t.day + taken_day, true end
        if came_back > 0 then t.returned, t.came_back = t.returned + came_back, true end
        took_shared = took_shared or b.shares
        if b.opens then
            local opened = b.shelf.opened
            b.opens, opened.count, opened.grew = false, opened.count + 1, true
        end
    end
    members, members_day = members + taken, members_day + taken_day
    taken, taken_day, came_back = 0, 0, 0
end

local function look_run(first, last)
    for i = first, last do
        local fingerprint = ARGV[14 + i]
        local known = try('SISMEMBER', KEYS[hour_keys + i], fingerprint) == 1 or
                          (with_day and try('SISMEMBER', KEYS[day_keys + i], fingerprint) == 1) or
                          (knows_before and try('SISMEMBER', KEYS[before_keys + i], fingerprint) == 1)
        outcomes[i] = known and KNOWN or UNKNOWN
    end
end

local hour_ends, day_ends = hour_start + HOUR_SECONDS, (day + 1) * DAY_SECONDS
local new_in_hour, new_in_day

-- Returns the error of a write that failed. While there is room for any series, SADD tells and takes in one.
local function decide_run(run, first, last)
    local left, stale = room(run), false
    local no  -- the answer to any series that is not known, false: they differ
    for i = first, last do
        local fingerprint, key = ARGV[14 + i], KEYS[hour_keys + i]
        if left <= 0 and stale then
            settle(run)
            left, stale = room(run), false
        end
        local in_hour, in_day, incumbent, refused
        if left <= 0 then
            if no == nil then
                settle(run)
                no = refusal(run, false, false)
                if no ~= refusal(run, true, true) then no = false end
            end
            in_hour = try('SISMEMBER', key, fingerprint) == 1
            if not in_hour then
                refused = no
                if not refused then
                    incumbent = in_grace and try('SISMEMBER', KEYS[before_keys + i], fingerprint) == 1
                    in_day = with_day and try('SISMEMBER', KEYS[day_keys + i], fingerprint) == 1
                    refused = refusal(run, incumbent, in_day)
                end
            end
        end
        if in_hour then
            outcomes[i] = KNOWN
        elseif refused then
            outcomes[i] = refused
        else
            local added = add(key, fingerprint, new_in_hour, hour_ends)
            if added == 0 then
                outcomes[i] = KNOWN
            elseif added == 1 then
                outcomes[i], taken = TAKEN, taken + 1
                if in_grace and left > 0 then
                    incumbent = try('SISMEMBER', KEYS[before_keys + i], fingerprint) == 1
                end
                if incumbent then came_back, stale = came_back + 1, true end
                if with_day then
                    local added_day = add(KEYS[day_keys + i], fingerprint, new_in_day, day_ends)
                    if added_day == 1 then
                        taken_day = taken_day + 1
                    elseif added_day == 0 then
                        stale = true
                    else
                        settle(run)
                        return added_day
                    end
                end
                if left > 0 then
                    left = left - 1
                else
                    settle(run)
                    no, stale = nil, false
                end
            else
                settle(run)
                return added
            end
        end
    end
    settle(run)
end

local function budgets_of(bytes)
    local run = {byte(bytes, 1, -1)}
    for i = 1, #run do
        run[i] = budgets[run[i] + 1]
        if not run[i].resolved then resolve(run[i]) end
    end
    return run
end

if other_rules and not mixed then call('HSET', HOUR, 'mixed', 1) end
if others_rules and not all_mixed then call('HSET', HOUR, 'all_mixed', 1) end
local first, failed = 1, nil
for r = 1, run_count do
    local at = first_run + 2 * (r - 1)
    local count = tonumber(ARGV[at])
    if count < 0 then
        look_run(first, first - count - 1)
    else
        if new_in_hour == nil then
            new_in_hour = may_be_new(hour_keys)
            new_in_day = with_day and may_be_new(day_keys)
        end
        failed = decide_run(budgets_of(ARGV[at + 1]), first, first + count - 1)
        if failed then break end
    end
    first = first + math.abs(count)
end

-- What has changed ---------------------------------------------------------------------------------------------------

local hour_fields, day_fields = {'members', members}, {'members', members_day}
if took_shared then hour_fields[3], hour_fields[4] = 'shared', 1 end
for i = 1, id_count do
    local t, n = tallies[i], #hour_fields
    if t.taken then hour_fields[n + 1], hour_fields[n + 2] = ids[i], t.hour end
    n = #hour_fields
    if t.came_back then hour_fields[n + 1], hour_fields[n + 2] = ids[i] .. 'r', t.returned end
    n = #day_fields
    if t.taken_day then day_fields[n + 1], day_fields[n + 2] = ids[i], t.day end
end
local place_fields = with_day and day_fields or hour_fields
for i = 1, shelf_count do
    local shelf, n = shelves[i], #place_fields
    if shelf.opened.grew then place_fields[n + 1], place_fields[n + 2] = shelf.field, shelf.opened.count end
end
if took then
    call('HSET', HOUR, unpack(hour_fields))
    if with_day then
        call('HSET', DAY, unpack(day_fields))
        call('HSET', HEAD, 'members', members, 'day_members', members_day)
    else
        call('HSET', HEAD, 'members', members)
    end
end
if failed then return failed end

local figures = {}
for i = 1, budget_count do
    local b, at = budgets[i], 4 * (i - 1)
    if not b.resolved then resolve(b) end
    local kept = awaited(b)
    figures[at + 1], figures[at + 2] = b.shares and 1 or 0, b.tally.hour
    figures[at + 3], figures[at + 4] = b.tally.day, kept == huge and -1 or kept
end
local decided = answer(DECIDED)
decided[8], decided[9] = table.concat(outcomes), figures
return decided
