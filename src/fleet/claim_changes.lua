-- Of claim.lua: decides all runs, files what has changed, and answers.

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

-- Whether incumbents that have passed at once are more than claims can take: some had completed histograms. Then nobody's
-- are let pass at once in the next window. What completes one in this window is allowed for.
local function is_crowded(counts, before, maxima, over)
    for b = 1, budget_count do
        local id = asked_as[b]
        if maxima[b] > 0 and counts[id] ~= before[id] and counts[id] - (over[id] or 0) > left_by_shares(maxima[b]) then
            return true
        end
    end
    return false
end

if members ~= members_then then
    file_completed(in_the_hour)
    file_completed(in_the_day)
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
    local tells = has_passed and not owed and reserve > 0
    if owed or (tells and is_crowded(in_hour, in_hour_then, hourly, over_hour)) then call('HSET', HOUR, 'owed', 1) end
    if owed or (tells and is_crowded(in_day, in_day_then, daily, over_day)) then call('HSET', HEAD, 'owed_day', day) end
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
