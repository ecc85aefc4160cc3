/// How the tests of this folder say what is offered, when, and what came of it.
#pragma once

#include <cstdlib>
#include <span>
#include <sstream>

#include "limit/commit_state.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing {

/// A UTC time of 2026-03-10, an ordinary Tuesday, or of `day` days after it.
constexpr time_point at(int hour, int minute = 0, int second = 0, int day = 0) {
    using namespace std::chrono;
    return sys_days{year{2026} / 3 / 10} + days{day} + hours{hour} + minutes{minute} + seconds{second};
}

/// Series `first`, `first` + 1, ... with one sample each.
inline std::vector<offered_series> series(std::uint64_t first, std::uint64_t count) {
    std::vector<offered_series> offered;
    offered.reserve(count);
    for (std::uint64_t i = first; i < first + count; ++i)
        offered.push_back({.fingerprint = fingerprint_of(i), .samples = 1, .admits = true});
    return offered;
}

/// The same as stale markers: a sample each that admits nothing.
inline std::vector<offered_series> stale_markers(std::uint64_t first, std::uint64_t count) {
    auto offered = series(first, count);
    for (auto& entry : offered) entry.admits = false;
    return offered;
}

inline std::vector<offered_series> joined(std::vector<offered_series> first,
                                          const std::vector<offered_series>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// The clock leaps, and stays there for long enough to be believed.
inline void leap(series_limiter& limiter, time_point to) {
    limiter.maintain(to);
    limiter.maintain(to + clock_doubt);
}

struct verdict_counts {
    std::uint64_t accepted = 0;
    std::uint64_t refused_hourly = 0;
    std::uint64_t refused_daily = 0;
    std::uint64_t refused_unknown = 0;
    friend bool operator==(const verdict_counts&, const verdict_counts&) = default;
};

inline verdict_counts verdict_counts_of(const std::vector<verdict>& verdicts) {
    const auto of = [&](verdict wanted) { return static_cast<std::uint64_t>(std::ranges::count(verdicts, wanted)); };
    return {of(verdict::known) + of(verdict::admitted), of(verdict::refused_hourly), of(verdict::refused_daily),
            of(verdict::unknown)};
}

/// What a window's figures came to: those that a test names.
struct tally {
    using number = std::optional<std::uint64_t>;
    number max{}, current{}, reserved{}, refused{}, samples_refused{}, over_limit{};

    friend bool operator==(const window_figures& shown, const tally& of) {
        return of.agree(shown) && !of.reserved &&
               of.samples_refused.value_or(shown.samples_refused) == shown.samples_refused &&
               of.over_limit.value_or(shown.series_over_limit) == shown.series_over_limit;
    }
    friend bool operator==(const budget_window_figures& shown, const tally& of) {
        return of.agree(shown) && !of.samples_refused && !of.over_limit &&
               of.reserved.value_or(shown.series_reserved) == shown.series_reserved;
    }

  private:
    [[nodiscard]] bool agree(const auto& shown) const {
        return max.value_or(shown.series_max) == shown.series_max &&
               current.value_or(shown.series_current) == shown.series_current &&
               refused.value_or(shown.series_refused) == shown.series_refused;
    }
};

/// SERIESGATE_SET=exact runs the tests with tables in place of filters.
inline set_kind tested_set() {
    const char* const wanted = std::getenv("SERIESGATE_SET");
    return wanted != nullptr && std::string_view{wanted} == "exact" ? set_kind::exact : set_kind::bloom;
}

/// A limiter, and a caller with the buffers that one needs.
struct offering {
    series_limiter limiter;
    lookup_result scratch;
    std::vector<verdict> verdicts;  ///< of the last request

    offering(const limit_rules& settings, time_point now, set_kind kind = tested_set())
        : limiter{settings, now, hash_key::known_to_all(), limit_scope::gate, kind} {}

    /// One request.
    verdict_counts offer(std::span<const offered_series> offered, time_point now, const request_origin& origin = {}) {
        verdicts.assign(offered.size(), verdict::unknown);
        limiter.decide(offered, now, verdicts, scratch, origin);
        return verdict_counts_of(verdicts);
    }

    std::uint64_t accepted(std::span<const offered_series> offered, time_point now, const request_origin& origin = {}) {
        return offer(offered, now, origin).accepted;
    }

    /// Requests of 2,000 series, and maintenance after each. @return how many were accepted.
    std::uint64_t fill(std::uint64_t first, std::uint64_t count, time_point now) {
        std::uint64_t sum = 0;
        for (const std::uint64_t end = first + count; first < end; first += 2'000) {
            sum += accepted(series(first, 2'000), now);
            limiter.maintain(now);
        }
        return sum;
    }

    [[nodiscard]] window_figures hourly() const { return figures_of(limiter).hourly; }
    [[nodiscard]] window_figures daily() const { return figures_of(limiter).daily; }
    [[nodiscard]] std::uint64_t commits() const { return figures_of(limiter).commits; }
    /// Of a limiter with tables.
    [[nodiscard]] std::uint64_t active() const { return figures_of(limiter).active.value().series_current; }
};

}  // namespace seriesgate::testing

namespace Catch {

template <>
struct StringMaker<seriesgate::testing::tally> {
    static std::string convert(const seriesgate::testing::tally& of) {
        std::ostringstream out;
        const auto tell = [&out](const char* name, const seriesgate::testing::tally::number& number) {
            if (number) out << name << ' ' << *number << ' ';
        };
        tell("max", of.max);
        tell("current", of.current);
        tell("reserved", of.reserved);
        tell("refused", of.refused);
        tell("samples refused", of.samples_refused);
        tell("over limit", of.over_limit);
        return out.str();
    }
};

template <>
struct StringMaker<seriesgate::window_figures> {
    static std::string convert(const seriesgate::window_figures& of) {
        return StringMaker<seriesgate::testing::tally>::convert({of.series_max, of.series_current, std::nullopt,
                                                                 of.series_refused, of.samples_refused,
                                                                 of.series_over_limit});
    }
};

template <>
struct StringMaker<seriesgate::budget_window_figures> {
    static std::string convert(const seriesgate::budget_window_figures& of) {
        return StringMaker<seriesgate::testing::tally>::convert(
            {of.series_max, of.series_current, of.series_reserved, of.series_refused, std::nullopt, std::nullopt});
    }
};

}  // namespace Catch
