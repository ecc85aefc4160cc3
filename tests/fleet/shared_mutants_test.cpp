// Stores that do what they must not: the comparison with the model, or a promise, has to notice each of them.

#include "fleet/shared_random_calls.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr int steps = 800;
constexpr std::uint64_t seeds = 6;

std::vector<shared_scene> all_scenes(std::uint64_t seed) {
    return {{.seed = seed},
            {.seed = seed, .completes = true},
            {.seed = seed, .is_steady = false, .observes = true},
            {.seed = seed, .has_losses = true, .has_wrong_clocks = true, .has_refills = true}};
}

/// Whether any scene shows that script and model differ.
bool is_noticed(const script_change& change) {
    const shared_store has_such_a_text{change};
    for (std::uint64_t seed = 100; seed < 100 + seeds; ++seed)
        for (const shared_scene& of : all_scenes(seed)) {
            try {
                run_shared_scene(of, steps, change);
            } catch (const std::exception&) {  // an error of the script, too
                CHECK_NOTHROW(run_shared_scene(of, steps));
                return true;
            }
        }
    return false;
}

struct named_change {
    const char* what;
    script_change change;
};

const std::vector<named_change>& changes() {
    static const std::vector<named_change> all{
        {"places lapse with the grace, whatever gates have said",
         {"if not refilling and all_told and hour == open", "if not refilling and hour == open"}},
        {"places of an hour that is over lapse", {"all_told and hour == open", "all_told and open >= 0"}},
        {"a gate that was heard of in the hour before only is not waited for",
         {"if its.told ~= open and its.told ~= LEFT then", "if its.told ~= open and its.hour == open then"}},
        {"gates stay until something is counted", {"if its.hour < hour - 1 then", "if its.hour < open - 1 then"}},
        {"a sign of life is of the hour that was opened last",
         {"max(open, floor(at / HOUR_SECONDS))", "open >= 0 and open or floor(at / HOUR_SECONDS)"}},
        {"a gate that has left amid a refill is brought back",
         {"told = LEFT, progress = 'd'", "told = -1, progress = 'd'"}},
        {"one that has left is waited for after another loss", {"its.told == LEFT and 'd' or '-'", "'-'"}},
        {"a gate that has not told what was lost may leave",
         {"if ARGV[11] == '1' and known_epoch == epoch then", "if ARGV[11] == '1' then"}},
        {"places lapse while gates refill", {"if not refilling and all_told", "if all_told"}},
        {"places that had lapsed are kept after a loss", {"ARGV[8] == '2' and known_hour == open", "false"}},
        {"places lapse as those of another store have", {"takes_part and ARGV[8] == '2'", "ARGV[8] == '2'"}},
        {"told is kept for another hour",
         {"says_told and known_hour == open and open or -1", "says_told and open or -1"}},
        {"new series do not wait for a refill",
         {"elseif refilling then\n        return in_its_hour and 0 or huge, in_its_day and 0 or huge", ""}},
        {"a leap of the clock ends a refill",
         {"refilling = tonumber(refilling) + skipped", "refilling = tonumber(refilling)"}},
        {"after a leap of the clock gates are not waited for", {"its.since = its.since + skipped", ""}},
        {"a refill ends at once", {"waited >= REFILL_MIN and is_refilled", "true"}},
        {"a refill waits for gates without progress",
         {"its.progress ~= 'd' and now - its.since < REFILL_STALLED", "its.progress ~= 'd'"}},
        {"gates that others have heard of are not waited for", {"for i = 13, #ARGV - 2, 2 do", "for i = 13, 0, 2 do"}},
        {"only the store's clock counts",
         {"if abs(now - gates_clock) <= AGREED then return now end", "if true then return now end"}},
        {"only one gate's clock counts",
         {"if abs(now - gates_clock) <= AGREED then return now end", "if true then return gates_clock end"}},
        {"the caller's clock counts twice", {"if gates[i] ~= gate and min", "if min"}},
        {"a window of the future stays open", {"open * HOUR_SECONDS > at + HEARD_OF", "false"}},
        {"a pass needs room", {"elseif call_kind == 'claim' then", "elseif true then"}},
        {"series of the hour before pass where they were more than the maximum",
         {"in_its_hour and in_before[id] > most.hour", "false"}},
        {"the same in the day", {"in_its_day and is_first_hour and in_before[id] > most.day", "false"}},
        {"more may have returned than there were",
         {"return max(0, in_before[id] - returned[id])", "return in_before[id] - returned[id]"}},
        {"nobody returns", {"came_back = came_back + 1", "came_back = came_back"}},
        {"places are kept for nobody", {"return max(0, in_before[id] - returned[id])", "return 0"}},
        {"the day keeps no places", {"- (is_first_hour and places or 0)", ""}},
        {"the day keeps places in every hour", {"(is_first_hour and places or 0)", "places"}},
        {"a limit that others did not count is complete", {"if not kind.complete or", "if"}},
        {"limits that a gate does not count stay in the record", {"if 8 * #both < #theirs then", "if false then"}},
        {"a group may have been counted in the overflow budget", {"in_before[kind.overflow] > 0", "false"}},
        {"who has an own budget may not have shared before", {"not kind.shares_alike or", ""}},
        {"who always shared alike may have shared", {"not kind.shares_alike or", "true or"}},
        {"who shares makes no difference to a budget that stands alone",
         {"is_apart and (not", "own_set[b] and is_apart and (not"}},
        {"groups of the hour before make no place", {"groups_before[set] + new_groups[set]", "new_groups[set]"}},
        {"groups of the day make no place",
         {"max(groups_day[set], groups_before[set] + new_groups[set])", "groups_before[set] + new_groups[set]"}},
        {"completions have no bound", {"completed_hour[id] < most.completed_hour", "true"}},
        {"completions of the day have no bound", {"completed_day[id] < most.completed_day", "true"}},
        {"what the day has no room for is called the hour's",
         {"day, completed_day[id] = 2,", "hour, completed_day[id] = 1,"}},
        {"what the hour has no room for is not said",
         {"hour, completed_hour[id] = 1,", "day, completed_hour[id] = 2,"}},
        {"another server goes on",
         {"if head[1] ~= server or not epoch or epoch ~= ARGV[5] then return answer(OTHER_EPOCH) end", ""}},
        {"a gate of another epoch is answered", {"or epoch ~= ARGV[5] then", "then"}},
        {"a record that has expired is not missed",
         {"if not values[1] then return nil end", "values[1] = values[1] or limits"}},
        {"a refill is fed", {"if is_new and not (refills and refilling) then", "if is_new then"}},
        {"what passes is not fed", {"if is_new and not (refills and refilling) then", "if false then"}},
        {"a known series is counted again",
         {"if new ~= 1 then return new == 0 and KNOWN or new end", "if new ~= 1 and new ~= 0 then return new end"}},
        {"a series enters one window of a refill only",
         {"to_day and ask('SADD', day_key)", "not to_hour and ask('SADD', day_key)"}},
        {"a refill enters the bucket of another series", {"KEYS[hour_keys + to + 1] == hour_key and", ""}},
        {"a refill enters the day's bucket of another series",
         {"(not to_day or KEYS[day_keys + to + 1] == day_key) and", ""}},
        {"a refill enters the bucket of another series in the hour before",
         {"(not uses_before or KEYS[before_keys + to + 1] == before_key)", "true"}},
        {"who had come back comes back once more in a refill", {"and not (in_hour and in_before)", ""}},
        {"a refill takes a series of both hours for one of the hour",
         {"(to_before or in_before) and", "in_before and"}},
        {"an hour is opened by any clock",
         {"if at >= hour_start - OPENED_EARLY and at < hour_ends then", "if true then"}},
        {"buckets never expire", {"call('EXPIRE', key, max(ends", "local _ = (key and max(ends"}},
    };
    return all;
}

