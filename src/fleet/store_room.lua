-- What the call says of its budgets, what the records say of them, and which room they have.

local series_count, run_count, kind_count = tonumber(ARGV[16]), tonumber(ARGV[17]), tonumber(ARGV[18])
local budget_count = tonumber(ARGV[19])
local id_count = budget_count + tonumber(ARGV[20])
local before_series = 22
local before_ids = before_series + series_count
local before_runs = before_ids + id_count
local ids = {unpack(ARGV, before_ids + 1, before_runs)}  -- of budgets, and of overflow budgets behind them
local completes = false  -- any run
for r = before_runs + 1, before_runs + run_count do completes = completes or byte(ARGV[r], 2) >= 8 end

local function maxima_at(at)
    return {hour = tonumber(ARGV[at]), day = tonumber(ARGV[at + 1]), completed_hour = tonumber(ARGV[at + 2]),
            completed_day = tonumber(ARGV[at + 3])}
end

-- Kinds of budgets, and the sets of groups that they name. `there` is how many groups a set has.
local kinds, sets, set_of = {}, {}, {}
local at = before_runs + run_count + 1
for i = 1, kind_count do
    local kind = {limit = sub(limits, 8 * ARGV[at] - 7, 8 * ARGV[at]), own = maxima_at(at + 1), complete = true}
    local name = ARGV[at + 5]
    at = at + 6
    if name ~= '0' then
        if not set_of[name] then
            set_of[name] = {name = name}
            sets[#sets + 1] = set_of[name]
        end
        kind.set, kind.groups_max = set_of[name], tonumber(ARGV[at])
        kind.overflow, kind.shared = budget_count + tonumber(ARGV[at + 1]), maxima_at(at + 2)
        at = at + 6
    end
    kinds[i] = kind
end

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
    for i = 1, kind_count do kinds[i].complete = has_limit(before_limits, kinds[i].limit) end
end
for i = 1, #sets do sets[i].place = i end

-- By place of the budget: as which id it is counted, with which maxima, in which set of groups if it is one of its own, and
-- whether all that is settled.
local kind_of, asked_as, maxima, own_set, is_settled = {}, {}, {}, {}, {}
for b = 1, budget_count do
    local kind = kinds[byte(ARGV[21], b)]
    kind_of[b], asked_as[b], maxima[b], own_set[b], is_settled[b] = kind, b, kind.own, false, not kind.set
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
-- the group may have been counted in the overflow budget.
local function kept_places(b)
    local kind, id = kind_of[b], asked_as[b]
    if not kind.complete or (own_set[b] and in_before[b] == 0 and in_before[kind.overflow] > 0) then return huge end
    return max(0, in_before[id] - returned[id])
end

-- Whether a budget has no room for a series, in the hour and in the day. Series of the hour before have their places,
-- but where they were more than the maximum: then they take what room there is, and nothing is kept from them.
local function is_full(b, incumbent, day_known)
    local id, most, places = asked_as[b], maxima[b], 0
    local in_its_hour, in_its_day = most.hour > 0, with_day and most.day > 0 and not day_known
    if incumbent then
        in_its_hour = in_its_hour and in_before[id] > most.hour
        in_its_day = in_its_day and is_first_hour and in_before[id] > most.day
    else
        if refilling and (in_its_hour or in_its_day) then return in_its_hour, in_its_day end
        places = kept and kept_places(b) or 0
    end
    return in_its_hour and in_hour[id] + places >= most.hour,
           in_its_day and in_day[id] + (is_first_hour and places or 0) >= most.day
end

-- How many series find room, whatever they are.
local function room(run)
    local least = huge
    for i = 1, #run do
        local b = run[i]
        local id, most, places = asked_as[b], maxima[b], kept and kept_places(b) or 0
        local hourly, daily = most.hour, most.day
        if hourly > 0 and hourly - in_hour[id] - places < least then least = hourly - in_hour[id] - places end
        if not is_first_hour then places = 0 end
        if with_day and daily > 0 and daily - in_day[id] - places < least then least = daily - in_day[id] - places end
    end
    return (refilling and least < huge) and 0 or least
end
