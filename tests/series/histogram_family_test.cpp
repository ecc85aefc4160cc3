// What the series of one classic histogram have in common.
#include "series/fingerprint.hpp"

#include "series/reference_fingerprint.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using labels = std::vector<label_view>;

histogram_family family_of(const labels& of, const tenant_key& tenant = {}, std::vector<std::string> ignored = {}) {
    return label_hasher{hash_key::known_to_all(), std::move(ignored)}.family(of, tenant);
}

const histogram_family none{};
const histogram_family latency = family_of({{"__name__", "latency_count"}, {"pod", "a"}});

}  // namespace

TEST_CASE("buckets, sum and count of one label set are a family") {
    CHECK(latency);
    CHECK(latency.is_total);
    CHECK(family_of({{"__name__", "latency_sum"}, {"pod", "a"}}) == latency);
    for (const char* bound : {"0.5", "+Inf"}) {
        const auto bucket = family_of({{"__name__", "latency_bucket"}, {"le", bound}, {"pod", "a"}});
        CHECK(bucket.fingerprint == latency.fingerprint);
        CHECK_FALSE(bucket.is_total);
    }
}

TEST_CASE("another label, name or tenant is another family") {
    CHECK(family_of({{"__name__", "latency_count"}, {"pod", "b"}}) != latency);
    CHECK(family_of({{"__name__", "latency_count"}}) != latency);
    CHECK(family_of({{"__name__", "latencies_count"}, {"pod", "a"}}) != latency);
    CHECK(family_of({{"__name__", "latency_count_count"}, {"pod", "a"}}) != latency);
    CHECK(family_of({{"__name__", "latency_count"}, {"pod", "a"}}, tenant_key_of("t", hash_key::known_to_all())) !=
          latency);
}

TEST_CASE("order, empty values and ignored labels do not matter") {
    CHECK(family_of({{"pod", "a"}, {"__name__", "latency_count"}}) == latency);
    CHECK(family_of({{"__name__", "latency_count"}, {"job", ""}, {"pod", "a"}}) == latency);
    CHECK(family_of({{"__name__", "latency_sum"}, {"pod", "a"}, {"replica", "1"}}, {}, {"replica"}) == latency);
    CHECK(family_of({{"__name__", "latency_sum"}, {"le", ""}, {"pod", "a"}}) == latency);
}

TEST_CASE("a label that has the metric's name as its value is left alone") {
    const std::string text = "latency_sum";  // as in remote write 2, where both are the same symbol
    CHECK(family_of({{"__name__", text}, {"metric", text}}) ==
          family_of({{"__name__", "latency_count"}, {"metric", text}}));
}

TEST_CASE("other names are part of nothing") {
    for (const char* name : {"latency", "latency_buckets", "latencycount", "latency_created", "_sum", "_count", ""})
        CHECK(family_of({{"__name__", name}, {"le", "1"}}) == none);
    for (const labels& of : {labels{{"__name__", "latency_bucket"}, {"pod", "a"}},
                             {{"__name__", "latency_bucket"}, {"le", ""}},
                             {{"__name__", "_bucket"}, {"le", "1"}},
                             {{"pod", "a_count"}},
                             {}})
        CHECK(family_of(of) == none);
}

TEST_CASE("a family is never taken for the series with the same labels") {
    CHECK(latency.fingerprint != reference_fingerprint({{"__name__", "latency"}, {"pod", "a"}}, {}));
}
