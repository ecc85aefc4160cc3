#include "process/state_file.hpp"

#include <filesystem>

#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

namespace seriesgate::testing::state_file_test {
namespace {

constexpr state_file::identities identity{.ignored_labels = 7, .secret = 11};
constexpr time_point noon = at(12);
const limit_rules settings{.global = {.hourly = 100, .daily = 1'000}};

/// A directory for the state, and a gate that starts with what is in it.
struct scene {
    scratch_directory scratch{};
    std::optional<state_directory> held{std::in_place, scratch / "a/state.d"};  // made, with what is above it
    std::filesystem::path path = scratch / "a/state.d/state";
    offering gate;

    explicit scene(const limit_rules& rules = settings) : gate(rules, noon) {}

    [[nodiscard]] state_file file() const { return {*held, identity}; }
    /// How many of the series 0 to `count` - 1 are admitted.
    std::uint64_t offer(std::uint64_t count) { return gate.accepted(series(0, count), noon); }
};

/// Why this text is refused as a state file; the limiter must then be as good as new.
std::string reason_to_refuse(std::string_view text) {
    scene with;
    write_file(with.path, text);
    const auto loaded = with.file().load(with.gate.limiter, noon);
    if (loaded.result != state_file::load_result::refused) return "loaded";
    CHECK(with.gate.hourly().series_current == 0);
    CHECK(with.offer(200) == 100);
    const auto at = loaded.reason.find("state.d/state: ");
    REQUIRE(at != std::string::npos);
    return loaded.reason.substr(at + 15);
}

std::string saved_state() {
    scene with;
    with.offer(60);
    REQUIRE(with.file().save(with.gate.limiter).result == state_file::save_result::saved);
    return read_file(with.path);
}

TEST_CASE("what was saved is there after a restart") {
    scene with;
    CHECK(with.file().load(with.gate.limiter, noon).result == state_file::load_result::absent);
    CHECK(with.offer(60) == 60);
    const auto saved = with.file().save(with.gate.limiter);
    REQUIRE(saved.result == state_file::save_result::saved);
    CHECK(saved.bytes == std::filesystem::file_size(with.path));
    CHECK_FALSE(std::filesystem::exists(with.scratch / "a/state.d/state.new"));
    with.held.reset();
    with.held.emplace(with.scratch / "a/state.d");
    offering restarted{settings, noon};
    REQUIRE(with.file().load(restarted.limiter, noon).result == state_file::load_result::loaded);
    CHECK(restarted.hourly().series_current == 60);
    CHECK(restarted.accepted(series(0, 200), noon) == 100);  // the 60 known ones and 40 more
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
    scene with;
    with.offer(60);
    REQUIRE(with.file().save(with.gate.limiter).result == state_file::save_result::saved);
    const std::string before = read_file(with.path);

    const std::filesystem::path in_the_way = with.path.string() + ".new";
    std::filesystem::create_directory(in_the_way);
    with.offer(80);
    const auto failed = with.file().save(with.gate.limiter);
    CHECK(failed.result == state_file::save_result::failed);
    CHECK(failed.reason == "cannot write " + in_the_way.string() + ": Is a directory");
    CHECK(read_file(with.path) == before);
}

TEST_CASE("a save that is made in pieces holds no lock between them") {
    scene with{limit_rules{}};
    REQUIRE(with.offer(400'000) == 400'000);
    const std::uint64_t before = with.gate.hourly().series_current;
    std::uint64_t pauses = 0;
    const auto saved = with.file().save(with.gate.limiter, [&] {  // what is new takes the commit lock
        REQUIRE(with.gate.accepted(series(1'000'000 + pauses++, 1), noon) == 1);
    });
    REQUIRE(saved.result == state_file::save_result::saved);
    CHECK(saved.bytes > 1u << 21);
    CHECK(pauses >= saved.bytes >> 20);

    offering restarted{limit_rules{}, noon};
    REQUIRE(with.file().load(restarted.limiter, noon).result == state_file::load_result::loaded);
    CHECK(restarted.hourly().series_current >= before);
}

}  // namespace
}  // namespace seriesgate::testing::state_file_test
