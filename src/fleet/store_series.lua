-- Decides the runs, files what has changed, and answers.

local KNOWN, TAKEN, WAITS, UNKNOWN = 'k\0', 't\0', 'w\0', 'u\0'
local knows_before_buckets = has_before and tonumber(ARGV[10]) == before_buckets
local hour_keys = 6
local day_keys = hour_keys + series_count
local before_keys = with_day and day_keys + series_count or day_keys
local outcomes = {}
local FEED_ENTRIES = 12000  -- at least: 20 MB, or 170 if each names as many budgets as it may

-- Buckets that are there have their expiry. One call asks for all of a call's whether any may be new.
local function may_be_new(first_key)
    return call('EXISTS', unpack(KEYS, first_key + 1, first_key + series_count)) < series_count
end

local function expire_bucket(key, ends) expire(key, ends, 1 + tonumber(string.match(key, '%d+$')) % KEPT_SPREAD) end

-- What the run has taken since it was last settled: its budgets are counted once for many series.
local to_hour, to_day, to_before = false, false, false  -- windows of the run
local taken, taken_day, taken_before, came_back, took = 0, 0, 0, 0, 0
local members, members_day = tonumber(head[7] or 0), tonumber(head[11] or 0)
local touched, place_of = {}, {}  -- ids that have grown, in order, and their places from 0

local function note_group(set, id)
    if taken > 0 and in_hour[id] == 0 then
        groups[set] = groups[set] + 1
        if in_before[id] == 0 then new_groups[set] = new_groups[set] + 1 end
    end
    if taken_day > 0 and in_day[id] == 0 then groups_day[set] = groups_day[set] + 1 end
    if taken_before > 0 and in_before[id] == 0 then
        groups_before[set] = groups_before[set] + 1
        if in_hour[id] + taken > 0 then new_groups[set] = new_groups[set] - 1 end
    end
end

