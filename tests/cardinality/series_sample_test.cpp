#include "cardinality/series_sample.hpp"

#include "support/catch.hpp"
#include "support/state_text.hpp"

namespace seriesgate::testing::series_sample_test {
namespace {

const time_point noon{std::chrono::hours{24 * 365 * 50 + 12}};

/// As evenly spread as hashes are.
std::uint64_t fingerprint_of(std::uint64_t number) {
    return (number + 1) * 0x9E37'79B9'7F4A'7C15;
}

void arrive(series_samples& into, std::uint64_t number, time_point when = noon, std::size_t value_bytes = 1) {
    const std::string value(value_bytes, 'x'), id = std::to_string(number);
    const std::array<label_view, 3> labels{{{"__name__", "m"}, {"id", id}, {"value", value}}};
    into.known().put(fingerprint_of(number), labels, "t", when);
}

TEST_CASE("all series are sampled while they are few") {
    series_samples samples;
    for (std::uint64_t i = 0; i < series_sample::series_max; ++i) arrive(samples, i);
    arrive(samples, 0, noon + std::chrono::hours{1});
    const sampled all = samples.all();
    CHECK(all.known.size() == series_sample::series_max);
    CHECK(all.weight == 1);
    for (const auto& each : all.known) CHECK(each->first_seen == noon);
}

TEST_CASE("of many each stands for as many") {
    series_samples samples;
    constexpr std::uint64_t count = 100'000;
    for (std::uint64_t i = 0; i < count; ++i) arrive(samples, i);
    const sampled all = samples.all();
    CHECK(all.known.size() <= series_sample::series_max);
    const std::uint64_t stand_for = all.known.size() * all.weight;
    CHECK(stand_for > count * 9 / 10);
    CHECK(stand_for < count * 11 / 10);
}

TEST_CASE("long labels take no more memory than there is") {
    series_samples samples;
    constexpr std::size_t value_bytes = 64 << 10;
    for (std::uint64_t i = 0; i < 1'000; ++i) arrive(samples, i, noon, value_bytes);
    const sampled all = samples.all();
    CHECK(all.known.size() * value_bytes <= series_sample::bytes_max);
    CHECK(all.known.size() > 10);
}

TEST_CASE("a series keeps its age over hours, and one of unknown age is left out") {
    series_samples samples;
    for (std::uint64_t i = 0; i < 20'000; ++i) arrive(samples, i);
    for (int hour = 0; hour < 3; ++hour) {
        samples.end_hour();
        for (std::uint64_t i = 0; i < 30'000; ++i) {
            const std::string id = std::to_string(i);
            const std::array<label_view, 1> labels{{{"id", id}}};
            samples.come_back(fingerprint_of(i), labels, "t");
        }
    }
    std::size_t old = 0, known = 0;
    for (const auto& each : samples.all().known) {
        const auto number = std::stoull(each->labels.back().second.substr(0, 5));
        CHECK((each->first_seen == noon) == (each->labels.size() == 3 || number < 20'000));
        (each->first_seen == noon ? known : old) += 1;
    }
    CHECK(known > 1'000);
    CHECK(old > 500);
}

TEST_CASE("when fewer series come, more of them are sampled again, and few are copied meanwhile") {
    series_samples samples;
    for (std::uint64_t i = 0; i < 100'000; ++i) arrive(samples, i);
    const unsigned thin = samples.level_back();
    CHECK(thin > 3);
    samples.end_hour();
    CHECK(samples.level_back() == thin);
    for (unsigned hour = 0; hour <= thin + 1; ++hour) samples.end_hour();
    CHECK(samples.level_back() == 0);
}

TEST_CASE("samples are what they were after they were saved") {
    series_samples samples, loaded;
    for (std::uint64_t i = 0; i < 10'000; ++i) arrive(samples, i);
    samples.end_hour();
    arrive(samples, 5, noon + std::chrono::hours{1});
    const std::string text = saved_text(samples);
    REQUIRE(reads_text(loaded, text) == true);
    const sampled one = samples.all(), other = loaded.all();
    CHECK(one.known.size() == other.known.size());
    CHECK(one.weight == other.weight);
    for (std::size_t size : {std::size_t{0}, std::size_t{3}, text.size() / 2, text.size() - 1})
        CHECK_FALSE(reads_text(loaded, std::string_view{text}.substr(0, size)).has_value());
}

TEST_CASE("a sampled series was first seen at a moment whose distance to every other can be told") {
    const auto is_taken = [](time_point first_seen) {
        series_samples samples, loaded;
        arrive(samples, 1, first_seen);
        return reads_text(loaded, saved_text(samples)).has_value();
    };
    CHECK(is_taken(noon));
    CHECK(is_taken(time_point::min()));  // before sampling began
    CHECK(is_taken(time_point{}));
    for (const time_point wrong :
         {time_point{} - time_point::duration{1}, time_point::max(), time_point::min() + time_point::duration{1}})
        CHECK_FALSE(is_taken(wrong));
}

}  // namespace
}  // namespace seriesgate::testing::series_sample_test
