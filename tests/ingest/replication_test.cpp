#include "ingest/replication.hpp"

#include "ingest/sender_answer.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::replication_test {
namespace {

reply of(unsigned status, std::string body = {}) {
    return {.status = status, .headers = {}, .body = std::move(body)};
}

reply having_written(unsigned status, const written_counts& counts) {
    reply made = of(status);
    write_written(counts, made.headers);
    return made;
}

reply agreed(reply first, reply second, reply third = of(204)) {
    std::vector<reply> others;
    others.push_back(std::move(second));
    others.push_back(std::move(third));
    return agreed_answer(std::move(first), std::move(others));
}

TEST_CASE("the first store's answer is told if all have taken the request, or it has not") {
    CHECK(agreed(of(200, "first"), of(204, "second")).body == "first");
    CHECK(agreed(of(500, "first"), of(204, "second")).body == "first");
    CHECK(agreed(of(500, "first"), of(400, "second")).body == "first");
    CHECK(agreed(of(429, "first"), of(502, "second")).body == "first");
    CHECK(agreed(of(400, "first"), of(409, "second")).body == "first");
    CHECK(agreed(of(302, "first"), of(404, "second")).status == 302);
}

TEST_CASE("where the first store has taken it, the first one of the others that has not is told") {
    CHECK(agreed(of(204), of(503, "second")).body == "second");
    CHECK(agreed(of(204), of(503, "second"), of(400, "third")).status == 503);
    CHECK(agreed(of(204), of(204), of(400, "third")).body == "third");
    CHECK(agreed(of(204), of(304, "second")).status == 304);
}

TEST_CASE("for as long as one store may yet take the request the sender is told to come again") {
    for (const unsigned passing : {429u, 500u, 502u, 503u, 504u}) {
        CAPTURE(passing);
        CHECK(agreed(of(400), of(passing, "second")).body == "second");
        CHECK(agreed(of(302), of(passing, "second")).body == "second");
        CHECK(agreed(of(400), of(204), of(passing, "third")).body == "third");
        CHECK(agreed(of(400), of(409), of(passing, "third")).body == "third");
        CHECK(agreed(of(204), of(400), of(passing, "third")).body == "third");
        CHECK(agreed(of(400), of(passing, "second"), of(503, "third")).body == "second");
    }
}

TEST_CASE("as much is written as by the one that has written least") {
    const written_counts many{.samples = 9, .histograms = 2, .exemplars = 4};
    const written_counts few{.samples = 3, .histograms = 5, .exemplars = 4};
    const written_counts least{.samples = 3, .histograms = 2, .exemplars = 4};
    CHECK(read_written(
              agreed(having_written(204, many), having_written(204, few), having_written(204, many)).headers) == least);
    CHECK(read_written(
              agreed(having_written(204, many), having_written(400, few), having_written(204, many)).headers) == least);
    SECTION("and nobody says how much, if one of them does not") {
        CHECK_FALSE(read_written(agreed(having_written(204, many), having_written(204, few)).headers));
        CHECK_FALSE(read_written(agreed(of(204), having_written(204, few), having_written(204, few)).headers));
    }
}

}  // namespace
}  // namespace seriesgate::testing::replication_test
