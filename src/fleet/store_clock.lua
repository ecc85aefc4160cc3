-- The clock that decides which hour it is.

-- The store's clock, if the gate agrees with it. Else the median of all clocks decides, and the store has a second vote
-- if their number is even. A clock that is near neither the store's nor the gate's is wrong, or stands still.
local function clock(gate, gates_clock)
    if abs(now - gates_clock) <= AGREED then return now end
    local clocks, gates = {now, gates_clock}, call('HGETALL', GATES)
    for i = 1, #gates, 2 do
        local its = tonumber(string.match(gates[i + 1], '^%d+'))
        if gates[i] ~= gate and min(abs(its - now), abs(its - gates_clock)) <= HEARD_OF then clocks[#clocks + 1] = its end
    end
    if #clocks % 2 == 0 then clocks[#clocks + 1] = now end
    table.sort(clocks)
    return clocks[(#clocks + 1) / 2]
end
