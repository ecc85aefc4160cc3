#include <fstream>
#include <iterator>

#include "config/keys.hpp"
#include "config/load.hpp"
#include "config/other_values.hpp"
#include "support/catch.hpp"
#include "support/source_tree.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

std::string text_of(const std::string& path) {
    std::ifstream file{source_tree() / path};
    REQUIRE(file);
    return {std::istreambuf_iterator<char>{file}, {}};
}

// Where a key with its value stands in the example, after the section that it stands below; npos if it does not. A '#'
// may stand before it.
std::size_t find_key(const std::string& example, std::string_view key) {
    std::size_t at = 0;
    std::string indent = "\n";
    for (auto dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
        at = example.find(indent + std::string{key.substr(0, dot)} + ":\n", at);
        key.remove_prefix(dot + 1);
        indent += "  ";
    }
    const std::string text = indent.substr(1) + std::string{key} + ": ";
    const auto found = example.find("\n" + text, at);
    return found != std::string::npos ? found : example.find("\n#" + text, at);
}

// The example with another value of a key, whose '#' goes if it has one.
std::string with_value(std::string example, std::string_view key, const std::string& value) {
    const auto begin = find_key(example, key) + 1;
    const auto end = example.find('\n', begin);
    std::string line = example.substr(begin, end - begin);
    if (line.starts_with('#')) line.erase(0, 1);
    line.resize(line.find(':') + 1);
    example.replace(begin, end - begin, line + " " + value);
    if (key == "upstream.urls") {  // which stands in place of the other
        const auto url = find_key(example, "upstream.url") + 1;
        example.erase(url, example.find('\n', url) + 1 - url);
    }
    return example;
}

overrides url_unless_changed(std::string_view key) {
    return is_upstream(key) ? overrides{} : overrides{{"upstream.url", "http://127.0.0.1:8428/api/v1/write"}};
}

// The first block in a fence that starts with ```language, after the text `after`.
std::string block_after(const std::string& page, const std::string& after, const std::string& language) {
    const std::string fence = "```" + language + "\n";
    const auto start = page.find(fence, page.find(after)) + fence.size();
    return page.substr(start, page.find("```", start) - start);
}

}  // namespace

TEST_CASE("the example configuration loads and is the defaults") {
    const std::string path = source_tree() / "config/seriesgate.yaml";
    const auto outcome = load_config(path, {});
    for (const config_error& error : outcome.errors) FAIL_CHECK(error.text());

    const std::string url = "http://127.0.0.1:8428/api/v1/write";
    const config defaults = load_config(std::nullopt, {{"upstream.url", url}}).value;
    CHECK(outcome.value.upstream.store.backends.at(0).url == url);
    CHECK(outcome.value == defaults);
}

TEST_CASE("a value that is changed in the example configuration means what it means alone") {
    const std::string example = text_of("config/seriesgate.yaml");
    for (const config_key& key : config_keys()) {
        CAPTURE(key.about.name);
        const auto alone =
            load_config_text(yaml_of_other(key.about.name), "alone.yaml", url_unless_changed(key.about.name));
        std::string text = with_value(example, key.about.name, other_values.at(key.about.name));
        for (const std::string_view beside : needed_beside(key.about.name))
            text = with_value(text, beside, other_values.at(beside));
        const auto changed = load_config_text(text, "seriesgate.yaml", {});
        for (const config_error& error : changed.errors) FAIL_CHECK(error.text());
        CHECK(changed.value == alone.value);
    }
}

TEST_CASE("every key and every flag is described in docs/configuration.md") {
    const std::string page = text_of("docs/configuration.md");
    for (const config_key& key : config_keys()) {
        const std::string& name = key.about.name;
        CAPTURE(name);
        CHECK(page.find("| `" + name + "` |") != std::string::npos);
        if (!key.flag.empty()) CHECK(page.find("`--" + name + "=") != std::string::npos);
    }
    for (const std::string flag :
         {"--config.file", "--takeover", "--check-config", "--health-check", "--version", "--help"}) {
        CAPTURE(flag);
        CHECK(page.find("`" + flag) != std::string::npos);
    }
}

TEST_CASE("the errors that docs/configuration.md shows are those one gets") {
    const std::string page = text_of("docs/configuration.md");
    const auto errors_of = [](const std::string& file, const overrides& flags) {
        std::string errors;
        for (const auto& error : load_config_text(file, "seriesgate.yaml", flags).errors) errors += error.text() + "\n";
        return errors;
    };
    CHECK(errors_of(block_after(page, "## Errors", "yaml"), {{"maxDailySeries", "many"}}) ==
          block_after(page, "one gets:", "text"));
    CHECK(errors_of(block_after(page, "In lists, keys say", "yaml"), {}) ==
          block_after(page, "the errors are:", "text"));
}

TEST_CASE("the examples in docs/configuration.md load") {
    const std::string page = text_of("docs/configuration.md");
    const std::string all = block_after(page, "All limits together", "yaml");
    for (const std::string& text :
         {all, block_after(page, "### tenants.overrides", "yaml"), block_after(page, "### limits\n", "yaml")}) {
        CAPTURE(text);
        const auto outcome = load_config_text(text, "seriesgate.yaml", {{"upstream.url", "discard:"}});
        for (const config_error& error : outcome.errors) FAIL_CHECK(error.text());
    }
    const config read = load_config_text(all, "seriesgate.yaml", {}).value;
    CHECK(read.rules.tenants.overrides.size() == 1);
    CHECK(read.rules.limits.size() == 1);
    CHECK(read.rules.exempt.size() == 1);
    CHECK(read.state.dir == "/var/lib/seriesgate");
}
