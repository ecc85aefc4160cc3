-- Of claim.lua: which windows are open, and opens those that may be.

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
    -- As in recover.lua. Whom a recovery has waited for in vain may have let pass what no record tells, if days are limited.
    local is_first_held = held_hour == days_first and open <= days_first and (with_day or open_day == day)
    if hour > days_first and (is_first_held or (open == days_first and telling > 0 and kept_day == day)) then
        if is_first_held then kept_day = -1 end
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
