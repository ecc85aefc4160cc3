/// What a running gate says of itself, as far as it is shown in a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate::top {

/// What the person at the terminal wants to see.
struct question {
    std::string by = "metric";  ///< as /api/v1/top has it
    bool refused = false;       ///< series that were refused in place of new ones
    bool daily = false;         ///< the day in place of the hour

    bool operator==(const question&) const = default;
};

/// A window of the global limit.
struct window_figures {
    std::uint64_t series_max = 0;  ///< 0: not limited
    std::uint64_t series = 0;
    std::uint64_t refused = 0;
    bool refused_is_exact = true;
    std::chrono::sys_seconds end{};
};

/// One window of a budget that is limited.
struct budget_figures {
    std::string name{};
    bool daily = false;
    bool observes = false;
    std::uint64_t series_max = 0;  ///< never 0
    std::uint64_t series = 0;
    std::uint64_t refused = 0;
    bool refused_is_exact = true;
    std::string note{};  ///< what else has to be known of it; mostly empty
};

struct finding {
    std::string text{};
    std::string relabel{};  ///< YAML of several lines, as the other
    std::string limit{};
    std::string note{};  ///< empty of a gate that says none
    bool is_over = false;
};

struct top_entry {
    std::string value{};
    std::string detail{};      ///< what else there is to it: of which metric, with which User-Agent; mostly empty
    std::uint64_t values = 0;  ///< of a label, how many; 0 for all else
    std::uint64_t series = 0;
    std::uint64_t error = 0;  ///< by how much `series` may be wrong
    std::chrono::sys_seconds last_seen{};
};

struct refused_series {
    std::string series{};  ///< `name{label="value"}`
    std::string tenant{};
    std::string sender{};
    std::string limit{};
    bool daily = false;
    std::chrono::sys_seconds when{};
};

/// An address of a store.
struct backend {
    std::string store{};
    std::string name{};
    bool is_up = false;
    std::uint64_t in_flight = 0;
    std::uint64_t waiting = 0;  ///< for a connection to the store
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;
};

/// Texts are as the gate has written them: nothing says that they are fit for a terminal. See line.hpp.
struct figures {
    question asked{};  ///< of findings and talkers
    std::string version{};
    std::chrono::seconds uptime{};
    std::string mode{};
    bool clock_in_doubt = false;
    std::string shared{};  ///< the state of the store of counts; empty for a gate by itself
    window_figures hourly{};
    window_figures daily{};
    std::optional<std::chrono::sys_seconds> last_refused{};  ///< samples of any series
    std::vector<finding> findings{};                         ///< worst first
    std::vector<top_entry> cardinality_tracker{};            ///< those with the most first
    std::vector<budget_figures> budgets{};                   ///< those nearest to their limit first
    std::vector<refused_series> refused{};                   ///< newest first
    std::vector<backend> backends{};                         ///< those that are down first
};

}  // namespace seriesgate::top

namespace seriesgate::top {

/// All that is known when a frame is made.
struct moment {
    std::string url;                   ///< of the gate
    std::optional<figures> known{};    ///< its last answers; nothing before the first
    std::chrono::sys_seconds taken{};  ///< when they came
    std::string fault{};               ///< why there are no newer ones; empty while the gate answers
    std::chrono::sys_seconds now{};
};

}  // namespace seriesgate::top

// What a gate's answers say. Formats: docs/stats.md, docs/api.md.

namespace seriesgate::top {

/// Each takes the JSON of one answer into the figures, of texts longer than 8 KiB their two ends. What it does not know
/// it passes over; a later version may have more.
/// @return why not, then the figures are as they were or in part as answered; nothing if all was understood.
std::string take_stats(figures& into, std::string_view json);
std::string take_findings(figures& into, std::string_view json);
/// @param by of the question
std::string take_top_entries(figures& into, std::string_view json, std::string_view by);
std::string take_refused(figures& into, std::string_view json);

/// What an error in the API's envelope says; nothing if it is none.
std::string error_in(std::string_view json);

}  // namespace seriesgate::top
