-- What the call says of its budgets, what the records say of them, and which room they have.

local series_count, run_count, budget_count = tonumber(ARGV[16]), tonumber(ARGV[17]), tonumber(ARGV[18])
local before_series = 19
local before_ids = before_series + series_count
local before_kinds = before_ids + budget_count
local before_runs = before_kinds + budget_count
local ids = {unpack(ARGV, before_ids + 1, before_kinds)}  -- of budgets, and of overflow budgets behind them
local completes = false  -- any run
for r = before_runs + 1, before_runs + run_count do completes = completes or byte(ARGV[r], 2) >= 8 end

-- Kinds of budgets by their text, and the sets of groups that they name.
local kinds, sets, set_of, overflow_of = {}, {}, {}, {}
local function kind_in(text)
    local words = {}
    for each in string.gmatch(text, '%d+') do words[#words + 1] = each end
    local function maxima_at(at)
        return {hour = tonumber(words[at]), day = tonumber(words[at + 1]), completed_hour = tonumber(words[at + 2]),
                completed_day = tonumber(words[at + 3])}
    end
    local function limit_at(at) return sub(limits, 8 * words[at] - 7, 8 * words[at]) end
    local kind = {limit = limit_at(1), own = maxima_at(2), complete = true, shares_alike = true}
    local overflow, name = words[7], words[8]
    if not overflow then return kind end
    if not overflow_of[overflow] then
        overflow_of[overflow] = #ids + 1
        ids[#ids + 1] = overflow
    end
    kind.sharing, kind.overflow = limit_at(6), overflow_of[overflow]
    if not name then return kind end
    if not set_of[name] then
        set_of[name] = {name = name, place = #sets + 1}
        sets[#sets + 1] = set_of[name]
    end
    kind.set, kind.groups_max, kind.shared = set_of[name], tonumber(words[9]), maxima_at(10)
    return kind
end

for b = 1, budget_count do overflow_of[ids[b]] = b end  -- a call may name an overflow budget itself
local kind_of = {}  -- by place of the budget
for b = 1, budget_count do
    local text = ARGV[before_kinds + b]
    kinds[text] = kinds[text] or kind_in(text)
    kind_of[b] = kinds[text]
end
local id_count = #ids

local function zeros(size)
    local all = {}
    for i = 1, size do all[i] = 0 end
    return all
end

-- Counts of all ids, of the sets of groups by each prefix, and of the ids by each suffix that is not false. Nil if the
-- record has no limits: it has expired, as only a clock that leaps can make it, and its buckets may have gone with it.
local function read_counts(record, prefixes, suffixes)
    local fields, n = {'limits', unpack(ids)}, id_count + 1
    for p = 1, #prefixes do
        for i = 1, #sets do fields[n + i] = prefixes[p] .. sets[i].name end
        n = n + #sets
    end
    for s = 1, #suffixes do
        if suffixes[s] then
            for i = 1, id_count do fields[n + i] = ids[i] .. suffixes[s] end
            n = n + id_count
        end
    end
    local values, from = call('HMGET', record, unpack(fields)), 1
    if not values[1] then return nil end
    local function counts(size)
        local all = {}
        for i = 1, size do
            local value = values[from + i]
            all[i] = value and tonumber(value) or 0
        end
        from = from + size
        return all
    end
    local parts = {counts(id_count)}
    for p = 1, #prefixes do parts[1 + p] = counts(#sets) end
    for s = 1, #suffixes do parts[1 + #prefixes + s] = suffixes[s] and counts(id_count) end
    return values[1], unpack(parts)
end

local function lost()
    drop_windows()
    call('HDEL', HEAD, 'epoch')
    return answer(OTHER_EPOCH)
end

-- By place of the id, and of the set of groups.
local hour_limits, in_hour, groups, new_groups, returned, completed_hour =
    read_counts(HOUR, {'g', 'n'}, {kept and 'r' or false, completes and 'c' or false})
if not hour_limits then return lost() end
local day_limits, in_day, groups_day, completed_day
if with_day then
    day_limits, in_day, groups_day, completed_day = read_counts(DAY, {'g'}, {completes and 'c' or false})
    if not day_limits then return lost() end
else
    in_day, groups_day = zeros(id_count), zeros(#sets)
end
local before_limits, in_before, groups_before = nil, zeros(id_count), zeros(#sets)
if has_before and (kept or enters_before or #sets > 0) then
    before_limits, in_before, groups_before = read_counts(BEFORE, {'g'}, {})
    if not before_limits then return lost() end
end

local function has_limit(all, limit)
    for i = 1, #all, 8 do
        if sub(all, i, i + 7) == limit then return true end
    end
    return false
end

-- Those limits of a record that this gate counts, too.
local function note_limits(record, theirs)
    if theirs == limits then return end
    local both = {}
    for i = 1, #theirs, 8 do
        if has_limit(limits, sub(theirs, i, i + 7)) then both[#both + 1] = sub(theirs, i, i + 7) end
    end
    if 8 * #both < #theirs then call('HSET', record, 'limits', table.concat(both)) end
end

if kept and before_limits ~= limits then
    for _, kind in pairs(kinds) do
        kind.complete = has_limit(before_limits, kind.limit)
        kind.shares_alike = has_limit(before_limits, kind.sharing)
    end
end

-- By place of the budget: as which id it is counted, with which maxima, in which set of groups if it is one of its own, and
-- whether all that is settled.
local asked_as, maxima, own_set, is_settled = {}, {}, {}, {}
for b = 1, budget_count do
    asked_as[b], maxima[b], own_set[b], is_settled[b] = b, kind_of[b].own, false, not kind_of[b].set
end

-- Whether a group has a budget of its own. It stays so once it has a series; until then another group may come first.
local function resolve(b)
    local kind = kind_of[b]
    local set = kind.set.place
    is_settled[b] = in_hour[b] + in_day[b] + in_before[b] > 0
    local there = max(groups_day[set], groups_before[set] + new_groups[set])
    if is_settled[b] or there < kind.groups_max then
        asked_as[b], maxima[b], own_set[b] = b, kind.own, set
    else
        asked_as[b], maxima[b], own_set[b] = kind.overflow, kind.shared, false
    end
end

-- All room is kept if the count of the hour before is not known: the gates have not all counted this limit, or series of
-- the group may have been counted in the overflow budget, because there were too many groups or others shared it.
local function kept_places(b)
    local kind, id = kind_of[b], asked_as[b]
    local is_apart = kind.overflow and id ~= kind.overflow
    local may_have_shared = is_apart and (not kind.shares_alike or (own_set[b] and in_before[b] == 0))
    if not kind.complete or (may_have_shared and in_before[kind.overflow] > 0) then return huge end
    return max(0, in_before[id] - returned[id])
end

-- How many series a budget has room for, in the hour and in the day. Series of the hour before have their places, but
-- where they were more than the maximum: then they take what room there is, and nothing is kept from them.
local function room_of(b, incumbent, day_known)
    local id, most, places = asked_as[b], maxima[b], 0
    local in_its_hour, in_its_day = most.hour > 0, with_day and most.day > 0 and not day_known
    if incumbent then
        in_its_hour = in_its_hour and in_before[id] > most.hour
        in_its_day = in_its_day and is_first_hour and in_before[id] > most.day
    elseif refilling then
        return in_its_hour and 0 or huge, in_its_day and 0 or huge
    elseif kept then
        places = kept_places(b)
    end
    return in_its_hour and most.hour - in_hour[id] - places or huge,
           in_its_day and most.day - in_day[id] - (is_first_hour and places or 0) or huge
end

-- How many series find room, whatever they are.
local function room(run)
    local least = huge
    for i = 1, #run do least = min(least, room_of(run[i], false, false)) end
    return least
end
