-- Decides one claim: series that a gate does not know, all or nothing each, against budgets that a fleet shares.
-- tests/fleet/store_model.hpp says the same without a store; fleet/claim_text.cpp writes the words and reads the answer.
-- The script goes on in the parts that cmake/claim_script.cmake lists: each has the locals of those before it.
--
-- KEYS  1 the head, 2 the hour's record, 3 the record of the hour before, 4 the day's record, 5 the hour's feed, 6 the
--       record of the day's first hour, 7 that of the hour before it, then buckets, one a series each: of the hour if
--       the gate gives their number, of the day if it is asked, of the hour before; at last, if the claim names
--       histograms, a bucket of the hour each, of the day each if it is asked, and what was completed in the hour and,
--       if it is asked, in the day.
-- ARGV  1 hour, 2 rules, 3 grace in s, 4 whether the day is asked (1, 0), 5 room, 6 room of the day, 7 to 9 numbers
--       of buckets (hour, day, before), 10 to 15 numbers of series, runs, shelves, kinds, budgets and overflow budgets,
--       16 the budgets' kinds as bytes, 17 all rules, 18 whether they have passed: 0 they wait for this, 1 they were
--       accepted at once, 2 they were let pass out of a share, 19 a number for this run of the gate, 20 all fingerprints,
--       8 bytes each, 21 the part of each maximum that claims leave to shares (reserve.hpp), in ten-thousandths, 22 the
--       number of histograms that are kept whole; then of each
--         series   fingerprint
--         budget   id, then those of the overflow budgets
--         run      bytes: series - 1, + 128 if they only look; places of its budgets
--         kind     of budgets: maxima (hour, day), place of its shelf or 0
--         shelf    id, budgets at most, place of its overflow budget, maxima of that (hour, day)
--       Places are from 0, those of kinds, shelves and overflow budgets from 1.
--       If there are histograms: the part of each maximum that may be over it to complete them, in ten-thousandths, and series
--       of one of them in one window (limit/rules.hpp, margin_of); the fingerprint of each one's family; a byte a series, the place of its family from 1 or
--       0; the families once more, 8 bytes each. And at last the run_id of the server that this connection leads to.
-- Answer  status, clock (s, us), open hour, buckets (hour, day, before); when decided also
--         two bytes a series: k known, t taken, with the windows in which it had no room and its histogram was completed
--         (1 the hour, 2 the day), u unknown, h or d refused by the hour or the day, with the budget's place;
--         four numbers a budget: whether it shares, series in hour and day, series awaited (-1: all of its room).
--
-- Fields of the head: server, the run_id of the one whose counts are whole, since when, whole_from and held (recover.lua
-- writes these four); all_rules of the last hour, and same_from, the hour from which on there may be shares of them (shares.lua); owed_day, the
-- last one in which something was told of that had been let pass out of a share, or incumbents that had passed at once came to
-- more than claims can take; hour, buckets, members, telling (gates
-- that have yet to tell what they accepted in the hour, see telling.lua), before (if the hour before was open until now),
-- before_buckets, day, day_buckets, day_members, kept_day (in whose first hour gates were listed that count by the day, so that
-- the records of that hour and the one before are kept), uncounted_day (in whose first hour some gate has not told of all: what
-- was awaited when that hour ended is in the day's counts from then on, for it may have passed). Of a record: buckets, rules,
-- mixed (claims by other rules were made),
-- all_rules and all_mixed (the same of rules with their maxima), shared (a series was counted in an overflow budget), owed
-- (one has been told of that was let pass out of a share, or of more incumbents than claims can take), owed_day (the same of
-- its day, in an hour before this one),
-- members; ID series counted, IDr incumbents returned, IDm of those counted the ones that are in no set, for a server has
-- lost them (and missing, if there is any), IDo of those counted the ones that have completed histograms without room in
-- this budget while it kept room for incumbents (and over, if there is any), IDu that what was awaited is in the day's
-- count, IDf that recover.lua has been told of it and not of its shelf, pSHELF budgets opened, uNAME gates that accept incumbents at once. IDs and fingerprints stay strings: numbers of
-- Lua lose bits above 2^53.
--
-- A histogram has begun in a window whose sets have its family's fingerprint, beside those of its series: it is no
-- member, and counted nowhere. Its series are then taken without room, and counted all the same; how many that were is
-- a field of the window's completed hash.
--
-- The feed is a stream of what was taken in the hour, see feed.lua: an entry a claim that has taken something, under the
-- number of series that the hour has by then. Whoever reads it sees by that number whether anything is missing.
--
-- What a write could fail for is asked before the first one. Should one fail nevertheless (a foreign value under one of
-- our keys), what is in a set by then is counted.

local call, try = redis.call, redis.pcall
local tonumber, unpack = tonumber, unpack
local KEYS, ARGV = KEYS, ARGV
local byte, char, format, sub = string.byte, string.char, string.format, string.sub
local floor, huge = math.floor, math.huge

local DECIDED, CLOSED, MOVED, LOST = 0, 1, 2, 3
local HOUR_SECONDS, DAY_SECONDS = 3600, 86400
local OPENED_EARLY = 5           -- seconds before its begin that an hour may be opened
local KEPT, KEPT_SPREAD = 7200, 600  -- seconds that keys outlive their window; by bucket, so that they do not go at once
local HEAD_KEPT = 172800         -- how long a namespace without gates is remembered
local BUCKET_MEMBERS = 256       -- on average, when a window is full: beyond 512 a set is no intset any more
local BUCKETS_MAX = 1048576
local ROOM_UNKNOWN, ROOM_MAX = 1048576, 16777216  -- series
local FEED_ENTRIES = 12000       -- at least: 20 MB, or 170 if each names as many budgets as it may
local FEED_KEPT = 600            -- seconds that a feed outlives its hour: nobody reads it in another

-- Being longer than 64 bytes it keeps a record from the form that small hashes have, in which each field is searched for.
local ABOUT = 'ID: series counted, IDr: incumbents of them that have returned, pID: budgets opened on a shelf'

local HEAD, HOUR, BEFORE, DAY, FEED = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local DAYS_FIRST, BEFORE_DAY = KEYS[6], KEYS[7]
local hour, rules, all_rules, with_day = tonumber(ARGV[1]), ARGV[2], ARGV[17], ARGV[4] == '1'
local hour_start, day = hour * HOUR_SECONDS, floor(hour / 24)
local days_first = day * 24

local time = redis.call('TIME')
local now = tonumber(time[1])
