-- Decides one claim: series that a gate does not know, all or nothing each, against budgets that a fleet shares.
-- tests/fleet/store_model.hpp says the same without a store; fleet/claim_text.cpp writes the words and reads the answer.
--
-- KEYS  1 the head, 2 the hour's record, 3 the record of the hour before, 4 the day's record, 5 the hour's feed, 6 the
--       record of the day's first hour, 7 that of the hour before it, then buckets, one a series each: of the hour if
--       the gate gives their number, of the day if it is asked, of the hour before; at last, if the claim names
--       histograms, a bucket of the hour each, of the day each if it is asked, and what was completed in the hour and,
--       if it is asked, in the day.
-- ARGV  1 hour, 2 rules, 3 grace in s, 4 whether the day is asked (1, 0), 5 room, 6 room of the day, 7 to 9 numbers
--       of buckets (hour, day, before), 10 to 15 numbers of series, runs, shelves, kinds, budgets and overflow budgets,
--       16 the budgets' kinds as bytes, 17 all rules, 18 whether they have passed: 0 they wait for this, 1 they were
--       accepted at once, 2 they were let pass out of a share, 19 a number for this run of the gate, 20 all fingerprints,
--       8 bytes each, 21 the part of each maximum that claims leave to shares (reserve.hpp), in ten-thousandths, 22 the
--       number of histograms that are kept whole; then of each
--         series   fingerprint
--         budget   id, then those of the overflow budgets
--         run      bytes: series - 1, + 128 if they only look; places of its budgets
--         kind     of budgets: maxima (hour, day), place of its shelf or 0
--         shelf    id, budgets at most, place of its overflow budget, maxima of that (hour, day)
--       Places are from 0, those of kinds, shelves and overflow budgets from 1.
--       If there are histograms: the fingerprint of each one's family; a byte a series, the place of its family from 1 or
--       0; the families once more, 8 bytes each. And at last the run_id of the server that this connection leads to.
-- Answer  status, clock (s, us), open hour, buckets (hour, day, before); when decided also
--         two bytes a series: k known, t taken, with the windows in which it had no room and its histogram was completed
--         (1 the hour, 2 the day), u unknown, h or d refused by the hour or the day, with the budget's place;
--         four numbers a budget: whether it shares, series in hour and day, series awaited (-1: all of its room).
--
-- Fields of the head: server, the run_id of the one whose counts are whole, since when, whole_from and held (recover.lua
-- writes these four); all_rules of the last hour, and same_from, the hour from which on there may be shares of them (shares.lua); owed_day, the
-- last one in which something was told of that had been let pass out of a share; hour, buckets, members, telling (gates
-- that have yet to tell what they accepted in the hour, see telling.lua), before (if the hour before was open until now),
-- before_buckets, day, day_buckets, day_members, kept_day (in whose first hour gates were listed that count by the day, so that
-- the records of that hour and the one before are kept), uncounted_day (in whose first hour some gate has not told of all: what
-- was awaited when that hour ended is in the day's counts from then on, for it may have passed). Of a record: buckets, rules,
-- mixed (claims by other rules were made),
-- all_rules and all_mixed (the same of rules with their maxima), shared (a series was counted in an overflow budget), owed
-- (one has been told of that was let pass out of a share), owed_day (the same, in an hour of its day before this one),
-- members; ID series counted, IDr incumbents returned, IDm of those counted the ones that are in no set, for a server has
-- lost them (and missing, if there is any), IDo of those counted the ones that have completed histograms without room in
-- this budget while it kept room for incumbents (and over, if there is any), IDu that what was awaited is in the day's
-- count, pSHELF budgets opened, uNAME gates that accept incumbents at once. IDs and fingerprints stay strings: numbers of
-- Lua lose bits above 2^53.
--
-- A histogram has begun in a window whose sets have its family's fingerprint, beside those of its series: it is no
-- member, and counted nowhere. Its series are then taken without room, and counted all the same; how many that were is
-- a field of the window's completed hash.
--
-- The feed is a stream of what was taken in the hour, see feed.lua: an entry a claim that has taken something, under the
-- number of series that the hour has by then. Whoever reads it sees by that number whether anything is missing.
--
-- What a write could fail for is asked before the first one. Should one fail nevertheless (a foreign value under one of
-- our keys), what is in a set by then is counted.

local call, try = redis.call, redis.pcall
local tonumber, unpack = tonumber, unpack
local KEYS, ARGV = KEYS, ARGV
local byte, char, format, sub = string.byte, string.char, string.format, string.sub
local floor, huge = math.floor, math.huge

local DECIDED, CLOSED, MOVED, LOST = 0, 1, 2, 3
local HOUR_SECONDS, DAY_SECONDS = 3600, 86400
local OPENED_EARLY = 5           -- seconds before its begin that an hour may be opened
local KEPT, KEPT_SPREAD = 7200, 600  -- seconds that keys outlive their window; by bucket, so that they do not go at once
local HEAD_KEPT = 172800         -- how long a namespace without gates is remembered
local BUCKET_MEMBERS = 256       -- on average, when a window is full: beyond 512 a set is no intset any more
local BUCKETS_MAX = 1048576
local COMPLETED_MAX = 1000       -- series of one histogram in one window: see limit/histogram_keys.hpp
local ROOM_UNKNOWN, ROOM_MAX = 1048576, 16777216  -- series
local FEED_ENTRIES = 12000       -- at least: of full claims some 32 MB
local FEED_KEPT = 600            -- seconds that a feed outlives its hour: nobody reads it in another

-- Being longer than 64 bytes it keeps a record from the form that small hashes have, in which each field is searched for.
local ABOUT = 'ID: series counted, IDr: incumbents of them that have returned, pID: budgets opened on a shelf'

local HEAD, HOUR, BEFORE, DAY, FEED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DAYS_FIRST, BEFORE_DAY = KEYS[6], KEYS[7]
local hour, rules, all_rules, with_day = tonumber(ARGV[1]), ARGV[2], ARGV[17], ARGV[4] == '1'
local hour_start, day = hour * HOUR_SECONDS, floor(hour / 24)
local days_first = day * 24

local time = redis.call('TIME')
local now = tonumber(time[1])

-- The windows --------------------------------------------------------------------------------------------------------

local head = call('HMGET', HEAD, 'hour', 'buckets', 'before', 'before_buckets', 'day', 'day_buckets', 'members', 'day_members',
                  'telling', 'server', 'held', 'all_rules', 'owed_day', 'kept_day', 'uncounted_day')
local open, buckets = tonumber(head[1] or -1), tonumber(head[2] or 0)
local has_before, before_buckets = head[3] ~= false, tonumber(head[4] or 0)
local open_day, day_buckets = tonumber(head[5] or -1), tonumber(head[6] or 0)
local telling, held_hour = tonumber(head[9] or 0), tonumber(head[11] or -1)
local kept_day, uncounted_day = tonumber(head[14] or -1), tonumber(head[15] or -1)

local function answer(status)
    local has_day = open_day == floor(open / 24)
    return {status, now, tonumber(time[2]), open, buckets, has_day and day_buckets or 0, has_before and before_buckets or 0}
end

-- Another server than the one whose counts are whole: what it has of them may be old. Or it has been emptied.
if head[10] ~= ARGV[#ARGV] then return answer(LOST) end

-- A power of two for a window that may come to so many series as the last, or as its limits let come.
local function buckets_for(last, room)
    local series = math.max((tonumber(last) or 0) * 1.25, room == 0 and ROOM_UNKNOWN or math.min(room, ROOM_MAX))
    local n = 1
    while n < BUCKETS_MAX and n * BUCKET_MEMBERS < series do n = n * 2 end
    return n
end

local function create_record(key, ends, n)
    call('HSET', key, 'buckets', n, 'rules', rules, 'all_rules', all_rules, 'about', ABOUT)
    call('EXPIREAT', key, ends + KEPT + KEPT_SPREAD)
end

if hour > open and now >= hour_start - OPENED_EARLY and now < hour_start + HOUR_SECONDS then
    -- As in recover.lua. Whom a recovery has waited for in vain may have let pass what no record tells.
    if hour > days_first and (held_hour == days_first or (open == days_first and telling > 0 and kept_day == day)) then
        if held_hour == days_first then kept_day = -1 end
        uncounted_day = day
        call('HSET', HEAD, 'uncounted_day', day, 'kept_day', kept_day)
    end
    has_before = open == hour - 1
    before_buckets = has_before and buckets or 0
    open, buckets = hour, buckets_for(head[7], tonumber(ARGV[5]))
    telling = 0
    -- Where nobody has ever counted, all was counted by these rules. Else it takes an hour to see that nobody has others.
    if head[12] ~= all_rules then call('HSET', HEAD, 'all_rules', all_rules, 'same_from', head[1] and hour + 1 or 0) end
    call('HSET', HEAD, 'hour', open, 'buckets', buckets, 'members', 0, 'telling', 0)
    if has_before then
        call('HSET', HEAD, 'before', hour - 1, 'before_buckets', before_buckets)
    else
        call('HDEL', HEAD, 'before', 'before_buckets')
    end
    call('EXPIREAT', HEAD, hour_start + HOUR_SECONDS + HEAD_KEPT)
    create_record(HOUR, hour_start + HOUR_SECONDS, buckets)
    if tonumber(head[13] or -1) == day then call('HSET', HOUR, 'owed_day', 1) end
end
if hour ~= open then return answer(CLOSED) end

-- After a loss only gates know which series they have accepted at once: they take their places before any other does.
local held = held_hour == hour
if held and ARGV[18] ~= '1' then return answer(LOST) end
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

local series_count, run_count, shelf_count = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local kind_count, budget_count = tonumber(ARGV[13]), tonumber(ARGV[14])
local id_count = budget_count + tonumber(ARGV[15])
local kind_of = ARGV[16]
local owed, reserve = ARGV[18] == '2', ARGV[18] == '0' and tonumber(ARGV[21]) or 0
local family_count = tonumber(ARGV[22])
local before_series = 22
local before_ids = before_series + series_count
local before_runs = before_ids + id_count
local before_kinds = before_runs + run_count
local before_shelves = before_kinds + 3 * kind_count

local ids = {unpack(ARGV, before_ids + 1, before_runs)}  -- of budgets, and of overflow budgets behind them

-- What has not passed yet leaves sixteen shares of a maximum alone. What has passed has its place: among the incumbents
-- of the hour before, which are no more than claims could take, or in a share.
local SHARES, WHOLE = 16, 160000
local function claimed_max(maximum)
    if reserve == 0 then return maximum end
    return maximum - SHARES * (floor(maximum / WHOLE) * reserve + floor(maximum % WHOLE * reserve / WHOLE))
end

local shelves, opened_of, place_fields = {}, {}, {}
for i = 1, shelf_count do
    local at = before_shelves + 5 * (i - 1)
    local field = 'p' .. ARGV[at + 1]
    opened_of[field] = opened_of[field] or {count = 0}
    place_fields[i] = field
    shelves[i] = {field = field, opened = opened_of[field], places = tonumber(ARGV[at + 2]),
                  overflow = budget_count + tonumber(ARGV[at + 3]),
                  hourly = claimed_max(tonumber(ARGV[at + 4])), daily = claimed_max(tonumber(ARGV[at + 5]))}
end
local kinds = {}
for i = 1, kind_count do
    local at = before_kinds + 3 * (i - 1)
    kinds[i] = {hourly = claimed_max(tonumber(ARGV[at + 1])), daily = claimed_max(tonumber(ARGV[at + 2])),
                shelf = shelves[tonumber(ARGV[at + 3])]}
end

-- By place. Whether they have begun is asked when one of their series is looked at that is not known.
local families, family_of, completed_hour, completed_day = {}, nil, nil, nil
if family_count > 0 then
    local before_families = #ARGV - 3 - family_count
    local keys_end = #KEYS - (with_day and 2 or 1)
    local before_family_keys = keys_end - (with_day and 2 or 1) * family_count
    completed_hour, completed_day = KEYS[keys_end + 1], KEYS[keys_end + 2]
    family_of = ARGV[#ARGV - 2]
    for i = 1, family_count do
        families[i] = {fingerprint = ARGV[before_families + i], hour_key = KEYS[before_family_keys + i],
                       day_key = with_day and KEYS[before_family_keys + family_count + i]}
    end
end

-- What the records say of it -----------------------------------------------------------------------------------------

-- The counts of all ids as numbers, and behind them what else is asked of a record.
local function read_counts(record, more)
    local fields = {unpack(ids)}
    for i = 1, #more do fields[id_count + i] = more[i] end
    local counts = call('HMGET', record, unpack(fields))
    for i = 1, id_count do counts[i] = counts[i] and tonumber(counts[i]) or 0 end
    return counts
end

local function read_places(values, first)
    for i = 1, shelf_count do shelves[i].opened.count = tonumber(values[first + i] or 0) end
end

-- By place of the id. All tables are filled in order: what is not takes several times as long to find.
local in_hour, in_day, in_before, missing, returned = nil, {}, {}, {}, {}

-- What was awaited when the day's first hour ended, and may have passed, has its place in the day: once a budget, whether or
-- not it comes again. Returns false if nobody knows how much that is.
local function count_awaited(done_at)
    if kept_day ~= day then return false end
    local places, had, back = {}, {}, {}
    for i = 1, id_count do
        if not in_day[done_at + i] then
            local n = #places + 1
            places[n], had[n], back[n] = i, ids[i], ids[i] .. 'r'
        end
    end
    if #places == 0 then return true end
    if call('EXISTS', DAYS_FIRST, BEFORE_DAY) < 2 then return false end
    had, back = call('HMGET', BEFORE_DAY, unpack(had)), call('HMGET', DAYS_FIRST, unpack(back))
    local counted = {}
    for n = 1, #places do
        local i, left = places[n], tonumber(had[n] or 0) - tonumber(back[n] or 0)
        if left > 0 then
            in_day[i] = in_day[i] + left
            counted[#counted + 1], counted[#counted + 2] = ids[i], format('%d', in_day[i])
        end
        counted[#counted + 1], counted[#counted + 2] = ids[i] .. 'u', 1
    end
    call('HSET', DAY, unpack(counted))
    return true
end

local day_is_full = false  -- for all that it does not know: what was awaited and may have passed is not known
local more = {'rules', 'mixed', 'members', 'all_rules', 'all_mixed'}
if in_grace then
    for i = 1, id_count do more[5 + i] = ids[i] .. 'r' end
end
if not with_day then
    for i = 1, shelf_count do more[#more + 1] = place_fields[i] end
end
in_hour = read_counts(HOUR, more)
local other_rules, mixed = in_hour[id_count + 1] ~= rules, in_hour[id_count + 2]
local members, members_day = tonumber(in_hour[id_count + 3] or 0), 0
local others_rules, all_mixed = in_hour[id_count + 4] ~= all_rules, in_hour[id_count + 5]
if in_grace then
    for i = 1, id_count do returned[i] = tonumber(in_hour[id_count + 5 + i] or 0) end
end
if with_day then
    local of_day = {'members', unpack(place_fields)}
    local is_uncounted = uncounted_day == day and hour > days_first
    if is_uncounted then
        for i = 1, id_count do of_day[1 + shelf_count + i] = ids[i] .. 'u' end
    end
    in_day = read_counts(DAY, of_day)
    members_day = tonumber(in_day[id_count + 1] or 0)
    read_places(in_day, id_count + 1)
    if is_uncounted then day_is_full = not count_awaited(id_count + 1 + shelf_count) end
else
    for i = 1, id_count do in_day[i] = 0 end
    read_places(in_hour, id_count + #more - shelf_count)
end

local await_all = false  -- all room is kept for incumbents: it is not known how many count against which budget
if in_grace then
    in_before = read_counts(BEFORE, {'rules', 'mixed', 'missing'})
    await_all = in_before[id_count + 1] ~= rules or in_before[id_count + 2] ~= false
    if in_before[id_count + 3] then
        -- Those that no set has cannot be told from newcomers: room that is kept for them would be nobody's.
        local fields = {}
        for i = 1, id_count do fields[i] = ids[i] .. 'm' end
        local counts = id_count > 0 and call('HMGET', BEFORE, unpack(fields)) or {}
        for i = 1, id_count do missing[i] = tonumber(counts[i] or 0) end
    end
elseif has_before and shelf_count > 0 then
    -- Only whether they had a budget of their own, and only of those for which this is not yet clear.
    local unclear, fields = {}, {}
    for i = 1, budget_count do
        if in_hour[i] == 0 and in_day[i] == 0 and kinds[byte(kind_of, i)].shelf then
            unclear[#unclear + 1], fields[#fields + 1] = i, ids[i]
        end
    end
    if #fields > 0 then
        local counts = call('HMGET', BEFORE, unpack(fields))
        for i = 1, #fields do in_before[unclear[i]] = tonumber(counts[i] or 0) end
    end
end

-- Room ---------------------------------------------------------------------------------------------------------------

-- By place of the budget: as which id it is asked, its maxima, and of those on a shelf that are yet to be resolved, this.
local asked_as, hourly, daily, on_shelf = {}, {}, {}, {}
for b = 1, budget_count do
    local kind = kinds[byte(kind_of, b)]
    asked_as[b], hourly[b], daily[b], on_shelf[b] = b, kind.hourly, kind.daily, kind.shelf or false
end
local awaits_all, opens = {}, {}

-- Whether a budget of a shelf has a place of its own, or is asked as the shelf's overflow budget.
local function resolve(b)
    local shelf = on_shelf[b]
    on_shelf[b], opens[b], awaits_all[b] = false, nil, nil
    local had_place = (in_before[b] or 0) > 0
    if in_hour[b] == 0 and in_day[b] == 0 and not had_place then
        if shelf.opened.count >= shelf.places then
            asked_as[b], hourly[b], daily[b] = shelf.overflow, shelf.hourly, shelf.daily
            return
        end
        opens[b] = shelf  -- when it takes its first series
    end
    if in_grace then awaits_all[b] = not had_place and in_before[shelf.overflow] > 0 end
end

-- Until it has taken a series, another one may take the last place.
local function resolve_once_more(b)
    if opens[b] then on_shelf[b] = opens[b] end
    if on_shelf[b] then resolve(b) end
end

local function awaited(b)
    if not in_grace or held then return 0 end
    if await_all or awaits_all[b] then return huge end
    local id = asked_as[b]
    local left = in_before[id] - (missing[id] or 0) - returned[id]
    return left > 0 and left or 0
end

-- What has completed histograms takes no room from the incumbents that have yet to return.
local over_hour, over_day = {}, {}
local function read_over(record, over)
    if id_count == 0 or not call('HGET', record, 'over') then return end
    local fields = {}
    for i = 1, id_count do fields[i] = ids[i] .. 'o' end
    local counts = call('HMGET', record, unpack(fields))
    for i = 1, id_count do over[i] = tonumber(counts[i] or 0) end
end

local first_hour = hour == days_first
if in_grace then read_over(HOUR, over_hour) end
if in_grace and with_day and first_hour then read_over(DAY, over_day) end
-- What a gate had in the hour before is in the day's count, which has been restored, whether it is in the set or not.
local counts_day = with_day and (first_hour or not held)

-- Whether a budget has no room for a series, in the hour and in the day.
local function spent(b, incumbent, day_known)
    local id, kept = asked_as[b], awaited(b)
    local of_hour, of_day = kept, first_hour and kept or 0
    if incumbent then
        of_hour = kept > 0 and -(over_hour[id] or 0) or 0
        of_day = kept > 0 and -(over_day[id] or 0) or 0
    end
    return hourly[b] > 0 and in_hour[id] + of_hour >= hourly[b],
           counts_day and not day_known and daily[b] > 0 and (day_is_full or in_day[id] + of_day >= daily[b])
end

-- The first of the run's budgets without room for a series, as it stands in the answer.
local function refusal(run, incumbent, day_known)
    for i = 1, #run do
        local b = run[i]
        local in_its_hour, in_its_day = spent(b, incumbent, day_known)
        if in_its_hour then return 'h' .. char(b - 1) end
        if in_its_day then return 'd' .. char(b - 1) end
    end
end

-- How many series find room, whatever they are.
local function room(run)
    local least = huge
    for i = 1, #run do
        local b = run[i]
        local id, kept, hour_max, day_max = asked_as[b], in_grace and awaited(b) or 0, hourly[b], daily[b]
        if hour_max > 0 then
            local left = hour_max - in_hour[id] - kept
            if left < least then least = left end
        end
        if counts_day and day_max > 0 then
            local left = day_max - in_day[id]
            if first_hour then left = left - kept end
            if day_is_full then left = 0 end
            if left < least then least = left end
        end
    end
    return least
end

-- Series -------------------------------------------------------------------------------------------------------------

local outcomes = {}
local KNOWN, TAKEN, UNKNOWN = 'k\0', 't\0', 'u\0'
local COMPLETED = {[0] = TAKEN, 't\1', 't\2', 't\3'}
local TOOK = {[TAKEN] = true, ['t\1'] = true, ['t\2'] = true, ['t\3'] = true}
local hour_keys = 7
local day_keys = hour_keys + series_count
local before_keys = with_day and day_keys + series_count or day_keys

-- Buckets that are there have their expiry. One call asks for all of a claim's whether any may be new.
local function may_be_new(first_key)
    return series_count > 0 and call('EXISTS', unpack(KEYS, first_key + 1, first_key + series_count)) < series_count
end

local hour_ends, day_ends = hour_start + HOUR_SECONDS, (day + 1) * DAY_SECONDS
local new_in_hour, new_in_day

local function let_expire(key, ends)
    call('EXPIREAT', key, ends + KEPT + tonumber(string.match(key, '%d+$')) % KEPT_SPREAD)
end

-- What a run has taken since it was last settled: its budgets are counted once for many series.
local taken, taken_day, came_back = 0, 0, 0
local in_hour_then, in_day_then = {unpack(in_hour, 1, id_count)}, {unpack(in_day, 1, id_count)}
local returned_then = {unpack(returned)}
local took_shared = false  -- anything in an overflow budget of a shelf
local function settle(run)
    if taken == 0 then return end
    for i = 1, #run do
        local b = run[i]
        local id = asked_as[b]
        in_hour[id] = in_hour[id] + taken
        if counts_day then in_day[id] = in_day[id] + taken_day end
        took_shared = took_shared or id > budget_count
        if came_back > 0 then returned[id] = returned[id] + came_back end
        local shelf = opens[b]
        if shelf then shelf.opened.count, shelf.opened.grew, opens[b] = shelf.opened.count + 1, true, nil end
    end
    members, members_day = members + taken, members_day + taken_day
    taken, taken_day, came_back = 0, 0, 0
end

local function look_run(first, last)
    for i = first, last do
        local fingerprint = ARGV[before_series + i]
        local known = try('SISMEMBER', KEYS[hour_keys + i], fingerprint) == 1 or
                          (with_day and try('SISMEMBER', KEYS[day_keys + i], fingerprint) == 1) or
                          (knows_before and try('SISMEMBER', KEYS[before_keys + i], fingerprint) == 1)
        outcomes[i] = known and KNOWN or UNKNOWN
    end
end

-- Returns the error of a write that failed. While there is room for any series, SADD tells and takes in one.
local function decide_run(run, first, last)
    local left, stale = room(run), false
    local no  -- the answer to any series that is not known; false: it depends
    for i = first, last do
        local fingerprint, key = ARGV[before_series + i], KEYS[hour_keys + i]
        if left <= 0 and stale then
            settle(run)
            left, stale = room(run), false
        end
        local outcome, incumbent
        if left <= 0 then
            if no == nil then
                settle(run)
                no = refusal(run, false, false)
                if no ~= refusal(run, true, true) then no = false end
            end
            if try('SISMEMBER', key, fingerprint) == 1 then
                outcome = KNOWN
            elseif no then
                outcome = no
            else
                incumbent = in_grace and try('SISMEMBER', KEYS[before_keys + i], fingerprint) == 1
                outcome = refusal(run, incumbent, with_day and try('SISMEMBER', KEYS[day_keys + i], fingerprint) == 1)
            end
        end
        if not outcome then
            local added = try('SADD', key, fingerprint)
            if added == 1 then
                outcome, taken = TAKEN, taken + 1
                if new_in_hour then let_expire(key, hour_ends) end
                if in_grace and left > 0 then
                    incumbent = try('SISMEMBER', KEYS[before_keys + i], fingerprint) == 1
                end
                if incumbent then came_back, stale = came_back + 1, true end
                if with_day then
                    key = KEYS[day_keys + i]
                    added = try('SADD', key, fingerprint)
                    if added == 1 then
                        taken_day = taken_day + 1
                        if new_in_day then let_expire(key, day_ends) end
                    elseif added == 0 then
                        stale = true
                    end
                end
                if left > 0 then
                    left = left - 1
                else
                    settle(run)
                    no, stale = nil, false
                end
            else
                outcome = KNOWN
            end
            if added ~= 0 and added ~= 1 then
                settle(run)
                return added
            end
        end
        outcomes[i] = outcome
    end
    settle(run)
end

-- Histograms that are kept whole -------------------------------------------------------------------------------------

local begun = {}  -- places of families that begin with this claim

local function look_for(family)
    if family.in_hour ~= nil then return end
    family.in_hour = try('SISMEMBER', family.hour_key, family.fingerprint) == 1
    family.in_day = with_day and try('SISMEMBER', family.day_key, family.fingerprint) == 1
end

-- Whether one more of its series may be taken without room.
local function completes(family, has_begun, key)
    if not has_begun then return false end
    if not family[key] then family[key] = tonumber(try('HGET', key, family.fingerprint) or 0) or huge end
    return family[key] < COMPLETED_MAX
end

local function complete(family, key, ends, record, without, over)
    family[key] = family[key] + 1
    if call('HINCRBY', key, family.fingerprint, 1) == 1 then call('EXPIREAT', key, ends + KEPT + KEPT_SPREAD) end
    if not in_grace or (record == DAY and not first_hour) then return end
    call('HSET', record, 'over', 1)
    for i = 1, #without do
        local id = without[i]
        over[id] = (over[id] or 0) + 1
        call('HINCRBY', record, ids[id] .. 'o', 1)
    end
end

local function begin(place, family)
    if not family.in_hour then
        begun[#begun + 1] = place
        family.in_hour = true
        if try('SADD', family.hour_key, family.fingerprint) == 1 then let_expire(family.hour_key, hour_ends) end
    end
    if with_day and not family.in_day then
        family.in_day = true
        if try('SADD', family.day_key, family.fingerprint) == 1 then let_expire(family.day_key, day_ends) end
    end
end

-- As decide_run, of one series that is part of a histogram.
local function decide_in_family(run, i, place)
    local fingerprint, key, family = ARGV[before_series + i], KEYS[hour_keys + i], families[place]
    if try('SISMEMBER', key, fingerprint) == 1 then
        outcomes[i] = KNOWN
        return
    end
    look_for(family)
    local day_known = with_day and try('SISMEMBER', KEYS[day_keys + i], fingerprint) == 1
    local incumbent = in_grace and try('SISMEMBER', KEYS[before_keys + i], fingerprint) == 1
    local without_hour, without_day = {}, {}  -- budgets, by their ids
    for n = 1, #run do
        local b = run[n]
        local in_its_hour, in_its_day = spent(b, incumbent, day_known)
        if in_its_hour then
            without_hour[#without_hour + 1] = asked_as[b]
            if not completes(family, family.in_hour, completed_hour) then
                outcomes[i] = 'h' .. char(b - 1)
                return
            end
        end
        if in_its_day then
            without_day[#without_day + 1] = asked_as[b]
            if not completes(family, family.in_day, completed_day) then
                outcomes[i] = 'd' .. char(b - 1)
                return
            end
        end
    end
    local added = try('SADD', key, fingerprint)
    if added ~= 1 then return added end
    let_expire(key, hour_ends)
    taken, came_back = 1, incumbent and 1 or 0
    if with_day and not day_known then
        key = KEYS[day_keys + i]
        added = try('SADD', key, fingerprint)
        if added == 1 then
            taken_day = 1
            let_expire(key, day_ends)
        end
    end
    settle(run)
    outcomes[i] = COMPLETED[(#without_hour > 0 and 1 or 0) + (#without_day > 0 and 2 or 0)]
    if added ~= 1 then return added end
    begin(place, family)
    if #without_hour > 0 then complete(family, completed_hour, hour_ends, HOUR, without_hour, over_hour) end
    if #without_day > 0 then complete(family, completed_day, day_ends, DAY, without_day, over_day) end
end

local function decide_run_of_families(run, first, last)
    local from = first
    for i = first, last + 1 do
        local place = i <= last and byte(family_of, i) or nil
        if place ~= 0 then
            local failed = from < i and decide_run(run, from, i - 1) or nil
            if not failed and place then failed = decide_in_family(run, i, place) end
            if failed then return failed end
            from = i + 1
        end
    end
end

local function budgets_of(bytes)
    local run = {byte(bytes, 2, -1)}
    for i = 1, #run do
        local b = run[i] + 1
        run[i] = b
        resolve_once_more(b)
    end
    return run
end

local members_then = members
if other_rules and not mixed then call('HSET', HOUR, 'mixed', 1) end
if others_rules and not all_mixed then
    call('HSET', HOUR, 'all_mixed', 1)
    call('HSET', HEAD, 'same_from', hour + 2)
end
local first, failed = 1, nil
for r = before_runs + 1, before_kinds do
    local count = byte(ARGV[r]) + 1
    if count > 128 then
        count = count - 128
        look_run(first, first + count - 1)
    else
        if new_in_hour == nil then
            new_in_hour = may_be_new(hour_keys)
            new_in_day = with_day and may_be_new(day_keys)
        end
        local decide = family_count > 0 and decide_run_of_families or decide_run
        failed = decide(budgets_of(ARGV[r]), first, first + count - 1)
        if failed then break end
    end
    first = first + count
end

-- What has changed ---------------------------------------------------------------------------------------------------

-- Numbers as texts: what the store makes of Lua's costs three times as much.
local function add_counts(to, counts, before, suffix)
    local n = #to
    for id = 1, #before do
        if counts[id] ~= before[id] then
            to[n + 1], to[n + 2] = ids[id] .. suffix, format('%d', counts[id])
            n = n + 2
        end
    end
end

-- What was taken, 8 bytes a series.
local function taken_bytes()
    if members - members_then == series_count then return ARGV[20] end
    local pieces, from = {}, nil
    for i = 1, series_count + 1 do
        if TOOK[outcomes[i]] then
            from = from or i
        elseif from then
            pieces[#pieces + 1] = sub(ARGV[20], 8 * from - 7, 8 * (i - 1))
            from = nil
        end
    end
    return table.concat(pieces)
end

-- Of the families that have begun, 8 bytes each.
local function begun_bytes()
    local pieces, bytes = {}, ARGV[#ARGV - 1]
    for i = 1, #begun do pieces[i] = sub(bytes, 8 * begun[i] - 7, 8 * begun[i]) end
    return table.concat(pieces)
end

-- When all else is filed: one that fails is missing in the feed, which its readers notice.
local function feed(counts, day_counts)
    local entry = {format('0-%d', members), 'g', ARGV[19], 's', taken_bytes(), 'h', counts, 'd', day_counts}
    if #begun > 0 then entry[10], entry[11] = 'f', begun_bytes() end
    local added = try('XADD', FEED, 'NOMKSTREAM', 'MAXLEN', '~', FEED_ENTRIES, unpack(entry))
    if added == false then
        try('XADD', FEED, unpack(entry))
        try('EXPIREAT', FEED, hour_ends + FEED_KEPT)
    end
end

if members ~= members_then then
    local hour_fields, day_fields = {'members', members}, {'members', members_day}
    if took_shared then hour_fields[3], hour_fields[4] = 'shared', 1 end
    local before_counts = #hour_fields
    add_counts(hour_fields, in_hour, in_hour_then, '')
    local counts = table.concat(hour_fields, ' ', before_counts + 1)
    add_counts(hour_fields, returned, returned_then, 'r')
    add_counts(day_fields, in_day, in_day_then, '')
    local day_counts = table.concat(day_fields, ' ', 3)
    local opened_fields = with_day and day_fields or hour_fields
    for i = 1, shelf_count do
        local n, opened = #opened_fields, shelves[i].opened
        if opened.grew then opened_fields[n + 1], opened_fields[n + 2] = shelves[i].field, opened.count end
    end
    call('HSET', HOUR, unpack(hour_fields))
    if owed then
        call('HSET', HOUR, 'owed', 1)
        call('HSET', HEAD, 'owed_day', day)
    end
    if with_day then
        call('HSET', DAY, unpack(day_fields))
        call('HSET', HEAD, 'members', members, 'day_members', members_day)
    else
        call('HSET', HEAD, 'members', members)
    end
    if not failed then feed(counts, day_counts) end
end
if failed then return failed end

local figures = {}
for b = 1, budget_count do
    resolve_once_more(b)
    local at, id, kept = 4 * (b - 1), asked_as[b], awaited(b)
    figures[at + 1], figures[at + 2] = id == b and 0 or 1, in_hour[id]
    figures[at + 3], figures[at + 4] = in_day[id], kept == huge and -1 or kept
end
local decided = answer(DECIDED)
decided[8], decided[9] = table.concat(outcomes), figures
return decided
