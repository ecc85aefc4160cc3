-- Of claim.lua: what the records say of these budgets; what a day's first hour has left untold is counted here.

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
-- not it comes again. Budgets that have nothing in the day leave nothing in its record: there is no end of groups that are
-- refused. Returns false if nobody knows how much that is.
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
        if in_day[i] > 0 then counted[#counted + 1], counted[#counted + 2] = ids[i] .. 'u', 1 end
    end
    if #counted > 0 then call('HSET', DAY, unpack(counted)) end
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
        -- Those that no set has cannot be told from new series: room that is kept for them would be nobody's.
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
