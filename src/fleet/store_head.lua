-- The first part of both scripts of a fleet's store: constants and the head.
-- PROTOCOL.md explains the protocol, tests/fleet/shared_store_model.hpp specifies it.
--
-- KEYS  1 the head, 2 the gates, 3 the feed, 4 the record of the hour, 5 of the hour before, 6 of the day.
--
-- Fields of the head: server, the run_id of the server that the data belongs to; epoch, which names the data since the
-- last loss; refilling, when that loss was noticed, until gates have refilled the windows; beat, the last heartbeat until
-- then; generation, a part of the windows' names; hour, buckets and members of the open hour; before_buckets of the hour
-- before, 0 if there is none; day, day_buckets, day_members; lapsed, the last hour whose kept places have lapsed; fed,
-- series in the feed; fingerprints, what the fingerprints of this namespace depend on.
--
-- A gate's field: its clock, the hour of its last heartbeat, the last hour for which it has said "told" (-2:
-- it has left), its progress with the refill (d: done), when that changed by the store's clock, and
-- its version.

local call, try = redis.call, redis.pcall
local tonumber, unpack = tonumber, unpack
local KEYS, ARGV = KEYS, ARGV
local byte, char, format, sub = string.byte, string.char, string.format, string.sub
local abs, floor, huge, max, min = math.abs, math.floor, math.huge, math.max, math.min

local HOUR_SECONDS, DAY_SECONDS = 3600, 86400
local AGREED, HEARD_OF = 120, 300  -- seconds: two clocks agree; a gate's clock counts
local HEAD_KEPT = 172800           -- how long a namespace without gates is remembered

local HEAD, GATES, FEED, HOUR, BEFORE, DAY = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local server = ARGV[#ARGV]  -- the run_id of the server that the gate's connection leads to

local time = redis.call('TIME')
local now = tonumber(time[1])

local head = call('HMGET', HEAD, 'server', 'epoch', 'refilling', 'generation', 'hour', 'buckets', 'members',
                  'before_buckets', 'day', 'day_buckets', 'day_members', 'lapsed', 'fed')
local epoch, refilling, generation = head[2], head[3], tonumber(head[4] or 0)
local open, buckets, before_buckets = tonumber(head[5] or -1), tonumber(head[6] or 0), tonumber(head[8] or 0)
local open_day, day_buckets = tonumber(head[9] or -1), tonumber(head[10] or 0)
local lapsed, fed = tonumber(head[12] or -1), tonumber(head[13] or 0)

-- What a gate has to know to name the keys of the windows, and whether places are kept.
local function windows()
    local has_day = open_day == floor(open / 24)
    local is_kept = before_buckets > 0 and lapsed ~= open
    return now, tonumber(time[2]), open, generation, buckets, has_day and day_buckets or 0, before_buckets, is_kept and 1 or 0
end

-- Begins without windows, whose keys have other names from now on. The gates refill them.
local function drop_windows()
    generation = max(generation + 1, now)
    open, buckets, before_buckets, open_day, day_buckets, lapsed = -1, 0, 0, -1, 0, -1
    call('HSET', HEAD, 'generation', generation, 'hour', -1, 'buckets', 0, 'members', 0, 'before_buckets', 0, 'day', -1,
         'day_buckets', 0, 'day_members', 0, 'lapsed', -1)
end
