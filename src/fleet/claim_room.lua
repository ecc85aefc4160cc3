-- Of claim.lua: what room a budget has, and for whom.

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
