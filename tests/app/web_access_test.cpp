#include "app/web_access.hpp"

#include <string>

#include "config/load_web.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// A file that the test writes.
struct scene {
    scratch_directory folder;
    std::string file = folder / "web.yml";
    web_config running;
    access_control control{running};
    web_access web{file, running, control};

    scene() { write_file(file, ""); }

    [[nodiscard]] bool asks() const { return control.rules()->has_users(); }
};

}  // namespace

TEST_CASE("a file that has changed since it was read is taken over at the first look") {
    scene at;
    write_file(at.folder / "token", "t0ken");
    write_file(at.file, "bearer_tokens: [{name: ci, token_file: token}]\n");
    CHECK_FALSE(at.asks());
    at.web.refresh();
    CHECK(at.asks());
}

TEST_CASE("a file that is no good is taken over when what it names is there") {
    scene at;
    at.web.refresh();
    write_file(at.file, "bearer_tokens: [{name: ci, token_file: token}]\n");
    at.web.refresh();
    at.web.refresh();
    CHECK_FALSE(at.asks());
    write_file(at.folder / "token", "t0ken");
    at.web.refresh();
    CHECK(at.asks());
}

TEST_CASE("what differs is told by its keys") {
    scene at;
    const auto next = load_web_config_text(
        "auth_excluded_paths: [/health]\nbasic_auth_users: {a: "
        "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW}\n",
        "web.yml");
    CHECK(at.web.changes(next.value) == std::vector<std::string>{"basic_auth_users", "auth_excluded_paths"});
    CHECK_FALSE(at.asks());
    at.web.take_over(next.value);
    CHECK(at.asks());
    CHECK(at.web.changes(next.value).empty());
}
