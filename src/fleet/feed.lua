-- Reads what gates have taken in an hour (fleet/feed.hpp): the stream that claim.lua appends to. Changes nothing.
--
-- KEYS  1 the head, 2 the hour's record, 3 the hour's feed.
-- ARGV  1 how many of the hour's series the gate has read, 2 entries at most, 3 the run_id of the server that this
--       connection leads to.
-- Answer  1, series in the hour's sets, entries as XRANGE has them: an entry's number is that of series with its own;
--         since which recovery the counts are whole. Or 0 alone, if the server may have lost some.

local call = redis.call
local HEAD, HOUR, FEED = KEYS[1], KEYS[2], KEYS[3]
local read = tonumber(ARGV[1])

local head = call('HMGET', HEAD, 'server', 'since')
if head[1] ~= ARGV[3] then return {0} end
local members = tonumber(call('HGET', HOUR, 'members') or 0)
if members == read then return {1, members, {}, head[2] or ''} end
return {1, members, call('XRANGE', FEED, string.format('0-%d', read + 1), '+', 'COUNT', ARGV[2]), head[2] or ''}
