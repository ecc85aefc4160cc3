#include "admin/api.hpp"

#include <fmt/format.h>

#include <boost/json/parse.hpp>

#include "support/catch.hpp"
#include "support/cpu_time.hpp"

using namespace seriesgate;

namespace who_json_test {
namespace {

boost::json::object asked(refused_ring& refused, std::string match) {
    return boost::json::parse(refused_json(refused, {.shown_max = 1'000, .match = std::move(match)})).as_object();
}

/// Series whose values are as long as any may be.
void fill(refused_ring& refused, std::size_t value_bytes) {
    for (std::uint64_t i = 0; i < 100; ++i)
        refused.put(i, {.labels = {{"__name__", "m"}, {"long", std::string(value_bytes, 'a') + std::to_string(i)}}});
}

}  // namespace

TEST_CASE("a question about refused series costs no more than it may") {
    refused_ring refused;
    fill(refused, 60'000);
    std::string match = "{long=~\"";
    for (int i = 0; i < 60; ++i) match += "(a?b?c?){9}";
    boost::json::object answer;
    CHECK(testing::cpu_seconds_of([&] { answer = asked(refused, match + "x\"}"); }) < 2);
    CHECK(answer.at("data").as_array().empty());
    CHECK(answer.at("warnings").at(0).as_string().starts_with("match asks for too much work: the last "));
}

TEST_CASE("a question that costs what questions cost is answered whole") {
    refused_ring refused;
    fill(refused, 100);
    const auto answer = asked(refused, "{long=~\".*7\"}");
    CHECK(answer.at("data").as_array().size() == 10);
    CHECK_FALSE(answer.contains("warnings"));
}

}  // namespace who_json_test
