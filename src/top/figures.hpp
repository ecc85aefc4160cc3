/// The figures of a running gate that the terminal shows, and how they are read from its answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate::top {

struct question {
    std::string by = "metric";  ///< as for /api/v1/top
    bool refused = false;       ///< refused series, not new ones
    bool daily = false;         ///< the day, not the hour

    bool operator==(const question&) const = default;
};

/// By what series are counted.
enum class count_window : std::uint8_t { hour, day, active };

struct window_figures {
    std::uint64_t series_max = 0;  ///< 0: not limited
    std::uint64_t series = 0;
    std::uint64_t refused = 0;
    bool refused_is_exact = true;
    std::chrono::sys_seconds end{};  ///< unset for active series
};

struct budget_figures {
    std::string name{};
    count_window window = count_window::hour;
    bool observes = false;
    bool refuses = true;  ///< not of a limit that leaves the decision to others
    window_figures counts{};
    std::string note{};  ///< a further note; usually empty
};

struct finding {
    std::string text{};
    std::string relabel{};  ///< YAML of several lines, like `limit`
    std::string limit{};
    std::string note{};  ///< empty from gates that send none
    bool is_over = false;
};

struct top_entry {
    std::string value{};
    std::string detail{};      ///< a label's metric or a sender's User-Agent; usually empty
    std::uint64_t values = 0;  ///< distinct values of a label; 0 for others
    std::uint64_t series = 0;
    std::uint64_t error = 0;  ///< bound of the error of `series`
    std::chrono::sys_seconds last_seen{};
};

struct refused_series {
    std::string series{};  ///< `name{label="value"}`
    std::string tenant{};
    std::string sender{};
    std::string limit{};
    count_window window = count_window::hour;
    std::chrono::sys_seconds when{};
};

struct backend {
    std::string store{};
    std::string name{};
    bool is_up = false;
    std::uint64_t in_flight = 0;
    std::uint64_t waiting = 0;
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;
};

/// Texts are as the gate sent them, perhaps unsafe for a terminal. See line.hpp.
struct figures {
    question asked{};  ///< for findings and top entries
    std::string version{};
    std::chrono::seconds uptime{};
    std::string mode{};
    bool clock_in_doubt = false;
    std::string shared{};  ///< connection state of the fleet's store; empty without a fleet
    window_figures hourly{};
    window_figures daily{};
    std::optional<window_figures> active{};                  ///< if the gate counts active series
    std::optional<std::chrono::sys_seconds> last_refused{};  ///< a refused sample of any series
    std::vector<finding> findings{};
    std::vector<top_entry> top{};
    std::vector<budget_figures> budgets{};  ///< nearest to their limit first
    /// If the gate has more tenants and groups than it lists: how many it lists, those with most demand. Else 0.
    std::uint64_t listed = 0;
    std::vector<refused_series> refused{};
    std::vector<backend> backends{};  ///< failing ones first
};

struct moment {
    std::string url;
    std::optional<figures> known{};    ///< the last answers; nothing before the first
    std::chrono::sys_seconds taken{};  ///< time of these answers
    std::string fault{};               ///< why there are no newer ones; empty while the gate answers
    std::chrono::sys_seconds now{};
};

// --- Answers of a gate. Formats: docs/stats.md, docs/api.md.

/// These read the JSON of one answer into the figures. They ignore unknown keys, since later versions may have more,
/// and cut the middle of texts over 8 KiB.
/// @return the error, with the figures unchanged or partly updated; nothing if all was understood.
std::string take_stats(figures& into, std::string_view json);
std::string take_findings(figures& into, std::string_view json);
/// @param by of the question
std::string take_top_entries(figures& into, std::string_view json, std::string_view by);
std::string take_refused(figures& into, std::string_view json);

/// The text of an API error; nothing for other answers.
std::string error_in(std::string_view json);

}  // namespace seriesgate::top
