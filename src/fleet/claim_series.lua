-- Of claim.lua: decides the series of one run, and counts them.

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
