// What a sender hears before anything goes upstream, and what is counted of it. With `discard:` there is no upstream.
#include "ingest/ingestor.hpp"

#include "base/clock.hpp"
#include "base/log.hpp"
#include "fleet/fleet_shared.hpp"
#include "ingest/ingest_parts.hpp"
#include "ingest/requests.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"
#include "support/outcome.hpp"
#include "upstream/loop_detection.hpp"
#include "upstream/request.hpp"

namespace seriesgate::testing::ingestor_test {
namespace {

config discarding() {
    config made;
    made.upstream.discard = true;
    made.server.decoded_bytes_max = 1 << 20;
    return made;
}

/// A worker's ingestion in front of no store.
struct scene : ingest_parts {
    gauge held;
    inflight_room room;
    ingestor tested{io, shared};

    explicit scene(const limit_rules& rules = {}, std::uint64_t bytes_max = 1 << 30)
        : ingest_parts(discarding(), rules), room(held, bytes_max, 0) {
        log::set_up(log::format::logfmt, log::level::error);
    }

    reply answer(received& from) {
        reply made = result_of(io, tested.answer(from.request));
        io.run();
        return made;
    }
    reply answer(const std::string& body) {
        received from{room, compressed(compression::snappy, body)};
        return answer(from);
    }
};

std::string rejected(const reply& answer) {
    return answer.rejected ? std::to_string(answer.status).append(" ").append(name_of(*answer.rejected)) : "no";
}

TEST_CASE("a sound request is taken and counted") {
    scene at{{.global = {.hourly = 2}}};
    CHECK(at.answer(body_v1({"a", "b", "c"})).status == 204);
    CHECK(at.metrics.samples_received.value() == 3);
    CHECK(at.metrics.samples_accepted.value() == 2);
    CHECK(at.metrics.samples_refused.value() == 1);
    CHECK(at.metrics.samples_stored.value() == 2);
    CHECK(at.metrics.samples_failed.value() == 0);
    CHECK(at.metrics.requests_forwarded[body_action::spliced].value() == 1);
    CHECK(at.metrics.requests_discarded.value() == 1);
    CHECK(at.metrics.decoded_bytes.value() == body_v1({"a", "b", "c"}).size());
    CHECK(at.answer(body_v1({"d"})).status == 204);
    CHECK(at.metrics.requests_forwarded[body_action::nothing].value() == 1);
    CHECK(at.metrics.requests_discarded.value() == 1);  // nothing was left to discard
    CHECK(at.held.value() == 0);
}

TEST_CASE("a request of a fleet's gate is decided by the fleet's time") {
    scene at;
    const auto behind = [&at] { return std::chrono::round<std::chrono::minutes>(wall_clock::now() - at.shared.now()); };
    CHECK(behind() == std::chrono::minutes{0});
    const shared_config settings;
    fleet_metrics counted;
    fleet_shared fleet{settings, {.name = "gate-1", .version = "1.2.3", .fingerprints = "f"}, counted};
    at.shared.fleet = &fleet;
    CHECK(behind() == std::chrono::minutes{0});
    const auto now = wall_clock::now();
    REQUIRE(fleet.view.clock.correct(now - std::chrono::minutes{50}, -1, monotonic_clock::now(), now));
    CHECK(behind() == std::chrono::minutes{50});
}

TEST_CASE("what is no request is rejected, and nothing of it is counted") {
    scene at;
    const auto check = [&at](received& from, const std::string& expected, const std::string& line) {
        const reply answer = at.answer(from);
        CHECK(rejected(answer) == expected);
        CHECK(answer.body == line + "\n");
        CHECK(at.metrics.samples_received.value() == 0);
        CHECK(figures_of(at.limiter).hourly.series_current == 0);
    };
    received sound{at.room, compressed(compression::snappy, body_v1({"a"}))};
    SECTION("it is no snappy") {
        received from{at.room, "no snappy"};
        const reply answer = at.answer(from);
        CHECK(rejected(answer) == "400 malformed");
    }
    SECTION("it is no protobuf") {
        CHECK(rejected(at.answer("no protobuf")) == "400 malformed");
        CHECK(at.metrics.decoded_bytes.value() != 0);
    }
    SECTION("it is larger than it may be") {
        const reply answer = at.answer(std::string((1 << 20) + 1, 'x'));
        CHECK(rejected(answer) == "400 too_large");
        CHECK(answer.body ==
              "decompresses to more than server.maxDecodedBytes: 1048577 bytes, at most 1048576 bytes\n");
        CHECK(at.metrics.decoded_bytes.value() == 0);
    }
    SECTION("its tenant has too long a name") {
        const std::string tenant(1025, 't');
        sound.request.tenant = tenant;
        check(sound, "400 too_large", "tenant name of more than 1024 bytes: 1025");
    }
    SECTION("it is of another kind") {
        sound.headers.set(http::field::content_encoding, "gzip");
        check(sound, "415 unsupported_media",
              "unsupported Content-Encoding: remote write wants snappy, or zstd, not gzip");
    }
    SECTION("it has been here before") {
        sound.headers.set(http::field::via, own_via());
        check(sound, "508 loop",
              "loop: the request has been here before, or has passed too many gates (see its Via header): an "
              "upstream.url leads back");
    }
}

TEST_CASE("a tenant's name may have 1024 bytes") {
    scene at;
    received from{at.room, compressed(compression::snappy, body_v1({"a"}))};
    const std::string tenant(1024, 't');
    from.request.tenant = tenant;
    CHECK(at.answer(from).status == 204);
}

TEST_CASE("a request that finds no memory is to come again, and nothing of it is counted") {
    scene at{{}, 200};
    inflight_lease others{at.room};
    REQUIRE(others.grow(100));
    received from{at.room, compressed(compression::snappy, body_v1({"a", "b", "c"}))};
    const reply answer = at.answer(from);
    CHECK(rejected(answer) == "503 overloaded");
    CHECK(answer.headers[http::field::retry_after] == "1");
    CHECK(figures_of(at.limiter).hourly.series_current == 0);
    CHECK(at.metrics.samples_received.value() == 0);
    from.memory.release();
    CHECK(at.held.value() == 100);
}

TEST_CASE("what was decided is counted by its labels, though there was no memory for what is left of the request") {
    unsigned late = 0;
    for (std::uint64_t bytes = 150;; bytes += 8) {
        scene at{{.global = {.hourly = 1}}, bytes};
        inflight_lease others{at.room};
        REQUIRE(others.grow(1));  // a request that is alone always fits
        received from{at.room, compressed(compression::snappy, body_v1({"a", "b"}))};
        const unsigned status = at.answer(from).status;
        at.sampler.catch_up();
        const bool is_decided = figures_of(at.limiter).hourly.series_current != 0;
        CAPTURE(bytes, status);
        CHECK(at.tracker.hours().back().newly_admitted == (is_decided ? 1 : 0));
        late += status == 503 && is_decided ? 1 : 0;
        if (status == 204) break;
        REQUIRE(bytes < 1 << 20);
    }
    CHECK(late != 0);
}

TEST_CASE("the sender of refused series hears rejectStatus where the limit says so") {
    limit_rules rules{.global = {.hourly = 1}};
    rules.tenants.answer = limit_answer::reject;
    scene at{rules};
    at.settings.reject_status = 409;
    const reply answer = at.answer(body_v1({"a", "b"}));
    CHECK(rejected(answer) == "409 refused");
    CHECK(answer.body.starts_with("refused 1 new series (1 sample): maxHourlySeries 1 is spent (1 series admitted)"));
    CHECK(at.metrics.samples_stored.value() == 1);
}

TEST_CASE("an older vmagent may ask whether zstd is understood") {
    scene at;
    received from{at.room, "", "get_vm_proto_version=1"};
    const reply answer = at.answer(from);
    CHECK(answer.status == 200);
    CHECK(answer.body == "1");
    received wrong{at.room, "", "get_vm_proto_version=2"};
    CHECK(rejected(at.answer(wrong)) == "400 malformed");
}

TEST_CASE("a sender of remote write 2 is told how much was written") {
    scene at{{.global = {.hourly = 1}}};
    received from{at.room, compressed(compression::snappy, body_v2({"a", "b"}))};
    from.headers.set(http::field::content_type, "application/x-protobuf;proto=io.prometheus.write.v2.Request");
    const reply answer = at.answer(from);
    CHECK(answer.status == 204);
    CHECK(answer.headers["X-Prometheus-Remote-Write-Samples-Written"] == "2");
    CHECK(answer.headers["X-Seriesgate-Refused-Series"] == "1");
    CHECK(at.metrics.unconfirmed_requests.value() == 0);
}

TEST_CASE("a series that breaks a rule costs no other series of its request") {
    const std::string nameless = series({label("__name__", "up"), label("", "x"), sample(1)});
    SECTION("version 1: a success, and who looks is told") {
        scene at;
        const reply answer = at.answer(body_v1({"a"}) + nameless);
        CHECK(answer.status == 204);
        CHECK(answer.headers["X-Seriesgate-Left-Out-Series"] == "1");
        CHECK(at.metrics.samples_received.value() == 2);
        CHECK(at.metrics.samples_accepted.value() == 1);
        CHECK(at.metrics.samples_stored.value() == 1);
        CHECK(at.metrics.samples_left_out.value() == 1);
        CHECK(figures_of(at.limiter).hourly.series_current == 1);
    }
    SECTION("version 1 with onLimit: reject") {
        limit_rules rules;
        rules.tenants.answer = limit_answer::reject;
        scene at{rules};
        at.settings.reject_status = 409;
        const reply answer = at.answer(body_v1({"a"}) + nameless);
        CHECK(rejected(answer) == "400 left_out");
        CHECK(answer.body == "left out 1 series (1 sample): 1 with a label without a name, the first up\n");
        CHECK(at.metrics.samples_stored.value() == 1);
    }
    SECTION("version 2: an error, with what was written") {
        scene at;
        const std::string unknown = len_field(5, len_field(1, varint(1) + varint(9)) + sample(1));
        received from{at.room, compressed(compression::snappy, body_v2({"a"}) + unknown)};
        from.headers.set(http::field::content_type, "application/x-protobuf;proto=io.prometheus.write.v2.Request");
        const reply answer = at.answer(from);
        CHECK(rejected(answer) == "400 left_out");
        CHECK(answer.headers["X-Prometheus-Remote-Write-Samples-Written"] == "1");
        CHECK(answer.headers["X-Seriesgate-Left-Out-Series"] == "1");
    }
}

}  // namespace
}  // namespace seriesgate::testing::ingestor_test