const std::vector<named_change>& broken_promises() {  // what: words of the promise
    static const std::vector<named_change> all{
        {"a pass was refused", {"elseif call_kind == 'claim' then", "elseif true then"}},
        {"kept places", {"return max(0, in_before[id] - returned[id])", "return 0"}},
        {"above an hourly maximum",
         {"most.hour - in_hour[id] - places or huge", "most.hour + 1 - in_hour[id] - places or huge"}},
        {"above a daily maximum", {"in_its_day and most.day - in_day[id]", "false and most.day - in_day[id]"}},
        {"did not wait",
         {"elseif refilling then\n        return in_its_hour and 0 or huge, in_its_day and 0 or huge", ""}},
        {"while its place is kept", {"local incumbent = kept and", "local incumbent = false and"}},
    };
    return all;
}

/// Whether any scene breaks that promise.
bool breaks(const named_change& each) {
    for (std::uint64_t seed = 200; seed < 200 + seeds; ++seed)
        for (const shared_scene& of : all_scenes(seed)) {
            try {
                run_shared_scene(of, steps, each.change, promises_alone);
            } catch (const broken_promise& broken) {
                if (std::string{broken.what()}.find(each.what) != std::string::npos) return true;
            }
        }
    return false;
}

}  // namespace

TEST_CASE("what the store's scripts are to do wrong replaces a text that they have") {
    for (const auto& all : {changes(), broken_promises()})
        for (const auto& [what, change] : all) {
            CAPTURE(what);
            CHECK((store_script.find(change.from) != store_script.npos ||
                   gate_script.find(change.from) != gate_script.npos));
        }
}

TEST_CASE("a store's script that does what it must not differs from the model", "[.][mutants]") {
    for (const named_change& each : changes()) {
        CAPTURE(each.what);
        CHECK(is_noticed(each.change));
    }
}

TEST_CASE("a store that does what it must not breaks a promise, without any model beside it", "[.][mutants]") {
    for (const named_change& each : broken_promises()) {
        CAPTURE(each.what);
        CHECK(breaks(each));
    }
}
