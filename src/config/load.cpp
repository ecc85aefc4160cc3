#include "config/load.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "config/checks.hpp"
#include "config/config_node.hpp"
#include "config/endpoint.hpp"
#include "config/keys.hpp"

namespace seriesgate {
namespace {

// Warns of a value that is empty because a variable is. Where an empty text means none, as for a path, the start would
// not show the mistake.
void lint_empty(const config_node& at) {
    if (at.is_scalar() && !at.variables().empty() && at.text() == "")
        at.warn("the environment variable " + in_quotes(at.variables().front()) +
                " is empty, and so is this value: that is as if the key were left out");
}

void read_keys(const config_node& root, config& target) {
    std::vector<map_key> table;
    for (const config_key& key : config_keys())
        table.push_back({key.about.name, [&key, &target](const config_node& at) {
                             key.read(at, target);
                             lint_empty(at);
                         }});
    read_map(root, table);
}

void read_flags(const overrides& flags, config& target, config_report& report) {
    for (const override_value& flag : flags) {
        const auto key =
            std::ranges::find(config_keys(), flag.key, [](const config_key& each) { return each.about.name; });
        const bool is_known = key != config_keys().end() && key->assign;
        std::string wrong = is_known ? key->assign(flag.value, target) : "unknown flag";
        if (!wrong.empty())
            report.add_flag(printable(flag_of(flag.key), 80), std::move(wrong));
        else
            report.set_by_flag(flag.key);
    }
}

load_outcome load(std::optional<YAML::Node> root, config_report& report, const overrides& flags,
                  const environment& variables) {
    load_outcome outcome{};
    if (root) {
        config_reading reading{.report = report, .variables = variable_filler{variables}, .example_of = example_of};
        read_keys({*root, reading, "", 0}, outcome.value);
    }
    report.sort_by_line();
    read_flags(flags, outcome.value, report);
    shared_config& shared = outcome.value.shared;
    if (!shared.url.empty()) parse_redis_url(shared.url, shared.store);
    if (shared.has_store() && !report.is_set("seriesSet")) outcome.value.series_set = set_kind::exact;
    if (root) check_config(outcome.value, report);
    if (!report.has_errors()) lint_config(outcome.value, report);
    outcome.errors = report.take_errors();
    outcome.warnings = report.take_warnings();
    return outcome;
}

}  // namespace

load_outcome load_config(const std::optional<std::string>& file, const overrides& flags) {
    const auto text = file ? read_config_file(*file, file_kind::any) : result<std::string, file_fault>{std::string{}};
    config_report report{printable(file.value_or(""), std::string_view::npos)};
    if (!text) report.add(0, "", text.error().message);
    load_outcome loaded = load(text ? read_root(*text, report) : std::nullopt, report, flags, variable_of_process);
    if (const std::string& web_file = loaded.value.web_config_file; !web_file.empty()) {
        web_outcome web = load_web_config(web_file);
        loaded.value.web = std::move(web.value);
        std::ranges::move(web.errors, std::back_inserter(loaded.errors));
    }
    if (loaded.ok())
        std::ranges::move(lint_secret_files(loaded.value, file.value_or("")), std::back_inserter(loaded.warnings));
    return loaded;
}

load_outcome load_config_text(std::string_view text, std::string_view name, const overrides& flags,
                              const environment& variables) {
    config_report report{printable(name, std::string_view::npos)};
    return load(read_root(text, report), report, flags, variables);
}

}  // namespace seriesgate