local function settle(run)
    if taken + taken_day + taken_before + came_back == 0 then return end
    for i = 1, #run do
        local b = run[i]
        local id, set = asked_as[b], own_set[b]
        if set and (in_hour[id] == 0 or in_day[id] == 0 or taken_before > 0) then note_group(set, id) end
        in_hour[id], in_day[id] = in_hour[id] + taken, in_day[id] + taken_day
        if taken_before > 0 then in_before[id] = in_before[id] + taken_before end
        if came_back > 0 then returned[id] = returned[id] + came_back end
        if not place_of[id] then
            place_of[id] = #touched
            touched[#touched + 1] = id
        end
    end
    members, members_day = members + taken, members_day + taken_day
    taken, taken_day, taken_before, came_back = 0, 0, 0, 0
end

local new_in_hour, new_in_day, new_in_before = false, false, false
if series_count > 0 then
    new_in_hour, new_in_day = may_be_new(hour_keys), with_day and may_be_new(day_keys)
    new_in_before = enters_before and may_be_new(before_keys)
end

-- Enters a series that has room: TAKEN, KNOWN, or the error of a write that failed.
local function take(i)
    local fingerprint = ARGV[before_series + i]
    local new = try('SADD', KEYS[hour_keys + i], fingerprint)
    if new ~= 1 then return new == 0 and KNOWN or new end
    taken = taken + 1
    if new_in_hour then expire_bucket(KEYS[hour_keys + i], hour_ends) end
    if kept and try('SISMEMBER', KEYS[before_keys + i], fingerprint) == 1 then came_back = came_back + 1 end
    if to_day then
        new = try('SADD', KEYS[day_keys + i], fingerprint)
        if new ~= 1 and new ~= 0 then return new end
        taken_day = taken_day + new
        if new == 1 and new_in_day then expire_bucket(KEYS[day_keys + i], day_ends) end
    end
    took = took + 1
    return TAKEN
end

-- Gates tell of series in the order of their buckets: enters those from i to at most `last` that share the buckets of series i,
-- in all windows of the run. Returns the last of them, or nil and the error of a write that failed.
local function enter_bucket(i, last)
    local hour_key, day_key, before_key = KEYS[hour_keys + i], to_day and KEYS[day_keys + i], KEYS[before_keys + i]
    local uses_before, to = kept or to_before, i
    while to < last and KEYS[hour_keys + to + 1] == hour_key and (not to_day or KEYS[day_keys + to + 1] == day_key) and
          (not uses_before or KEYS[before_keys + to + 1] == before_key) do
        to = to + 1
    end
    local function ask(command, key) return try(command, key, unpack(ARGV, before_series + i, before_series + to)) end
    -- Of one series the answer to SADD says whether it was there.
    local function members(key, enters) return not (enters and to == i) and ask('SMISMEMBER', key) end
    local of_hour, of_day = members(hour_key, to_hour), to_day and members(day_key, true)
    local of_before = uses_before and members(before_key, to_before)
    local new, new_day, new_before = to_hour and ask('SADD', hour_key) or 0, to_day and ask('SADD', day_key) or 0,
                                     to_before and ask('SADD', before_key) or 0
    for _, each in ipairs({new, new_day, new_before}) do
        if type(each) == 'table' then return nil, each end
    end
    if new > 0 and new_in_hour then expire_bucket(hour_key, hour_ends) end
    if new_day > 0 and new_in_day then expire_bucket(day_key, day_ends) end
    if new_before > 0 and new_in_before then expire_bucket(before_key, hour_start) end
    taken, taken_day, taken_before = taken + new, taken_day + new_day, taken_before + new_before
    local function was_in(of, added, j) return (of and of[j - i + 1] == 1) or (not of and added == 0) end
    for j = i, to do
        local in_hour, in_before = was_in(of_hour, new, j), uses_before and was_in(of_before, new_before, j)
        local is_new = (to_hour and not in_hour) or (to_before and not in_before) or (to_day and not was_in(of_day, new_day, j))
        outcomes[j] = is_new and TAKEN or KNOWN
        if is_new and not (refills and refilling) then took = took + 1 end
        if kept and (to_hour or in_hour) and (to_before or in_before) and not (in_hour and in_before) then
            came_back = came_back + 1
        end
    end
    return to
end

local function look(i)
    local fingerprint = ARGV[before_series + i]
    local is_known = try('SISMEMBER', KEYS[hour_keys + i], fingerprint) == 1 or
                     (with_day and try('SISMEMBER', KEYS[day_keys + i], fingerprint) == 1) or
                     (knows_before_buckets and try('SISMEMBER', KEYS[before_keys + i], fingerprint) == 1)
    return is_known and KNOWN or UNKNOWN
end

-- The first of the run's budgets without room for a series, as it stands in the answer. A series that completes a
-- histogram needs none where the budget's completions have not reached their bound: these are added to `without`.
local function refusal(run, incumbent, day_known, without)
    for i = 1, #run do
        local b = run[i]
        local id, most = asked_as[b], maxima[b]
        local hourly, daily = room_of(b, incumbent, day_known)
        local by_hour, by_day = hourly <= 0, daily <= 0
        if by_hour or by_day then
            if refilling then return WAITS end
            if by_hour and not (without and completed_hour[id] < most.completed_hour) then return 'h' .. char(b - 1) end
            if by_day and not (without and completed_day[id] < most.completed_day) then return 'd' .. char(b - 1) end
            without[#without + 1] = {id, by_hour, by_day}
        end
    end
end

-- A series for which it matters what it is.
local function decide(run, i, completes_here)
    local fingerprint = ARGV[before_series + i]
    if try('SISMEMBER', KEYS[hour_keys + i], fingerprint) == 1 then return KNOWN end
    local incumbent = kept and try('SISMEMBER', KEYS[before_keys + i], fingerprint) == 1
    local day_known = to_day and try('SISMEMBER', KEYS[day_keys + i], fingerprint) == 1
    local without = completes_here and {} or nil
    local outcome = refusal(run, incumbent, day_known, without) or take(i)
    if outcome ~= TAKEN or not without or #without == 0 then return outcome end
    local hour, day = 0, 0
    for n = 1, #without do
        local id, by_hour, by_day = unpack(without[n])
        if by_hour then hour, completed_hour[id] = 1, completed_hour[id] + 1 end
        if by_day then day, completed_day[id] = 2, completed_day[id] + 1 end
    end
    return 'c' .. char(hour + day)
end

-- New series need room. While there is some for any series, SADD asks and takes in one. Returns the error of a write.
local function claim_run(run, first, last, completes_here)
    local left, no = completes_here and 0 or room(run), nil
    for i = first, last do
        if left <= 0 and taken > 0 then  -- some that were known elsewhere have left their room
            settle(run)
            left, no = completes_here and 0 or room(run), nil
        end
        local outcome
        if left > 0 then
            outcome = take(i)
            if outcome == TAKEN then left = left - 1 end
        else
            if no == nil then  -- the answer to any series that is not known; false: it depends
                no = not completes_here and refusal(run, false, false) or false
                if no and refusal(run, kept, to_day) ~= no then no = false end
            end
            if no and try('SISMEMBER', KEYS[hour_keys + i], ARGV[before_series + i]) == 0 then
                outcome = no
            else
                outcome = decide(run, i, completes_here)
            end
        end
        outcomes[i] = outcome
        if outcome ~= TAKEN and outcome ~= KNOWN and type(outcome) == 'table' then return outcome end
    end
end

local entries = {}  -- of the feed: runs of what was taken
local function decide_run(bytes, first, last)
    local flags, run, took_before, failed = byte(bytes, 2), {byte(bytes, 3, -1)}, took, nil
    to_hour, to_day, to_before = flags % 2 == 1, with_day and flags % 4 >= 2, enters_before and flags % 8 >= 4
    for i = 1, #run do
        local b = run[i] + 1
        run[i] = b
        if not is_settled[b] then resolve(b) end
    end
    if flags == 0 then
        for i = first, last do outcomes[i] = look(i) end
    elseif call_kind == 'claim' then
        failed = claim_run(run, first, last, flags >= 8)
    else
        local i = first
        while i and i <= last do
            i, failed = enter_bucket(i, last)
            i = i and i + 1
        end
    end
    settle(run)
    if took > took_before then entries[#entries + 1] = {run, flags % 8, first, last, took - took_before} end
    return failed
end

note_limits(HOUR, hour_limits)
if with_day then note_limits(DAY, day_limits) end
if enters_before then note_limits(BEFORE, before_limits) end
local first, failed = 1, nil
for r = before_runs + 1, before_runs + run_count do
    local count = byte(ARGV[r]) + 1
    failed = decide_run(ARGV[r], first, first + count - 1)
    if failed then break end
    first = first + count
end

-- Files the counts of the ids that have grown, and of all sets of groups. Numbers as texts: what the store makes of Lua's
-- costs three times as much. Returns ids and counts, in turn.
local function file(record, counts, sets_counted, more)
    local fields, n = {}, 0
    for i = 1, #touched do
        local id = touched[i]
        fields[n + 1], fields[n + 2], n = ids[id], format('%d', counts[id]), n + 2
    end
    local text = table.concat(fields, ' ')
    for prefix, values in pairs(sets_counted) do
        for i = 1, #sets do fields[n + 1], fields[n + 2], n = prefix .. sets[i].name, format('%d', values[i]), n + 2 end
    end
    for suffix, values in pairs(more) do
        for i = 1, values and #touched or 0 do
            fields[n + 1], fields[n + 2], n = ids[touched[i]] .. suffix, format('%d', values[touched[i]]), n + 2
        end
    end
    call('HSET', record, unpack(fields))
    return text
end

-- Fingerprints of what was taken, and runs: series - 1, windows, number of budgets, places among those that have grown.
local function fed_series()
    local pieces, runs = {}, {}
    for e = 1, #entries do
        local run, windows, first, last, count = unpack(entries[e])
        local bytes = {count - 1, windows, #run}
        for i = 1, #run do bytes[3 + i] = place_of[asked_as[run[i]]] end
        runs[e] = char(unpack(bytes))
        for i = first, last do
            if outcomes[i] == TAKEN or sub(outcomes[i], 1, 1) == 'c' then
                pieces[#pieces + 1] = sub(ARGV[19], 8 * i - 7, 8 * i)
            end
        end
    end
    return took == series_count and ARGV[19] or table.concat(pieces), table.concat(runs)
end

if #touched > 0 then
    local hourly = file(HOUR, in_hour, {g = groups, n = new_groups}, {r = kept and returned, c = completes and completed_hour})
    local daily = with_day and file(DAY, in_day, {g = groups_day}, {c = completes and completed_day}) or ''
    local before = enters_before and file(BEFORE, in_before, {g = groups_before}, {}) or ''
    if failed then took = 0 end
    call('HSET', HEAD, 'members', members, 'day_members', members_day, 'fed', fed + took)
    call('EXPIRE', HEAD, HEAD_KEPT)
    if took > 0 then
        local series, runs = fed_series()
        try('XADD', FEED, 'MAXLEN', '~', FEED_ENTRIES, format('0-%d', fed + took), 'g', ARGV[3], 'w', ARGV[6], 's', series,
            'r', runs, 'h', hourly, 'd', daily, 'b', before)
        try('EXPIRE', FEED, HEAD_KEPT)
    end
end
if failed then return failed end

local figures = {}
for b = 1, budget_count do
    if not is_settled[b] then resolve(b) end
    local f, id, places = 4 * (b - 1), asked_as[b], kept and kept_places(b) or 0
    figures[f + 1], figures[f + 2] = id == b and 0 or 1, in_hour[id]
    figures[f + 3], figures[f + 4] = in_day[id], places == huge and -1 or places
end
local decided = answer(DECIDED)
decided[10], decided[11] = table.concat(outcomes), figures
return decided
