-- A gate's heartbeat, and what it reads of the feed.
--
-- ARGV  1 heartbeat, 2 the gate's name, 3 what its fingerprints depend on, 4 its clock in s, 5 its version, 6 epoch and
--       7 hour that it knows, or nothing and -1; 8 whether it says told for that hour: all that passed is told, and from
--       now on incumbents are claimed (1, 0; 2: and it has heard that places have lapsed); 9 its progress with the
--       refill, a number, or d for done; 10 the grace in s, 11 whether it leaves (1, 0), 12 generation; then each gate
--       that it has heard of, and that gate's last hour.
--   or  1 feed, 2 epoch, 3 the last series that it has read, 4 entries at most.
-- The last word is the run_id of the server that the connection leads to.
-- Answer  0 heard, 1 the epoch is another one (only feed), 2 others have other fingerprints; clock (s, us), open hour,
--         generation, buckets (hour, day, before), whether places are kept (1, 0); epoch, whether new series wait for a
--         refill (1, 0), series in the feed, and what the clock of the fleet is ahead of the store's, in s.
--         Then of a heartbeat each gate's name, hour, version and silence in s; of the feed the entries as XRANGE has them.

local HEARD, OTHER_EPOCH, FOREIGN = 0, 1, 2
local LEFT = -2  -- in place of the hour for which a gate has said "told"
local REFILL_MIN, REFILL_MAX, REFILL_STALLED, REFILL_BEAT, SILENT_MAX = 2, 600, 5, 2, 7200  -- seconds
local ahead = 0
local function answer(status)
    local made = {status, windows()}
    made[10], made[11], made[12], made[13] = epoch or '', refilling and 1 or 0, fed, ahead
    return made
end

if ARGV[1] == 'feed' then
    if head[1] ~= server or not epoch or epoch ~= ARGV[2] then return answer(OTHER_EPOCH) end
    local made, read = answer(HEARD), tonumber(ARGV[3])
    made[14] = fed == read and {} or call('XRANGE', FEED, format('0-%d', read + 1), '+', 'COUNT', ARGV[4])
    return made
end

local gate, gates_clock, version = ARGV[2], tonumber(ARGV[4]), ARGV[5]
local known_epoch, known_hour, says_told, progress = ARGV[6], tonumber(ARGV[7]), ARGV[8] ~= '0', ARGV[9]
local theirs = call('HGET', HEAD, 'fingerprints')
if theirs and theirs ~= ARGV[3] then return answer(FOREIGN) end

local gates, fields = {}, call('HGETALL', GATES)
for i = 1, #fields, 2 do
    local its_clock, its_hour, told, its_progress, since, its_version =
        string.match(fields[i + 1], '^(%d+) (%-?%d+) (%-?%d+) (%S+) (%d+) (.*)$')
    gates[fields[i]] = {clock = its_clock, hour = tonumber(its_hour), told = tonumber(told), progress = its_progress,
                        since = tonumber(since), version = its_version}
end
local function file(name)
    local its = gates[name]
    call('HSET', GATES, name, format('%s %d %d %s %d %s', its.clock, its.hour, its.told, its.progress, its.since, its.version))
end

-- Another server, or no epoch: data may be lost. So it is if the open window is later than any clock can be, or if its
-- records have expired before their time, for then the store's clock has leapt. After its hour they expire as they should.
local at = clock(gate, gates_clock)
ahead = at - now
local function is_missing(record, is_there) return is_there and call('EXISTS', record) == 0 end
local is_running = at < (open + 1) * HOUR_SECONDS + HEARD_OF
local names_windows = is_running and known_hour == open and tonumber(ARGV[12]) == generation
local is_wrong = open >= 0 and (open * HOUR_SECONDS > at + HEARD_OF or
                 (names_windows and (is_missing(HOUR, true) or is_missing(BEFORE, before_buckets > 0) or
                                     is_missing(DAY, open_day == floor(open / 24)))))
