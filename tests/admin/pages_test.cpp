#include "admin/pages.hpp"

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <stdexcept>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/refused_ring.hpp"
#include "cardinality/suggestions.hpp"
#include "config/version.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"
#include "support/running_loop.hpp"

namespace seriesgate::testing::pages_test {
namespace {

/// Pages about a limiter and two figures.
struct scene {
    series_limiter limiter{{.global = {.hourly = 3}}, wall_clock::now()};
    cardinality_tracker tracker{std::vector<std::string>{"job"}, hash_key::known_to_all(), wall_clock::now()};
    refused_ring refused{};
    observed_demand demand{};
    hash_key installation = hash_key::known_to_all();
    std::vector<std::string> ignored_labels{"replica"};
    std::atomic<bool> broken = false;
    std::atomic<std::chrono::nanoseconds> work = 0ns;  // of a processor, for each page with figures
    page_queue pages;
    page_sources from{.limiter = limiter,
                      .started = std::chrono::steady_clock::now() - 7s,
                      .write_metrics = [this](exposition& out) { write_own(out); },
                      .counts = [] { return gate_counts{.requests = {.total = 5}}; },
                      .catch_up = [] {},
                      .tracker = tracker,
                      .refused = refused,
                      .demand = demand,
                      .key = installation,
                      .ignored_labels = ignored_labels,
                      .now = wall_clock::now,
                      .upkeep = [] { return upkeep_facts{.keeps_state = true}; }};
    testing::running_loop paging{[this] { return make_pages(pages, from); }};

    scene() { log::set_up(log::format::logfmt, log::level::error); }

    void write_own(exposition& out) const {
        if (broken) throw std::runtime_error("no memory");
        for (const auto end = thread_cpu_clock::now() + work.load(); thread_cpu_clock::now() < end;) {
        }
        out.family("own_total", "Counted elsewhere.", metric_type::counter);
        out.sample({}, 11);
    }
    page_text page(api_question key, std::chrono::milliseconds limit = 10s) {
        net::io_context io{1};
        page_text got;
        net::co_spawn(io, pages.ask(key, io, 10s), [&got](const std::exception_ptr&, std::optional<page_text> text) {
            got = text.value_or(nullptr);
        });
        io.run_for(limit);
        return got;
    }
};

TEST_CASE("the metrics page has the limiter's families, the process' and those of all others") {
    scene at;
    const page_text text = at.page({.path = api_path::metrics});
    REQUIRE(text);
    for (const auto* line : {"seriesgate_series_max{window=\"hourly\"} 3\n", "own_total 11\n", "process_threads "})
        CHECK(text->find(line) != std::string::npos);
    exposition build;
    build.family("seriesgate_build_info", "", metric_type::gauge);
    build.sample({{"version", version()}, {"revision", revision()}, {"compiler", compiler()}}, 1);
    CHECK(text->find(build.text().substr(build.text().rfind("seriesgate_build_info{"))) != std::string::npos);
}

TEST_CASE("the stats page has the counts and the limiter's figures") {
    scene at;
    const page_text text = at.page({.path = api_path::stats});
    REQUIRE(text);
    CHECK(text->find(R"("uptimeSeconds":7,)") != std::string::npos);
    CHECK(text->find(R"("requests":{"total":5,)") != std::string::npos);
    CHECK(text->find(R"("maxSeries":3,)") != std::string::npos);
    CHECK(text->ends_with("}\n"));
}

TEST_CASE("explain says what decides for now in place of the limits") {
    scene at;
    gate_counts counts;
    at.from.counts = [&counts] { return counts; };
    const auto says = [&at](const std::string& series, std::string_view what) {
        const page_text text = at.page({.path = api_path::explain, .series = series});
        REQUIRE(text);
        return text->find(what) != std::string::npos;
    };
    CHECK_FALSE(says(R"({a="1"})", "; but"));
    for (const std::string state : {"joining", "joined", "refilling", "away", "away: clock"}) {
        CAPTURE(state);
        counts.shared = {.state = state};
        CHECK(says("{a=\"" + state + "\"}", "; but the shared store gives no answer: shared.onUnavailable decides") ==
              (state != "joined"));
    }
    counts.warm = {.state = "reading"};
    CHECK(says(R"({a="3"})", "; but while the warm start reads, all series pass"));
}

TEST_CASE("the status page says the same to people") {
    scene at;
    const page_text text = at.page({.path = api_path::status});
    REQUIRE(text);
    CHECK(text->find("up for 7 s, as of ") != std::string::npos);
    CHECK(text->find("<strong>0</strong> of 3 series") != std::string::npos);
    CHECK(text->find("<dt>requests</dt><dd>5</dd>") != std::string::npos);
    CHECK(text->find("<dt>state saved</dt><dd>not saved yet</dd>") != std::string::npos);
    CHECK(text->ends_with("</html>\n"));
}

TEST_CASE("pages take a quarter of a processor at most, however many are asked for") {
    scene at;
    at.work = 20ms;
    const auto began = std::chrono::steady_clock::now();
    REQUIRE(at.page({.path = api_path::metrics}));
    at.work = 0ms;
    REQUIRE(at.page({.path = api_path::stats}));
    CHECK(std::chrono::steady_clock::now() - began >= 80ms);  // it has rested three times as long as it worked
}

TEST_CASE("a page that cannot be made ends nothing") {
    scene at;
    at.broken = true;
    CHECK(at.page({.path = api_path::metrics}, 50ms) == nullptr);
    at.broken = false;
    CHECK(at.page({.path = api_path::metrics}) != nullptr);
}

}  // namespace
}  // namespace seriesgate::testing::pages_test
