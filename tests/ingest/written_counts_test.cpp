#include "ingest/sender_answer.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

http::fields saying(std::initializer_list<std::pair<const char*, const char*>> counts) {
    http::fields headers;
    for (const auto& [what, count] : counts)
        headers.set(std::string{"X-Prometheus-Remote-Write-"} + what + "-Written", count);
    return headers;
}

}  // namespace

TEST_CASE("what a store says that it has written is read") {
    CHECK(read_written(saying({{"Samples", "3"}, {"Histograms", "2"}, {"Exemplars", "1"}})) ==
          written_counts{.samples = 3, .histograms = 2, .exemplars = 1});
    CHECK(read_written(saying({{"Samples", "18446744073709551615"}}))->samples == ~std::uint64_t{0});
}

TEST_CASE("a count that is missing is 0, and three that are missing say nothing") {
    CHECK(read_written(saying({{"Histograms", "2"}})) == written_counts{.samples = 0, .histograms = 2, .exemplars = 0});
    CHECK_FALSE(read_written({}));
}

TEST_CASE("a count that is no number says nothing") {
    const char* const wrong = GENERATE("", "1 2", "-1", "+1", "1.5", "0x1", "18446744073709551616", "one");
    CAPTURE(wrong);
    CHECK_FALSE(read_written(saying({{"Samples", wrong}, {"Histograms", "2"}})));
}

TEST_CASE("counts are written as they are read, in place of others") {
    const written_counts counts{.samples = 30, .histograms = 20, .exemplars = 10};
    http::fields headers = saying({{"Samples", "1"}});
    write_written(counts, headers);
    CHECK(read_written(headers) == counts);
    CHECK(headers.count("X-Prometheus-Remote-Write-Samples-Written") == 1);
}

TEST_CASE("a plan's samples have the histograms in them, and what is told has not") {
    written_counts counts = written_of({.samples = 10, .histograms = 4, .exemplars = 2});
    CHECK(counts == written_counts{.samples = 6, .histograms = 4, .exemplars = 2});
    counts += {.samples = 1, .histograms = 1, .exemplars = 1};
    CHECK(counts == written_counts{.samples = 7, .histograms = 5, .exemplars = 3});
}
