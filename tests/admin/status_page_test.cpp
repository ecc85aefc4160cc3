#include "admin/status_page.hpp"

#include <fmt/format.h>

#include <string>

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace {

const process_facts process{.version = "1.2.3", .uptime = 12s};

budget_figures tenant(std::string name, std::uint64_t current) {
    return {.name = {.limit = {}, .tenant = std::move(name), .has_tenant = true, .group = {}},
            .mode = limit_mode::observe,
            .hourly = {.series_max = 5, .series_current = current, .series_refused = 1},
            .daily = {.series_max = 0, .series_current = 7, .series_refused = 2}};
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("the status page shows version, uptime, mode and windows") {
    limiter_figures figures;
    figures.mode = limit_mode::observe;
    figures.hourly = {.span = {std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} + 10h,
                               std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} + 11h},
                      .series_max = 1'000'000,
                      .series_current = 7,
                      .series_refused = 3};
    figures.daily.series_current = 9;
    std::string page = status_html(process, figures);
    CHECK(has(page, "<h1>seriesgate 1.2.3</h1>\n<p>Up for 12 s, mode: observe.</p>"));
    CHECK(has(page, "<th>of</th><th>would be refused</th><th>until</th></tr>\n<tr><td>hour</td>"));
    CHECK(has(page, "<tr><td>hour</td><td>7</td><td>1000000</td><td>3</td><td>2026-01-02 11:00 UTC</td></tr>"));
    CHECK(has(page, "<tr><td>day</td><td>9</td><td>not limited</td><td>0</td>"));
    CHECK(count_of(page, "<p>0 of 0, those with the most demand.</p>") == 2);
    figures.mode = limit_mode::enforce;
    CHECK(has(status_html(process, figures), "<th>of</th><th>refused</th><th>until</th></tr>\n<tr><td>hour</td>"));
    figures.mode = limit_mode::observe;
    figures.clock_in_doubt = true;
    page = status_html(process, figures);
    CHECK(has(page, "mode: observe. The clock has leapt by over an hour and is not believed yet.</p>"));
}

TEST_CASE("an uptime has two units at most") {
    const auto shown = [](std::chrono::seconds uptime) {
        const std::string page = status_html({.version = "1", .uptime = uptime}, {});
        const auto begin = page.find("Up for ") + 7;
        return page.substr(begin, page.find(',', begin) - begin);
    };
    CHECK(shown(0s) == "0 s");
    CHECK(shown(59s) == "59 s");
    CHECK(shown(60s) == "1 min");
    CHECK(shown(59min + 59s) == "59 min");
    CHECK(shown(60min) == "1 h 0 min");
    CHECK(shown(23h + 59min + 59s) == "23 h 59 min");
    CHECK(shown(24h) == "1 d 0 h");
    CHECK(shown(24h * 400 + 5h) == "400 d 5 h");
}

TEST_CASE("the ten tenants and groups with the most demand are shown") {
    limiter_figures figures;
    for (std::uint64_t n = 0; n < 15; ++n) {
        figures.tenants.push_back(tenant(fmt::format("t{}", n), 100 + n));
        figures.limits.push_back(
            {.name = {.limit = "per-app", .tenant = {}, .group = {{"app", fmt::format("a{}", n)}, {"env", "x"}}},
             .mode = limit_mode::enforce,
             .hourly = {.series_max = 0, .series_current = n, .series_refused = 0},
             .daily = {}});
    }
    const std::string page = status_html(process, figures);
    CHECK(count_of(page, "<p>10 of 15, those with the most demand.</p>") == 2);
    CHECK(has(page,
              "<th>refused</th></tr>\n<tr><td><bdi>t14</bdi></td><td>observe</td><td>114</td><td>5</td><td>1</td>"
              "<td>7</td><td>not limited</td><td>2</td></tr>\n<tr><td><bdi>t13</bdi></td>"));
    CHECK(has(page,
              "<tr><td><bdi>per-app</bdi></td><td><bdi>app=a14, env=x</bdi></td><td><bdi></bdi></td>"
              "<td>enforce</td><td>14</td><td>not limited</td>"));
    CHECK((has(page, "<bdi>t5</bdi>") && has(page, "app=a5,")));
    CHECK_FALSE((has(page, "<bdi>t4</bdi>") || has(page, "app=a4,")));
}

TEST_CASE("the tenant of senders that name none is told from a limit that tells no tenants apart") {
    limiter_figures figures;
    figures.tenants.push_back(tenant("", 1));
    figures.limits.push_back(tenant("", 2));
    figures.limits.back().name.limit = "per-tenant";
    figures.limits.push_back({.name = {.limit = "for-all", .tenant = {}, .group = {}}, .hourly = {}, .daily = {}});
    const std::string page = status_html(process, figures);
    CHECK(has(page, "<tr><td>(no tenant)</td><td>observe</td><td>1</td>"));
    CHECK(has(page, "<bdi>per-tenant</bdi></td><td><bdi></bdi></td><td>(no tenant)</td>"));
    CHECK(has(page, "<bdi>for-all</bdi></td><td><bdi></bdi></td><td><bdi></bdi></td>"));
}

TEST_CASE("no name becomes markup, whoever has chosen it") {
    limiter_figures figures;
    const std::string hostile = "<script>alert(1)</script>\"'&lt;&amp;<!--\x01\n\x7f]]>";
    const std::string harmless =
        "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;lt;&amp;amp;&lt;!--\\x01\\x0a\\x7f]]&gt;";
    figures.tenants.push_back(tenant(hostile, 1));
    figures.limits.push_back({.name = {.limit = "per-app", .tenant = hostile, .group = {{hostile, hostile}}},
                              .mode = limit_mode::enforce,
                              .hourly = {},
                              .daily = {}});
    const std::string page = status_html({.version = hostile, .uptime = 1s}, figures);
    CHECK(count_of(page, "<bdi>" + harmless + "</bdi>") == 2);
    CHECK(has(page, "<bdi>" + harmless + "=" + harmless + "</bdi>"));
    CHECK(has(page, "<h1>seriesgate " + harmless + "</h1>"));
    CHECK_FALSE(has(page, "<script"));
    CHECK_FALSE(has(page, "<!--"));
}
