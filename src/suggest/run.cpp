#include "suggest/run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "config/config_error.hpp"
#include "net/async.hpp"
#include "suggest/first_config.hpp"
#include "top/client.hpp"
#include "top/figures.hpp"

namespace seriesgate::from_store {
namespace {

using outcome = result<store_cardinality, std::string>;

constexpr std::size_t fault_bytes_max = 300;
/// VictoriaMetrics reads the index of a whole day.
constexpr std::chrono::seconds answer_limit{60};

program_about description() {
    return {.name = "seriesgate suggest",
            .purpose =
                "A first configuration for a gate before a Prometheus or VictoriaMetrics: it observes, with limits "
                "from the series that the store has.",
            .footer =
                "It prints to stdout: seriesgate suggest --from=http://127.0.0.1:9090 >seriesgate.yaml\n"
                "Exit status 1: there is none; stderr has the reason.",
            .see = "suggest --help",
            .flags = {{"--from", "URL", "of the store, without /api/v1, such as http://127.0.0.1:9090"},
                      {"--by", "LABEL", "each value gets a limit (default: namespace, job or metric)"}}};
}

std::string take_values(const parsed_flags& given, options& asked) {
    if (const auto label = given.values.find("--by"); label != given.values.end())
        asked.label = label->second == "metric" ? "__name__" : label->second;
    const auto url = given.values.find("--from");
    if (url == given.values.end()) return "--from: needs the store's URL, such as http://127.0.0.1:9090";
    asked.url = url->second;
    const bool is_http = asked.url.starts_with("http");
    const std::string wrong = top::parse_gate_url(asked.url, asked.at);
    if (is_http && wrong.empty()) return "";
    return "--from: " + (wrong.starts_with("must") ? wrong : "is not a URL such as http://127.0.0.1:9090");
}

std::string fault_of(const top::answer& got, bool has_credentials) {
    if (got.status == 401)
        return has_credentials ? "the store does not know these credentials (401)"
                               : "the store wants to know who asks (401): --username and --password-file, or "
                                 "--bearer-token-file, say it";
    if (got.status == 403) return "this user may not see the store's status (403)";
    if (got.status == 404)
        return "/api/v1/status/tsdb is not there (404): is this the root of a Prometheus or VictoriaMetrics?";
    const std::string error = top::error_in(got.body);
    return fmt::format("/api/v1/status/tsdb answers {}{}", got.status, error.empty() ? "" : ": " + error);
}

net::awaitable<outcome> read_from(top::gate_client& store, std::string target) {
    const auto got = co_await store.get(target);
    if (!got) co_return outcome{got.error()};
    if (got->status != 200) co_return outcome{fault_of(*got, store.has_credentials())};
    co_return read_status(got->body);
}

/// A day that has just begun says little: the larger of two counts.
net::awaitable<void> ask(top::gate_client& store, outcome& into) {
    std::string target = status_target("");
    into = co_await read_from(store, target);
    if (into && into->is_of_day) {
        target = status_target(fmt::format("{:%Y-%m-%d}", fmt::gmtime(wall_clock::now() - std::chrono::days{1})));
        outcome yesterday = co_await read_from(store, target);
        if (yesterday && yesterday->series > into->series) into = std::move(yesterday);
    }
}

std::string fault_of(const store_cardinality& store, const std::string& label) {
    if (store.series == 0 || store.metrics.empty())
        return "the store has no series yet, or has not counted them: ask again in a minute";
    if (groups_of(store, label).empty()) return "--by: the store names no series with the label " + in_quotes(label);
    return "";
}

}  // namespace

top::parsed_subcommand<options> parse_command_line(int argc, const char* const* argv) {
    return top::parse_subcommand(description(), argc, argv, take_values,
                                 options{{.agent = "seriesgate-suggest", .answer_limit = answer_limit}});
}

int run(const options& asked) {
    net::io_context io{1};
    top::gate_client store{io, asked};
    outcome found{std::string{}};
    top::run_to_end(io, ask(store, found));
    std::string fault = found ? "" : found.error();
    const std::string label = found && asked.label.empty() ? best_label(*found) : asked.label;
    if (found) fault = fault_of(*found, label);
    if (!fault.empty()) {
        fmt::print(stderr, "seriesgate suggest: {}: {}\n", printable(asked.url, fault_bytes_max),
                   printable(fault, fault_bytes_max));
        return 1;
    }
    top::client_options from = asked;
    for (std::string* const each : {&from.password_file, &from.bearer_token_file, &from.ca_file})
        if (!each->empty()) *each = std::filesystem::absolute(*each).string();  // the gate may run in another folder
    const std::string text = first_config(*found, label, from);
    const bool is_out = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!is_out) throw std::system_error{errno, std::generic_category(), "stdout"};
    return 0;
}

}  // namespace seriesgate::from_store
