// Every number that a state keeps of a series is a fingerprint: tests/golden/fingerprints.txt says what they are.
#include <cstdio>

#include "process/state_file.hpp"
#include "series/fingerprint.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/write_request.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate::testing::golden_fingerprints_test {
namespace {

const hash_key secret{"golden: a secret that everybody knows"};

using label_texts = std::vector<std::pair<std::string, std::string>>;

struct scene {
    std::string tenant{};
    std::vector<std::string> ignored{};
    label_texts labels{};
};

std::string hex(std::uint64_t number) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    return text;
}

/// On one line, and not too long a one.
std::string shown(std::string_view text) {
    std::string out;
    if (text.size() > 40) return out.append(1, text[0]).append("*").append(std::to_string(text.size()));
    for (const char c : text) {
        char escaped[5] = {c};
        if (c < ' ' || c == 0x7f) std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(c));
        out += escaped;
    }
    return out;
}

std::vector<label_view> views_of(const label_texts& labels) {
    std::vector<label_view> views;
    for (const auto& [name, value] : labels) views.push_back({name, value});
    return views;
}

std::uint64_t sum_of_v1(const scene& of) {
    std::string payload;
    for (const auto& [name, value] : of.labels) payload += label(name, value);
    const std::string body = len_field(1, payload + sample(1));
    write_request_reader reader{label_hasher{secret, of.ignored}};
    reader.reset(body);
    REQUIRE(reader.next());
    return reader.series().labels_hash;
}

std::uint64_t sum_of_v2(const scene& of) {
    std::string body = len_field(4, "");
    std::string refs;
    std::uint64_t ref = 0;
    for (const auto& [name, value] : of.labels) {
        body += len_field(4, name) + len_field(4, value);
        refs += varint(++ref);
        refs += varint(++ref);
    }
    body += len_field(5, len_field(1, refs) + sample(1));
    write_request_v2_reader reader{label_hasher{secret, of.ignored}};
    reader.reset(body);
    REQUIRE(reader.next());
    return reader.series().labels_hash;
}

std::string line_of(const scene& of) {
    label_hasher hasher{secret, of.ignored};
    const std::uint64_t sum = hasher(views_of(of.labels));
    std::string line;
    for (const auto& [name, value] : of.labels) line.append(" ").append(shown(name)).append("=").append(shown(value));
    for (const std::string& name : of.ignored) line += ", without " + name;
    if (!of.tenant.empty()) line += ", of tenant " + shown(of.tenant);
    CAPTURE(line);
    CHECK(sum_of_v1(of) == sum);
    CHECK(sum_of_v2(of) == sum);
    return "series " + hex(fingerprint_of(sum, tenant_key_of(of.tenant, secret))) + line + "\n";
}

std::string texts() {
    std::string out;
    // XXH3 goes different ways up to 3, 8, 16, 128, 240 bytes, and beyond.
    std::vector<std::string> all{"", "up", "job", "job2", "instance", "__name__"};
    for (const std::size_t size : {9u, 16u, 17u, 128u, 129u, 240u, 241u, 1025u}) all.emplace_back(size, 'x');
    for (const std::string& text : all)
        out += "text " + hex(text_hash(text, secret.secret())) + " " + shown(text) + "\n";
    return out;
}

std::string tenants() {
    std::string out;
    for (const std::string tenant : {"", "team-a", "team-b"}) {
        const tenant_key key = tenant_key_of(tenant, secret);
        out += "tenant " + hex(key.flip) + " " + hex(key.factor) + " " + tenant + "\n";
    }
    return out;
}

std::string all_series() {
    const label_texts plain{{"__name__", "up"}, {"instance", "a:9100"}, {"job", "node"}};
    const label_texts turned{{"job", "node"}, {"instance", "a:9100"}, {"__name__", "up"}};
    const label_texts with_empty{{"__name__", "up"}, {"instance", "a:9100"}, {"job", "node"}, {"zone", ""}};
    const label_texts swapped{{"__name__", "up"}, {"a:9100", "instance"}, {"job", "node"}};
    const label_texts replica{{"__name__", "up"}, {"instance", "a:9100"}, {"job", "node"}, {"replica", "1"}};
    const std::vector<scene> scenes{
        {.labels = plain},
        {.labels = turned},
        {.labels = with_empty},
        {.labels = swapped},
        {.labels = replica},
        {.ignored = {"replica"}, .labels = replica},
        {.ignored = {"replica", "job"}, .labels = replica},
        {.tenant = "team-a", .labels = plain},
        {.tenant = "team-b", .labels = plain},
        {.labels = {{"__name__", "up"}}},
        {.labels = {{"__name__", ""}}},
        {.labels = {{"a", "1"}, {"a", "1"}}},
        {.labels = {{"a", "1"}, {"a", "2"}}},
        {.labels = {{"a", "2"}, {"a", "1"}}},
        {.labels = {{"a", "1"}, {"a", ""}, {"a", "2"}}},
        {.labels = {{"a", "1"}, {"b", "1"}}},
        {.labels = {{"a", "\x01\x7f"}}},
        {.labels = {{"a", std::string(300, 'x')}, {std::string(130, 'n'), "1"}}},
    };
    std::string out;
    for (const scene& each : scenes) out += line_of(each);
    return out;
}

std::string families() {
    std::string out;
    label_hasher hasher{secret};
    for (const std::string name : {"latency_bucket", "latency_sum", "latency_count", "latency"}) {
        const label_texts labels{{"__name__", name}, {"job", "node"}, {"le", "0.5"}};
        const histogram_family family = hasher.family(views_of(labels), tenant_key_of("team-a", secret));
        out += "histogram " + hex(family.fingerprint) + (family.is_total ? " total " : " ") + name + "\n";
    }
    return out;
}

std::string identities() {
    std::string out = "secret " + hex(secret.identity()) + "\n";
    for (const std::vector<std::string>& ignored : {std::vector<std::string>{}, {"replica"}, {"b", "a"}, {"a", "b"}}) {
        out += "ignored labels " + hex(ignored_labels_identity(ignored));
        for (const std::string& name : ignored) out += " " + name;
        out += "\n";
    }
    return out;
}

TEST_CASE("fingerprints are those of the format's golden file, in both versions of remote write") {
    std::string content = "Fingerprints of state format " + std::to_string(state_file::format_version) + "\n\n";
    for (const auto& part : {identities(), texts(), tenants(), all_series(), families()}) content += part + "\n";
    content.pop_back();
    check_golden("fingerprints.txt", content);
}

}  // namespace
}  // namespace seriesgate::testing::golden_fingerprints_test
