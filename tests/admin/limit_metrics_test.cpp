#include "admin/limit_metrics.hpp"

#include <random>
#include <sstream>

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

budget_figures budget_of(std::string limit, int group, std::uint64_t current, std::uint64_t refused = 0) {
    return {.name = {.limit = std::move(limit), .tenant = {}, .group = {{"g", std::to_string(group)}}},
            .mode = limit_mode::enforce,
            .hourly = {.series_max = 0, .series_current = current, .series_refused = refused},
            .daily = {}};
}

std::string page_of(const limiter_figures& figures) {
    exposition out;
    write(out, figures);
    return out.take();
}

constexpr std::uint64_t refuses = 1'000'000;  // above any demand

/// The hourly demand of each group that is shown, and `refuses` if it does, by limit.
using demands = std::map<std::string, std::vector<std::uint64_t>>;

demands shown(const limiter_figures& figures) {
    std::istringstream lines{page_of(figures)};
    std::map<std::string, std::map<std::string, std::uint64_t>> sums;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("window=\"hourly\"") == std::string::npos) continue;
        if (!line.starts_with("seriesgate_limit_series_current{") &&
            !line.starts_with("seriesgate_limit_series_refused{"))
            continue;
        const auto begin = line.find("limit=\"") + 7;
        const std::string limit = line.substr(begin, line.find('"', begin) - begin);
        const std::string labels = line.substr(line.find('{'), line.rfind('}') - line.find('{'));
        const std::uint64_t series = std::stoull(line.substr(line.rfind(' ') + 1));
        sums[limit][labels] += series;
        if (line.find("_refused{") != std::string::npos && series != 0) sums[limit][labels] += refuses;
    }
    demands made;
    for (const auto& [limit, groups] : sums) {
        for (const auto& [labels, demand] : groups) made[limit].push_back(demand);
        std::ranges::sort(made[limit], std::greater{});
    }
    return made;
}

std::size_t total(const demands& of) {
    std::size_t sum = 0;
    for (const auto& [limit, groups] : of) sum += groups.size();
    return sum;
}

}  // namespace

TEST_CASE("whether the global limit observes is a figure") {
    for (const auto& [mode, value] : {std::pair{limit_mode::observe, "1"}, std::pair{limit_mode::enforce, "0"}}) {
        limiter_figures figures;
        figures.mode = mode;
        CHECK(page_of(figures).find(std::string{"\nseriesgate_observe "} + value + "\n") != std::string::npos);
    }
}

TEST_CASE("a limit with many groups hides none of another's") {
    limiter_figures figures;
    for (int group = 0; group < 5'000; ++group) figures.limits.push_back(budget_of("many", group, 1'000'000));
    figures.limits.push_back(budget_of("few", 1, 3));
    figures.limits.push_back(budget_of("few", 2, 0, 4));
    const demands got = shown(figures);
    CHECK(got.at("many").size() == 100);
    CHECK(got.at("few") == std::vector<std::uint64_t>{refuses + 4, 3});
}

TEST_CASE("each limit shows its groups that refuse and those with the most demand, as many as there is room for") {
    std::mt19937 random{7};
    for (int round = 0; round < 50; ++round) {
        limiter_figures figures;
        demands all;
        const int limits = std::uniform_int_distribution{0, 64}(random);
        for (int limit = 0; limit < limits; ++limit) {
            const std::string name = std::to_string(limit);
            const int groups = std::uniform_int_distribution{1, limit % 3 == 0 ? 400 : 20}(random);
            for (int group = 0; group < groups; ++group) {
                const std::uint64_t demand = random() % 50;
                const std::uint64_t refused = random() % (demand + 1);
                figures.limits.push_back(budget_of(name, group, demand - refused, refused));
                all[name].push_back(demand + (refused == 0 ? 0 : refuses));
            }
            std::ranges::sort(all[name], std::greater{});
        }
        std::ranges::shuffle(figures.limits, random);
        const demands got = shown(figures);
        CAPTURE(round, limits);
        CHECK(total(got) <= 1000);
        CHECK(got.size() == all.size());
        std::size_t room = 0;
        for (const auto& [name, groups] : got) room = std::max(room, groups.size());
        for (auto& [name, demand] : all) {
            const std::size_t least = std::min({demand.size(), std::size_t{100}, std::size_t{1000} / all.size()});
            CHECK(got.at(name).size() >= least);
            CHECK(got.at(name).size() == std::min(demand.size(), room));  // nobody has more than another who needs it
            demand.resize(got.at(name).size());
            CHECK(got.at(name) == demand);
        }
    }
}

TEST_CASE("sixty-four limits with many groups show fifteen each") {
    limiter_figures figures;
    for (int limit = 0; limit < 64; ++limit)
        for (int group = 0; group < 200; ++group) figures.limits.push_back(budget_of(std::to_string(limit), group, 1));
    const demands got = shown(figures);
    for (const auto& [name, groups] : got) CHECK(groups.size() == 15);
    CHECK(total(got) == 960);
}

TEST_CASE("tenants are shown with their mode, the hundred with the most demand") {
    limiter_figures figures;
    for (int tenant = 0; tenant < 150; ++tenant)
        figures.tenants.push_back(
            {.name = {.limit = {}, .tenant = std::to_string(tenant), .has_tenant = true, .group = {}},
             .mode = tenant % 2 == 0 ? limit_mode::enforce : limit_mode::observe,
             .hourly = {.series_max = 0, .series_current = static_cast<std::uint64_t>(tenant), .series_refused = 0},
             .daily = {}});
    const std::string text = page_of(figures);
    CHECK(text.find("seriesgate_tenant_series_current{tenant=\"149\",mode=\"observe\",window=\"hourly\"} 149\n") !=
          std::string::npos);
    CHECK(text.find("seriesgate_tenant_series_current{tenant=\"50\",mode=\"enforce\",window=\"hourly\"} 50\n") !=
          std::string::npos);
    CHECK(text.find("{tenant=\"49\",") == std::string::npos);
}

TEST_CASE("a small tenant that refuses is shown, before those that only would") {
    limiter_figures figures;
    const auto add = [&](std::string name, limit_mode mode, std::uint64_t current, std::uint64_t refused_in_day) {
        figures.tenants.push_back({.name = {.limit = {}, .tenant = std::move(name), .has_tenant = true, .group = {}},
                                   .mode = mode,
                                   .hourly = {.series_max = 0, .series_current = current, .series_refused = 0},
                                   .daily = {.series_max = 5, .series_current = 5, .series_refused = refused_in_day}});
    };
    for (int tenant = 0; tenant < 99; ++tenant) add(std::to_string(tenant), limit_mode::enforce, 40, 0);
    add("free", limit_mode::enforce, 5, 1);
    add("tries", limit_mode::observe, 30, 1);
    add("more", limit_mode::observe, 20, 1);
    const std::string text = page_of(figures);
    CHECK(text.find("seriesgate_tenant_series_refused{tenant=\"free\",mode=\"enforce\",window=\"daily\"} 1\n") !=
          std::string::npos);
    CHECK(text.find("{tenant=\"tries\",") != std::string::npos);
    CHECK(text.find("{tenant=\"more\",") != std::string::npos);
    CHECK(text.find("{tenant=\"96\",") != std::string::npos);
    CHECK(text.find("{tenant=\"97\",") == std::string::npos);
}
