-- Of claim.lua: reads the budgets, kinds and shelves that the claim names.

local series_count, run_count, shelf_count = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local kind_count, budget_count = tonumber(ARGV[13]), tonumber(ARGV[14])
local id_count = budget_count + tonumber(ARGV[15])
local kind_of = ARGV[16]
local has_passed, owed, reserve = ARGV[18] ~= '0', ARGV[18] == '2', tonumber(ARGV[21])
local family_count = tonumber(ARGV[22])
local before_series = 22
local before_ids = before_series + series_count
local before_runs = before_ids + id_count
local before_kinds = before_runs + run_count
local before_shelves = before_kinds + 3 * kind_count

local ids = {unpack(ARGV, before_ids + 1, before_runs)}  -- of budgets, and of overflow budgets behind them

-- What has not passed yet leaves sixteen shares of a maximum alone. What has passed has its place: among the incumbents
-- of the hour before, which are no more than claims could take, or in a share.
local SHARES, WHOLE = 16, 160000
local function left_by_shares(maximum)
    return maximum - SHARES * (floor(maximum / WHOLE) * reserve + floor(maximum % WHOLE * reserve / WHOLE))
end
local function claimed_max(maximum)
    if has_passed or reserve == 0 then return maximum end
    return left_by_shares(maximum)
end

local shelves, opened_of, place_fields = {}, {}, {}
for i = 1, shelf_count do
    local at = before_shelves + 5 * (i - 1)
    local field = 'p' .. ARGV[at + 1]
    opened_of[field] = opened_of[field] or {count = 0}
    place_fields[i] = field
    shelves[i] = {field = field, opened = opened_of[field], places = tonumber(ARGV[at + 2]),
                  overflow = budget_count + tonumber(ARGV[at + 3]),
                  hourly = claimed_max(tonumber(ARGV[at + 4])), daily = claimed_max(tonumber(ARGV[at + 5]))}
end
local kinds = {}
for i = 1, kind_count do
    local at = before_kinds + 3 * (i - 1)
    kinds[i] = {hourly = claimed_max(tonumber(ARGV[at + 1])), daily = claimed_max(tonumber(ARGV[at + 2])),
                shelf = shelves[tonumber(ARGV[at + 3])]}
end

-- By place. Whether they have begun is asked when one of their series is looked at that is not known.
local families, family_of, completed_hour, completed_day = {}, nil, nil, nil
local margin, completed_max
if family_count > 0 then
    local before_families = #ARGV - 3 - family_count
    local keys_end = #KEYS - (with_day and 2 or 1)
    local before_family_keys = keys_end - (with_day and 2 or 1) * family_count
    completed_hour, completed_day = KEYS[keys_end + 1], KEYS[keys_end + 2]
    family_of = ARGV[#ARGV - 2]
    margin, completed_max = tonumber(ARGV[before_families - 1]), tonumber(ARGV[before_families])
    for i = 1, family_count do
        families[i] = {fingerprint = ARGV[before_families + i], hour_key = KEYS[before_family_keys + i],
                       day_key = with_day and KEYS[before_family_keys + family_count + i]}
    end
end
