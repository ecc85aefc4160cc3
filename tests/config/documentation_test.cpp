#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

namespace {

std::string text_of(const std::string& path) {
    std::ifstream file{std::string{SERIESGATE_SOURCE_DIR} + "/" + path};
    REQUIRE(file);
    return {std::istreambuf_iterator<char>{file}, {}};
}

// How a key stands in the example: below its section, indented.
std::string line_start(std::string_view key) {
    const auto dot = key.find('.');
    if (dot == std::string_view::npos) return "\n" + std::string{key} + ": ";
    return "\n  " + std::string{key.substr(dot + 1)} + ": ";
}

// The first block in a fence that starts with ```language, after the text `after`.
std::string block_after(const std::string& page, const std::string& after, const std::string& language) {
    const std::string fence = "```" + language + "\n";
    const auto start = page.find(fence, page.find(after)) + fence.size();
    return page.substr(start, page.find("```", start) - start);
}

}  // namespace

TEST_CASE("the example configuration loads and is the defaults") {
    const std::string path = std::string{SERIESGATE_SOURCE_DIR} + "/config/seriesgate.yaml";
    const auto outcome = load_config(path, {});
    for (const config_error& error : outcome.errors) FAIL_CHECK(error.text());

    config defaults = load_config(std::nullopt, {{"upstream.url", outcome.value.upstream.url}}).value;
    CHECK(outcome.value.upstream.url == "http://127.0.0.1:8428/api/v1/write");
    CHECK(outcome.value == defaults);
}

TEST_CASE("every key stands in the example configuration, in the order of the table") {
    const std::string example = text_of("config/seriesgate.yaml");
    std::size_t before = 0;
    for (const config_key& key : config_keys()) {
        CAPTURE(key.name);
        const auto found = example.find(line_start(key.name));
        REQUIRE(found != std::string::npos);
        CHECK(found > before);
        before = found;
    }
}

TEST_CASE("every key and every flag is described in docs/configuration.md") {
    const std::string page = text_of("docs/configuration.md");
    for (const config_key& key : config_keys()) {
        const std::string name{key.name};
        CAPTURE(name);
        CHECK(page.find("| `" + name + "` |") != std::string::npos);
        if (!key.flag_value.empty()) CHECK(page.find("`--" + name + "=") != std::string::npos);
    }
    for (const std::string flag : {"--config.file", "--check-config", "--version", "--help"}) {
        CAPTURE(flag);
        CHECK(page.find("`" + flag) != std::string::npos);
    }
}

TEST_CASE("the errors that docs/configuration.md shows are those one gets") {
    const std::string page = text_of("docs/configuration.md");
    const std::string file = block_after(page, "## Errors", "yaml");
    std::string errors;
    for (const auto& error : load_config_text(file, "seriesgate.yaml", {{"maxDailySeries", "many"}}).errors) {
        errors += error.text() + "\n";
    }
    CHECK(errors == block_after(page, "one gets:", "text"));
}
