#include "process/serving.hpp"

#include <stdexcept>

#include "base/clock.hpp"
#include "http/access_control.hpp"
#include "limit/limiter.hpp"
#include "process/persistence.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("where there is no thread for a worker, those before it end") {
    config settings;
    settings.upstream.discard = true;
    settings.server.threads = 2;
    series_limiter limiter{{}, wall_clock::now()};
    gate_metrics metrics;
    access_control access{settings.web};
    shared_cardinality noted{settings, hash_key::known_to_all(), limiter, wall_clock::now()};
    serving_shared shared{settings, limiter, hash_key::known_to_all(), metrics, access, noted, nullptr};
    const worker_threads workers = make_workers(shared, settings.server);
    REQUIRE(workers.size() == 2);
    const thread_starter one_thread = [](net::io_context& loop, const std::string& name) {
        if (name != "worker-0") throw std::runtime_error("no thread");
        return start_thread(loop, name);
    };
    CHECK_THROWS_WITH((running_workers{workers, settings, one_thread}), "no thread");
    CHECK(workers.front()->self.io.stopped());
}
