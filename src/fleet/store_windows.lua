-- Claims and passes: series that a gate does not know, or that have passed it already, are counted in the open windows.
-- The script goes on in the parts that cmake/store_scripts.cmake lists; each part has the locals of those before it.
--
-- KEYS  from 7 on the buckets, one a series each: of the hour, of the day if it is counted, of the hour before, each as
--       far as the gate knows their number.
-- ARGV  1 kind of call: claim (admitted if there is room), pass (has passed already), refill (the same after a loss);
--       2 the gate's name, 3 the number of its run, 4 its clock in s, 5 epoch, 6 hour, 7 generation, 8 to 10 numbers of
--       buckets (hour, day, before), 11 and 12 series that hour and day are made for, 13 the limits that the gate counts
--       and who shares their overflow budgets, 8 bytes each; 14 whether it counts the day, 15 whether a run enters the
--       hour before (1, 0); 16 to 18 numbers of series, runs and budgets; 19 all fingerprints, 8 bytes each; then of each
--         series   fingerprint
--         budget   id
--         budget   numbers: the place of its limit in 13, from 1; maxima (hour, day; 0: not limited, or observed);
--                  completions at most (hour, day); beside an overflow budget: the place in 13 of who shares that, its
--                  id; of a set of groups: the set, groups at most, the overflow budget's maxima and completions
--         run      bytes: series - 1; windows to enter (1 hour, 2 day, 4 before; 0: only look) and 8 if its series
--                  complete histograms that this gate has begun; places of its budgets from 0
-- Answer  status, clock (s, us), open hour, generation, buckets (hour, day, before), whether places are kept (1, 0); if
--         decided also two bytes a series: k known, t taken, c taken as a completion, w new series have to wait for a
--         refill, u unknown, h or d refused by the hour or the day, with the budget's place; and four numbers a budget:
--         whether its overflow budget was asked, series in hour and day, kept places (-1: all room is kept).
--
-- Fields of a record: limits, those of word 13 that all gates have named in the whole window; ID series of a budget; IDr
-- those of them that were in the hour before; IDc completions without room; gSET groups with series; nSET those of them
-- without series in the hour before. IDs and fingerprints stay strings: numbers of Lua lose bits above 2^53.

local DECIDED, CLOSED, MOVED, OTHER_EPOCH = 0, 1, 2, 3
local OPENED_EARLY = 5               -- seconds before its begin that an hour may be opened
local KEPT, KEPT_SPREAD = 7200, 600  -- seconds that keys outlive their window; by bucket, so that they do not go at once
local BUCKET_MEMBERS = 256           -- on average, when a window is full: beyond 512 a set is no intset any more
local BUCKETS_MAX = 1048576
local ROOM_UNKNOWN, ROOM_MAX = 1048576, 16777216  -- series

-- Being longer than 64 bytes it keeps a record from the form that small hashes have, in which each field is searched for.
local ABOUT = 'ID: series of a budget, IDr: those that were in the hour before, gSET: groups with series'

local call_kind, hour, limits = ARGV[1], tonumber(ARGV[6]), ARGV[13]
local with_day, enters_before = ARGV[14] == '1', ARGV[15] == '1'
local refills = call_kind == 'refill'
local day, hour_start = floor(hour / 24), hour * HOUR_SECONDS
local is_first_hour = hour % 24 == 0

local function answer(status) return {status, windows()} end

if head[1] ~= server or not epoch or epoch ~= ARGV[5] then return answer(OTHER_EPOCH) end
if tonumber(ARGV[7]) ~= generation then return answer(MOVED) end  -- its keys are not the windows'

-- A power of two for a window that may get a quarter more series than the last one, or as many as its limits admit.
local function buckets_for(last, room)
    local series = max(tonumber(last or 0) * 1.25, room == 0 and ROOM_UNKNOWN or min(room, ROOM_MAX))
    local n = 1
    while n < BUCKETS_MAX and n * BUCKET_MEMBERS < series do n = n * 2 end
    return n
end

-- A record expires before its buckets: so a record that is there proves that they are.
local function expire(key, ends, more) call('EXPIRE', key, max(ends - now, HOUR_SECONDS) + KEPT + more) end

local function create_record(key, ends)
    call('HSET', key, 'limits', limits, 'about', ABOUT)
    expire(key, ends, 0)
end

local hour_ends, day_ends = hour_start + HOUR_SECONDS, (day + 1) * DAY_SECONDS
if hour > open then
    local at = clock(ARGV[2], tonumber(ARGV[4]))
    if at >= hour_start - OPENED_EARLY and at < hour_ends then
        before_buckets = open == hour - 1 and buckets or 0
        open, buckets = hour, buckets_for(head[7], tonumber(ARGV[11]))
        head[7] = 0
        call('HSET', HEAD, 'hour', hour, 'buckets', buckets, 'members', 0, 'before_buckets', before_buckets)
        create_record(HOUR, hour_ends)
    end
end
if hour ~= open then return answer(CLOSED) end
if with_day and open_day ~= day then
    open_day, day_buckets = day, buckets_for(head[11], tonumber(ARGV[12]))
    head[11] = 0
    call('HSET', HEAD, 'day', day, 'day_buckets', day_buckets, 'day_members', 0)
    create_record(DAY, day_ends)
end
if refills and enters_before and before_buckets == 0 then
    before_buckets = buckets
    call('HSET', HEAD, 'before_buckets', before_buckets)
    create_record(BEFORE, hour_start)
end
local has_before = before_buckets > 0
local kept = has_before and lapsed ~= hour  -- places of the hour before
enters_before = enters_before and has_before
if tonumber(ARGV[8]) ~= buckets or (with_day and tonumber(ARGV[9]) ~= day_buckets) or
   ((kept or enters_before) and tonumber(ARGV[10]) ~= before_buckets) then
    return answer(MOVED)
end
