#include "process/state_directory.hpp"

#include <filesystem>

#include "support/catch.hpp"
#include "support/files.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace observed_file_test {
namespace {

/// A part that is one number.
struct scene {
    scratch_directory scratch;
    state_directory directory{scratch / "state.d"};
    std::filesystem::path path = scratch / "state.d/observed";

    void save(std::uint64_t number, std::uint64_t secret = 1) {
        observed_file file{directory, secret};
        file.save([&](state_encoder& out) { out.number(number); });
    }
    /// @return what was loaded, or why not.
    std::string load(std::uint64_t secret = 1) {
        std::string found = "nothing";
        const std::string wrong = observed_file{directory, secret}.load([&](state_decoder& in) {
            const auto number = in.number<std::uint64_t>();
            if (in.good() && number != 13) found = std::to_string(number);
            return in.good() && number != 13;
        });
        return wrong.empty() ? found : wrong.substr(wrong.rfind(": ") + 2);
    }
};

}  // namespace

TEST_CASE("what was saved is loaded") {
    scene at;
    CHECK(at.load() == "nothing");
    at.save(7);
    CHECK(at.load() == "7");
    at.save(8);
    CHECK(at.load() == "8");
}

TEST_CASE("what has not changed is not written again") {
    scene at;
    observed_file file{at.directory, 1};
    const auto write = [](state_encoder& out) { out.number(std::uint64_t{5}); };
    file.save(write);
    std::filesystem::remove(at.path);
    file.save(write);
    CHECK_FALSE(std::filesystem::exists(at.path));
    file.save([](state_encoder& out) { out.number(std::uint64_t{6}); });
    CHECK(at.load() == "6");
}

TEST_CASE("a file that is not as it was written is told") {
    scene at;
    at.save(7);
    CHECK(at.load(2) == "made with another secret");
    const std::string whole = read_file(at.path);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ 1);
        write_file(at.path, damaged);
        CHECK(at.load() == (i < 8 ? "no file of seriesgate's" : "truncated or corrupt"));
        write_file(at.path, whole.substr(0, i));
        CHECK(at.load() == (i < 28 ? "no file of seriesgate's" : "truncated or corrupt"));
    }
    at.save(13);
    CHECK(at.load() == "has other labels in it, or makes no sense");
}

TEST_CASE("what cannot be written is told") {
    scene at;
    std::filesystem::create_directories(at.path / "in the way");
    CHECK_THROWS_AS(at.save(7), std::runtime_error);
    CHECK_FALSE(at.load().empty());
}

}  // namespace observed_file_test
