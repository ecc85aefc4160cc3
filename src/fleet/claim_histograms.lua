-- Of claim.lua: completes histograms that have begun in a window.

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
    return family[key] < completed_max
end

-- Whether a budget without room may hold one series more.
local function has_margin(maximum, count, kept)
    local over = floor(maximum / 10000) * margin + floor(maximum % 10000 * margin / 10000)
    return count + kept < maximum + (over > completed_max and over or completed_max)
end

-- What has been completed in a window: filed once for all series of the claim.
local in_the_hour = {key = completed_hour, record = HOUR, ends = hour_ends, over = over_hour, grown = {}, families = {}}
local in_the_day = {key = completed_day, record = DAY, ends = day_ends, over = over_day, grown = {}, families = {}}

local function complete(family, window, without)
    if not window.families[family.fingerprint] then window.families[#window.families + 1] = family end
    window.families[family.fingerprint] = true
    family[window.key] = family[window.key] + 1
    if not in_grace or (window == in_the_day and not first_hour) then return end
    for i = 1, #without do
        local id = without[i]
        window.over[id] = (window.over[id] or 0) + 1
        window.grown[id] = true
    end
end

local function file_completed(window)
    if #window.families == 0 then return end
    local counts, over = {}, {}
    for i = 1, #window.families do
        local family = window.families[i]
        counts[2 * i - 1], counts[2 * i] = family.fingerprint, family[window.key]
    end
    call('HSET', window.key, unpack(counts))
    call('EXPIREAT', window.key, window.ends + KEPT + KEPT_SPREAD)
    for id in pairs(window.grown) do over[#over + 1], over[#over + 2] = ids[id] .. 'o', window.over[id] end
    if #over > 0 then call('HSET', window.record, 'over', 1, unpack(over)) end
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
        local id, kept = asked_as[b], incumbent and 0 or awaited(b)
        if in_its_hour then
            without_hour[#without_hour + 1] = id
            if not has_margin(hourly[b], in_hour[id], kept) or not completes(family, family.in_hour, completed_hour) then
                outcomes[i] = 'h' .. char(b - 1)
                return
            end
        end
        if in_its_day then
            without_day[#without_day + 1] = id
            if day_is_full or not has_margin(daily[b], in_day[id], first_hour and kept or 0) or
               not completes(family, family.in_day, completed_day) then
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
    if #without_hour > 0 then complete(family, in_the_hour, without_hour) end
    if #without_day > 0 then complete(family, in_the_day, without_day) end
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
