#include "process/state_file.hpp"

#include <filesystem>

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing::state_file_test {
namespace {

constexpr state_file::identities identity{.ignored_labels = 7, .secret = 11};
const time_point noon = std::chrono::sys_days{std::chrono::year{2026} / 3 / 10} + std::chrono::hours{12};
const limit_rules settings{.global = {.hourly = 100, .daily = 1'000}};

/// How many of the series 0 to `count` - 1 are admitted.
std::uint64_t offer(series_limiter& limiter, std::uint64_t count) {
    std::vector<offered_series> offered;
    for (std::uint64_t i = 0; i < count; ++i)
        offered.push_back({.fingerprint = fingerprint_of(i), .samples = 1, .admits = true});
    std::vector<verdict> verdicts(offered.size());
    lookup_result scratch;
    limiter.decide(offered, noon, verdicts, scratch);
    return static_cast<std::uint64_t>(std::ranges::count_if(verdicts, is_accepted));
}

/// Whether the series of this number is admitted, which takes the commit lock.
bool offer_one(series_limiter& limiter, std::uint64_t number) {
    const std::vector<offered_series> offered{{.fingerprint = fingerprint_of(number), .samples = 1, .admits = true}};
    std::vector<verdict> verdicts(1);
    lookup_result scratch;
    limiter.decide(offered, noon, verdicts, scratch);
    return is_accepted(verdicts[0]);
}

/// Why this text is refused as a state file; the limiter must then be as good as new.
std::string reason_to_refuse(std::string_view text) {
    const scratch_directory directory;
    const state_directory held{directory / "state.d"};
    const state_file snapshots{held, identity};
    write_file(directory / "state.d/state", text);
    series_limiter limiter{settings, noon};
    const auto loaded = snapshots.load(limiter, noon);
    if (loaded.result != state_file::load_result::refused) return "loaded";
    CHECK(figures_of(limiter).hourly.series_current == 0);
    CHECK(offer(limiter, 200) == 100);
    const auto at = loaded.reason.find("state.d/state: ");
    REQUIRE(at != std::string::npos);
    return loaded.reason.substr(at + 15);
}

std::string saved_state() {
    const scratch_directory directory;
    const state_directory held{directory / "state.d"};
    const state_file snapshots{held, identity};
    series_limiter limiter{settings, noon};
    offer(limiter, 60);
    REQUIRE(snapshots.save(limiter).result == state_file::save_result::saved);
    return read_file(directory / "state.d/state");
}

TEST_CASE("what was saved is there after a restart") {
    const scratch_directory directory;
    {
        const state_directory held{directory / "a/b"};
        const state_file snapshots{held, identity};  // made, with what is above it
        series_limiter limiter{settings, noon};
        CHECK(snapshots.load(limiter, noon).result == state_file::load_result::absent);
        CHECK(offer(limiter, 60) == 60);
        const auto saved = snapshots.save(limiter);
        REQUIRE(saved.result == state_file::save_result::saved);
        CHECK(saved.bytes == std::filesystem::file_size(directory / "a/b/state"));
        CHECK_FALSE(std::filesystem::exists(directory / "a/b/state.new"));
    }
    const state_directory held{directory / "a/b"};
    const state_file snapshots{held, identity};
    series_limiter limiter{settings, noon};
    REQUIRE(snapshots.load(limiter, noon).result == state_file::load_result::loaded);
    CHECK(figures_of(limiter).hourly.series_current == 60);
    CHECK(offer(limiter, 200) == 100);  // the 60 known ones and 40 more
}

TEST_CASE("every truncation of a state file is refused, and nothing of it is kept") {
    const std::string whole = saved_state();
    CHECK(reason_to_refuse(whole) == "loaded");
    CHECK(reason_to_refuse("") == "too short for a state file");
    for (const std::size_t size : {1u, 35u})
        CHECK(reason_to_refuse(whole.substr(0, size)) == "too short for a state file");
    for (std::size_t size = 36; size < whole.size(); size += whole.size() / 50)
        CHECK(reason_to_refuse(whole.substr(0, size)) == "truncated or corrupt");
    CHECK(reason_to_refuse(whole.substr(0, whole.size() - 1)) == "truncated or corrupt");
    CHECK(reason_to_refuse(whole + "x") == "truncated or corrupt");
}

TEST_CASE("every changed byte of a state file is noticed") {
    const std::string whole = saved_state();
    for (std::size_t at = 28; at < whole.size(); at += at < 100 || at + 200 > whole.size() ? 1 : whole.size() / 50) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        if (reason_to_refuse(damaged) != "truncated or corrupt") FAIL("byte " << at);
    }
}

TEST_CASE("foreign files are called what they are") {
    std::string other = saved_state();
    SECTION("another program's") {
        CHECK(reason_to_refuse(std::string(1'000, 'x')) == "not a state file of seriesgate");
    }
    SECTION("of another format") {
        other[8] = 99;
        CHECK(reason_to_refuse(other) == "has format 99, this version of seriesgate reads format 5 only");
    }
    SECTION("of other fingerprints") {
        other[12] = 8;
        CHECK(reason_to_refuse(other) == "made with other ignoreLabels");
    }
    SECTION("of another secret") {
        other[20] = 12;
        CHECK(reason_to_refuse(other) == "made with another secret");
    }
}

TEST_CASE("a save that fails leaves the file of before") {
    const scratch_directory directory;
    const state_directory held{directory / "state.d"};
    const state_file snapshots{held, identity};
    series_limiter limiter{settings, noon};
    offer(limiter, 60);
    REQUIRE(snapshots.save(limiter).result == state_file::save_result::saved);
    const std::string before = read_file(directory / "state.d/state");

    std::filesystem::create_directory(directory / "state.d/state.new");  // in the way
    offer(limiter, 80);
    const auto failed = snapshots.save(limiter);
    CHECK(failed.result == state_file::save_result::failed);
    CHECK(failed.reason == "cannot write " + (directory / "state.d/state.new").string() + ": Is a directory");
    CHECK(read_file(directory / "state.d/state") == before);
}

TEST_CASE("a save that is made in pieces holds no lock between them") {
    const scratch_directory directory;
    const state_directory held{directory / "state.d"};
    const state_file snapshots{held, identity};
    series_limiter limiter{limit_rules{}, noon};
    REQUIRE(offer(limiter, 400'000) == 400'000);
    const std::uint64_t before = figures_of(limiter).hourly.series_current;
    std::uint64_t pauses = 0;
    const auto saved = snapshots.save(limiter, [&] { REQUIRE(offer_one(limiter, 1'000'000 + pauses++)); });
    REQUIRE(saved.result == state_file::save_result::saved);
    CHECK(saved.bytes > 1u << 21);
    CHECK(pauses >= saved.bytes >> 20);

    series_limiter restarted{limit_rules{}, noon};
    REQUIRE(snapshots.load(restarted, noon).result == state_file::load_result::loaded);
    CHECK(figures_of(restarted).hourly.series_current >= before);
}

}  // namespace
}  // namespace seriesgate::testing::state_file_test
