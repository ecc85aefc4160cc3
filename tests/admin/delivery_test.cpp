#include "admin/delivery_record.hpp"

#include "support/catch.hpp"

namespace seriesgate::testing::delivery_test {
namespace {

using std::chrono::seconds;
const std::chrono::sys_seconds start{std::chrono::hours{24 * 365 * 50} + std::chrono::hours{7}};

/// A gate that has counted so much.
struct scene {
    delivery_record record{};
    gate_counts counts{};
    std::chrono::sys_seconds now = start;

    scene() { record.note(now, counts); }
    void pass(seconds time, std::uint64_t stored, std::uint64_t failed) {
        for (const auto end = now + time; now < end;) {
            now += delivery_record::interval;
            if (failed > 0) fail();
            counts.samples.stored += stored;
            counts.samples.failed += failed;
            record.note(now, counts);
        }
    }
    std::function<void()> fail = [] {};  ///< counts what a store does wrong
    [[nodiscard]] std::string text(bool has_store = true) const {
        return to_text(record.facts(now, counts, has_store));
    }
};

TEST_CASE("what is stored is a part of what was answered in five minutes") {
    scene at;
    CHECK(at.text() == "No sample went to the store in the last five minutes");
    at.pass(seconds{600}, 100, 0);
    CHECK(at.text() == "100 % of samples stored in the last five minutes");
    at.counts.samples.failed += 1;
    CHECK(at.text() == "99.98 % of samples stored in the last five minutes");
    at.pass(seconds{310}, 100, 0);
    CHECK(at.text() == "100 % of samples stored in the last five minutes");
    at.pass(seconds{310}, 0, 0);
    CHECK(at.text() == "No sample went to the store in the last five minutes");
}

TEST_CASE("that nothing reaches the store is said, since when and why") {
    scene at;
    at.counts.requests.upstream_errors_by_reason = {{"reset", 100}, {"connection_refused", 0}};
    at.pass(seconds{180}, 100, 0);
    at.fail = [&] { ++at.counts.requests.upstream_errors_by_reason[1].second; };
    at.pass(seconds{60}, 0, 50);
    CHECK(at.text() == "Nothing reaches the store since 07:03 UTC: connection refused");
    const auto facts = at.record.facts(at.now, at.counts, true);
    CHECK(facts.nothing_since == start + seconds{180});
    CHECK(facts.stored_share() > 0.7);
    at.pass(seconds{5}, 1, 0);
    CHECK_FALSE(at.record.facts(at.now, at.counts, true).nothing_since);
}

TEST_CASE("success that says nothing of what was written is no success") {
    scene at;
    at.counts.requests.upstream_by_status = {{"204", 0}};
    at.fail = [&] {
        ++at.counts.requests.unconfirmed;
        ++at.counts.requests.upstream_by_status[0].second;
    };
    at.pass(seconds{30}, 0, 100);
    CHECK(at.text() ==
          "Nothing reaches the store since 07:00 UTC: it does not say what it has written, see upstream.protocol");
}

TEST_CASE("a required replica that keeps samples from being confirmed is named, one with bestEffort is not") {
    scene at;
    at.counts.requests.upstream_by_status = {{"200", 0}, {"503", 0}};
    at.counts.stores = {{.name = "store:80"},
                        {.name = "copy", .is_replica = true, .best_effort = true},
                        {.name = "other", .is_replica = true}};
    at.fail = [&] {
        ++at.counts.requests.upstream_by_status[0].second;
        at.counts.stores[1].samples_failed += 90;
        at.counts.stores[2].samples_failed += 50;
    };
    at.pass(seconds{30}, 0, 50);
    CHECK(at.text() == "Nothing is confirmed to senders since 07:00 UTC: the replica other does not store it");
    at.counts.requests.upstream_by_status[1].second += 20;  // the first store fails more often
    CHECK(at.text() == "Nothing reaches the store since 07:00 UTC: it answers 503");
}

TEST_CASE("a clock that is set back begins anew") {
    scene at;
    at.pass(seconds{60}, 10, 0);
    at.now -= std::chrono::hours{2};
    at.pass(seconds{60}, 10, 0);
    CHECK(at.text() == "100 % of samples stored in the last five minutes");
    CHECK_FALSE(at.record.facts(at.now, at.counts, true).last_refused);
}

TEST_CASE("senders that come again once a minute do not make the store well in between") {
    scene at;
    at.pass(seconds{60}, 10, 0);
    at.pass(seconds{5}, 0, 10);
    at.pass(seconds{50}, 0, 0);
    CHECK(at.record.facts(at.now, at.counts, true).nothing_since == start + seconds{60});
}

TEST_CASE("when samples were last refused is known to some seconds") {
    scene at;
    CHECK_FALSE(at.record.facts(at.now, at.counts, true).last_refused);
    at.counts.samples.refused_by_limits = 5;
    at.pass(seconds{5}, 1, 0);
    at.pass(seconds{45}, 1, 0);
    CHECK(at.record.facts(at.now, at.counts, true).last_refused == start + seconds{5});
    at.counts.samples.refused_by_limits = 6;
    CHECK(at.record.facts(at.now, at.counts, false).last_refused == at.now);
}

TEST_CASE("refused samples are counted by minute, for the last hour") {
    scene at;
    const auto by_minute = [&](std::size_t minutes_ago) {
        return at.record.facts(at.now, at.counts, true).refused_by_minute[59 - minutes_ago];
    };
    at.counts.samples.refused_by_limits = 7;
    at.pass(seconds{5}, 1, 0);
    at.counts.samples.refused_by_limits = 10;
    CHECK(by_minute(0) == 10);  // as much as is known now
    at.pass(seconds{55}, 1, 0);
    CHECK((by_minute(0) == 0 && by_minute(1) == 10));
    at.counts.samples.refused_by_limits = 11;
    at.pass(seconds{59 * 60}, 1, 0);
    CHECK((by_minute(59) == 1 && by_minute(0) == 0));
    at.pass(seconds{60}, 1, 0);
    CHECK(by_minute(59) == 0);
    at.counts.samples.refused_by_limits = 12;
    at.pass(seconds{5}, 1, 0);
    at.now += std::chrono::hours{5};  // nobody has noted anything meanwhile
    CHECK((by_minute(0) == 0 && by_minute(59) == 0));
    at.now -= std::chrono::hours{9};
    at.counts.samples.refused_by_limits = 20;
    at.pass(seconds{5}, 1, 0);
    CHECK((by_minute(0) == 8 && by_minute(1) == 0));
    CHECK(at.record.facts(at.now, at.counts, true).watched_since == at.now);
}

TEST_CASE("discarded on purpose is said") {
    CHECK(scene{}.text(false) == "Samples are discarded on purpose, by upstream.url");
}

}  // namespace
}  // namespace seriesgate::testing::delivery_test
