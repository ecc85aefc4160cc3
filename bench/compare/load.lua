-- What wrk sends: the requests that bodies.py has prepared, in turn. `wrk ... URL -- FOLDER RUN [RATE]`
-- FOLDER: of the requests. RUN: four letters that make the new series of this load its own. RATE: requests a second,
-- as many as wrk can without it. Prints its figures as one line of JSON.

local threads = {}

function setup(thread)
    thread:set("thread_number", #threads)
    table.insert(threads, thread)
end

-- Milliseconds of a clock that nobody sets; os.clock() is CPU time and os.time() whole seconds.
local ffi = require("ffi")
ffi.cdef("struct moment { long seconds; long nanoseconds; }; int clock_gettime(int, struct moment *);")
local moment = ffi.new("struct moment")
local function now()
    ffi.C.clock_gettime(1, moment)
    return tonumber(moment.seconds) * 1000 + tonumber(moment.nanoseconds) / 1e6
end

-- The request around one body, cut where each request writes an identity of its own: text, identity, text, ...
local function pieces_of(body, positions, width, headers)
    local whole = wrk.format("POST", "/api/v1/write", headers, body)
    local head = #whole - #body
    local pieces, at = {}, 1
    for _, position in ipairs(positions) do
        table.insert(pieces, whole:sub(at, head + position))
        table.insert(pieces, "")
        at = head + position + width + 1
    end
    table.insert(pieces, whole:sub(at))
    return pieces
end

local requests, run = {}, ""
latest = 0 -- milliseconds that a slot has waited for a free connection, at most; global, to be got by done()

function init(args)
    local folder, rate = args[1], tonumber(args[3])
    run = args[2]
    local prepared = dofile(folder .. "/requests.lua")
    for _, each in ipairs(prepared.bodies) do
        local file = assert(io.open(folder .. "/" .. each.file, "rb"))
        table.insert(requests, pieces_of(file:read("*a"), each.positions, prepared.width, prepared.headers))
        file:close()
    end
    if rate then
        -- One schedule for all connections: whichever is free takes the next slot, so a slow answer delays nobody.
        local period, slot = 1000 / rate, now()
        function delay()
            slot = slot + period
            local ahead = slot - now()
            latest = math.max(latest, -ahead)
            return math.max(0, math.floor(ahead))
        end
    end
end

local sent = 0

function request()
    sent = sent + 1
    local pieces = requests[sent % #requests + 1]
    for at = 2, #pieces, 2 do
        pieces[at] = string.format("%s%02x%08x%02x", run, thread_number, sent, at / 2)
    end
    return #pieces == 1 and pieces[1] or table.concat(pieces)
end

function done(summary, latency)
    local errors, late = summary.errors, 0
    for _, thread in ipairs(threads) do
        late = math.max(late, thread:get("latest") or 0)
    end
    io.write(string.format(
        '{"requests": %d, "seconds": %f, "errors": %d, "p50_us": %d, "p99_us": %d, "p999_us": %d, "max_us": %d, "late_us": %d}\n',
        summary.requests, summary.duration / 1e6,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max, late * 1000))
end
