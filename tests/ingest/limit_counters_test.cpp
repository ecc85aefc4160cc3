#include "ingest/ingest_metrics.hpp"

#include "base/metrics.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace {

std::string written(const limit_counters& counters) {
    exposition out;
    counters.write(out, "refused_total", "Refused.");
    return out.take();
}

bool shows(const limit_counters& counters, const std::string& tenant, std::uint64_t amount) {
    return written(counters).find("{limit=\"tenant\",tenant=\"" + tenant + "\"} " + std::to_string(amount) + "\n") !=
           std::string::npos;
}

/// As many as there may be.
void fill(limit_counters& counters, limit_counters::clock::time_point now) {
    for (std::size_t i = 0; i < 1000; ++i) counters.add("tenant", "made-up-" + std::to_string(i), 1, now);
}

}  // namespace

TEST_CASE("made-up names of tenants keep others out for no longer than they come") {
    limit_counters counters;
    limit_counters::clock::time_point now{1h};
    fill(counters, now);
    counters.add("tenant", "shop", 5, now);
    CHECK(shows(counters, "__other__", 5));
    CHECK_FALSE(shows(counters, "shop", 5));

    now += limit_counters::idle_min;
    counters.add("tenant", "shop", 7, now);
    CHECK(shows(counters, "shop", 7));
    CHECK_FALSE(shows(counters, "made-up-1", 1));
    CHECK(counters.total() == 7);
}

TEST_CASE("a tenant that goes on coming keeps its count") {
    limit_counters counters;
    limit_counters::clock::time_point now{1h};
    fill(counters, now);
    now += 6min;
    counters.add("tenant", "made-up-7", 1, now);
    now += 6min;
    counters.add("tenant", "shop", 1, now);
    CHECK(shows(counters, "made-up-7", 2));
    CHECK(shows(counters, "shop", 1));
    CHECK(counters.total() == 3);
}

TEST_CASE("nobody makes room while there is some") {
    limit_counters counters;
    counters.add("tenant", "shop", 1, limit_counters::clock::time_point{1h});
    counters.add("tenant", "other", 1, limit_counters::clock::time_point{100h});
    CHECK(shows(counters, "shop", 1));
}

TEST_CASE("it is looked for room at most once a minute") {
    limit_counters counters;
    limit_counters::clock::time_point now{1h};
    fill(counters, now);
    now += limit_counters::idle_min - 1s;
    counters.add("tenant", "early", 1, now);
    now += 1s;
    counters.add("tenant", "soon", 1, now);
    CHECK(shows(counters, "__other__", 2));
    now += limit_counters::look_interval;
    counters.add("tenant", "later", 1, now);
    CHECK(shows(counters, "later", 1));
}

TEST_CASE("each pair is told with the time of its last amount, but for tenants that share one") {
    limit_counters counters;
    const limit_counters::clock::time_point now{1h};
    CHECK(counters.last_occasions().empty());
    counters.add("global", "", 1, now);
    counters.add("per-job", "shop", 2, now + 1s);
    counters.add("global", "", 3, now + 2s);
    const auto all = counters.last_occasions();
    REQUIRE(all.size() == 2);
    CHECK(all[0].limit == "global");
    CHECK(all[0].tenant.empty());
    CHECK(all[0].last == now + 2s);
    CHECK(all[1].limit == "per-job");
    CHECK(all[1].tenant == "shop");
    CHECK(all[1].last == now + 1s);

    fill(counters, now);  // two of them find no room
    CHECK(counters.last_occasions().size() == 1000);
}