if is_wrong then drop_windows() end
local hour = max(open, floor(at / HOUR_SECONDS))  -- of this sign of life, though nothing may have been counted in it
if head[1] ~= server or not epoch or is_wrong then
    epoch, refilling = format('%d.%06d', now, tonumber(time[2])), now
    call('HSET', HEAD, 'server', server, 'epoch', epoch, 'refilling', now, 'beat', now, 'fingerprints', ARGV[3])
    for name, its in pairs(gates) do
        its.progress, its.since, its.hour = its.told == LEFT and 'd' or '-', now, min(its.hour, hour)
        file(name)
    end
end

-- While gates refill, they give a sign of life each second. A clock that goes further, or back, has leapt, and that is
-- no time of the refill. Nor is it while no gate takes part, because none believes the store's clock.
local takes_part = known_epoch == epoch
if refilling and takes_part then
    local passed = now - tonumber(call('HGET', HEAD, 'beat') or now)
    local skipped = passed < 0 and passed or max(0, passed - REFILL_BEAT)
    refilling = tonumber(refilling) + skipped
    call('HSET', HEAD, 'refilling', refilling, 'beat', now)
    for name, its in pairs(gates) do
        its.since = its.since + skipped
        if skipped ~= 0 then file(name) end
    end
end

-- Gates that others have heard of hold places and are waited for, as if the store had heard of them itself.
for i = 13, #ARGV - 2, 2 do
    if refilling and not gates[ARGV[i]] then
        gates[ARGV[i]] = {clock = '0', hour = tonumber(ARGV[i + 1]), told = -1, progress = '-', since = now, version = ''}
        file(ARGV[i])
    end
end

-- Who has left is remembered: while gates refill, others may still name it. A gate that leaves and does not know of a
-- loss yet has to tell first.
if ARGV[11] == '1' and known_epoch == epoch then
    gates[gate] = {clock = '0', hour = hour, told = LEFT, progress = 'd', since = now, version = version}
else
    local its = gates[gate] or {progress = '-', since = now}
    local said = known_epoch == epoch and progress or '-'
    if said ~= its.progress then its.progress, its.since = said, now end
    its.clock, its.hour, its.version = ARGV[4], hour, version
    its.told = says_told and known_hour == open and open or -1
    gates[gate] = its
end
file(gate)

local is_refilled, all_told = true, true
for name, its in pairs(gates) do
    if its.hour < hour - 1 then
        call('HDEL', GATES, name)
        gates[name] = nil
    else
        if its.progress ~= 'd' and now - its.since < REFILL_STALLED then is_refilled = false end
        if its.told ~= open and its.told ~= LEFT then all_told = false end
    end
end
if refilling and takes_part then
    local waited = now - refilling
    if waited >= REFILL_MAX or (waited >= REFILL_MIN and is_refilled) then
        refilling = false
        call('HDEL', HEAD, 'refilling', 'beat')
    end
end
-- Places lapse when the grace is over and no gate accepts incumbents unasked any more. Those of an hour that is over
-- stay: who was heard of in it may be forgotten. What had lapsed before a loss has lapsed, whoever has vanished since.
-- Who comes from another store means the places there.
local may_lapse = takes_part and ARGV[8] == '2' and known_hour == open
if not refilling and all_told and hour == open then may_lapse = true end
if may_lapse and lapsed ~= open and at >= open * HOUR_SECONDS + tonumber(ARGV[10]) then
    lapsed = open
    call('HSET', HEAD, 'lapsed', open)
end
call('EXPIRE', HEAD, HEAD_KEPT)
call('EXPIRE', GATES, HEAD_KEPT)

local made = answer(HEARD)
for name, its in pairs(gates) do
    local n = #made
    if its.told ~= LEFT then
        made[n + 1], made[n + 2], made[n + 3] = name, its.hour, its.version
        made[n + 4] = max(0, min(SILENT_MAX, now - tonumber(its.clock)))
    end
end
return made
