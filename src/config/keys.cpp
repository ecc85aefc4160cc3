// The table of keys: what each is called, where its value goes, what it may be.
#include <array>
#include <charconv>
#include <system_error>

#include "config/config.hpp"
#include "config/endpoint.hpp"
#include "config/units.hpp"
#include "config/wording.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

template <typename Value>
struct range {
    Value min;
    Value max;
};

// A bound for slips of the finger only; memory runs out long before (3 bytes a series).
constexpr std::uint64_t series_max = 1'000'000'000'000;
constexpr unsigned threads_max = 1024;
constexpr range<double> rates{1e-9, 0.5};
constexpr range<std::chrono::milliseconds> graces{0ms, 1h};
constexpr range<std::chrono::milliseconds> timeouts{1ms, 1h};
constexpr range<std::chrono::milliseconds> idle_timeouts{1ms, 24h};
// Below 2 GiB, the most a protobuf message may have.
constexpr range<std::uint64_t> body_sizes{1, 1ull << 30};
constexpr range<std::uint64_t> inflight_sizes{1, 1ull << 40};

bool all_digits(std::string_view text) noexcept {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

template <typename Integer>
std::string assign_count(std::string_view text, Integer max, Integer& target) {
    if (text.starts_with('-') && all_digits(text.substr(1))) return in_quotes(text) + " is negative";
    // Some YAML readers take 010 for 8, so a leading zero is no number here.
    if (!all_digits(text) || (text.size() > 1 && text.starts_with('0')))
        return in_quotes(text) + " is not a whole number";
    Integer value = 0;
    const auto error = std::from_chars(text.data(), text.data() + text.size(), value).ec;
    if (error != std::errc{} || value > max) return in_quotes(text) + " is too large, at most " + std::to_string(max);
    target = value;
    return "";
}

std::string assign_rate(std::string_view text, double& target) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
        return in_quotes(text) + " is not a number such as 0.0001";
    }
    const bool inside = error == std::errc{} && value >= rates.min && value <= rates.max;
    if (!inside) return in_quotes(text) + " is not between 0.000000001 and 0.5";
    target = value;
    return "";
}

std::string assign_duration(std::string_view text, range<std::chrono::milliseconds> bounds,
                            std::chrono::milliseconds& target) {
    if (text.starts_with('-') && parse_duration(text.substr(1))) return in_quotes(text) + " is negative";
    const auto value = parse_duration(text);
    if (!value) return in_quotes(text) + " is not a duration such as 500ms, 25s, 10m or 1h30m";
    if (*value < bounds.min) return in_quotes(text) + " is too short, at least " + format_duration(bounds.min);
    if (*value > bounds.max) return in_quotes(text) + " is too long, at most " + format_duration(bounds.max);
    target = *value;
    return "";
}

std::string assign_seconds(std::string_view text, range<std::chrono::milliseconds> bounds,
                           std::chrono::seconds& target) {
    std::chrono::milliseconds value{};
    if (auto wrong = assign_duration(text, bounds, value); !wrong.empty()) return wrong;
    if (value % 1s != 0ms) return in_quotes(text) + " is not in whole seconds";
    target = std::chrono::duration_cast<std::chrono::seconds>(value);
    return "";
}

std::string assign_size(std::string_view text, range<std::uint64_t> bounds, std::uint64_t& target) {
    if (text.starts_with('-') && parse_size(text.substr(1))) return in_quotes(text) + " is negative";
    const auto value = parse_size(text);
    if (!value) return in_quotes(text) + " is not a size such as 4096, 512KiB, 32MiB or 1GB";
    if (*value < bounds.min) return in_quotes(text) + " is too small, at least " + format_size(bounds.min);
    if (*value > bounds.max) return in_quotes(text) + " is too large, at most " + format_size(bounds.max);
    target = *value;
    return "";
}

constexpr std::array keys{
    config_key{"listen", "ADDR", "address to serve on, such as 0.0.0.0:9201 or :9201",
               [](std::string_view text, config& target) { return parse_listen(text, target.listen); }},
    config_key{"upstream.url", "URL", "where accepted samples go: http://host:port/path, or discard: to only count",
               [](std::string_view text, config& target) { return parse_upstream_url(text, target.upstream); }},
    config_key{
        "upstream.timeout", "", "",
        [](std::string_view text, config& target) { return assign_duration(text, timeouts, target.upstream.timeout); }},
    config_key{
        "maxHourlySeries", "N", "new series admitted in one hour (UTC); 0: no limit",
        [](std::string_view text, config& target) { return assign_count(text, series_max, target.series_hourly_max); }},
    config_key{
        "maxDailySeries", "N", "new series admitted in one day (UTC); 0: no limit",
        [](std::string_view text, config& target) { return assign_count(text, series_max, target.series_daily_max); }},
    config_key{"falsePositiveRate", "", "",
               [](std::string_view text, config& target) { return assign_rate(text, target.false_positive_rate); }},
    config_key{
        "incumbentGrace", "", "",
        [](std::string_view text, config& target) { return assign_seconds(text, graces, target.incumbent_grace); }},
    config_key{"server.maxRequestBytes", "", "",
               [](std::string_view text, config& target) {
                   return assign_size(text, body_sizes, target.server.body_bytes_max);
               }},
    config_key{"server.maxDecodedBytes", "", "",
               [](std::string_view text, config& target) {
                   return assign_size(text, body_sizes, target.server.decoded_bytes_max);
               }},
    config_key{"server.maxInflightBytes", "", "",
               [](std::string_view text, config& target) {
                   return assign_size(text, inflight_sizes, target.server.inflight_bytes_max);
               }},
    config_key{
        "server.threads", "", "",
        [](std::string_view text, config& target) { return assign_count(text, threads_max, target.server.threads); }},
    config_key{"server.readTimeout", "", "",
               [](std::string_view text, config& target) {
                   return assign_duration(text, timeouts, target.server.read_timeout);
               }},
    config_key{"server.idleTimeout", "", "",
               [](std::string_view text, config& target) {
                   return assign_duration(text, idle_timeouts, target.server.idle_timeout);
               }},
    config_key{"server.drainTimeout", "", "",
               [](std::string_view text, config& target) {
                   return assign_duration(text, timeouts, target.server.drain_timeout);
               }},
};

}  // namespace

std::span<const config_key> config_keys() noexcept {
    return keys;
}

}  // namespace seriesgate
