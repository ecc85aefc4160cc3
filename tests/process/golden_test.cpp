// Files that hold what must not change by accident. Every number that a state keeps of a series is a fingerprint:
// tests/golden/fingerprints.txt says what they are. tests/golden/state has a state file of the present format, and what
// became of those before.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "process/state_file.hpp"
#include "series/fingerprint.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/source_tree.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/write_request.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate::testing::golden_test {
namespace {

std::filesystem::path golden_path(std::string_view name) {
    return source_tree() / "tests/golden" / name;
}

/// Checks that a golden file has this content. With SERIESGATE_WRITE_GOLDEN=1 in the environment it is written.
void check_golden(std::string_view name, const std::string& content) {
    const auto path = golden_path(name);
    if (std::getenv("SERIESGATE_WRITE_GOLDEN") != nullptr) write_file(path, content);
    INFO(path.string() << " is not what this code makes: see tests/golden/README.md");
    CHECK((content == read_file(path)));  // in parentheses: nobody wants to read 100 KiB
}

const hash_key secret{"golden: a secret that everybody knows"};

using label_texts = std::vector<std::pair<std::string, std::string>>;

struct labelled {
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

std::uint64_t sum_of_v1(const labelled& of) {
    std::string payload;
    for (const auto& [name, value] : of.labels) payload += label(name, value);
    const std::string body = len_field(1, payload + sample(1));
    write_request_reader reader{label_hasher{secret, of.ignored}};
    reader.reset(body);
    REQUIRE(reader.next());
    return reader.series().labels_hash;
}

std::uint64_t sum_of_v2(const labelled& of) {
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

std::string line_of(const labelled& of) {
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
    const std::vector<labelled> scenes{
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
    for (const labelled& each : scenes) out += line_of(each);
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

std::string identity_lines() {
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
    for (const auto& part : {identity_lines(), texts(), tenants(), all_series(), families()}) content += part + "\n";
    content.pop_back();
    check_golden("fingerprints.txt", content);
}

constexpr time_point day = std::chrono::sys_days{std::chrono::year{2026} / 11 / 20};
/// In the grace of an hour that follows one with incumbents.
constexpr time_point saved_at = day + 11h + 5min;

const std::string golden_file = "state/format-" + std::to_string(state_file::format_version);

state_file::identities identities() {
    return {.ignored_labels = ignored_labels_identity({"replica"}), .secret = secret.identity()};
}

/// Something of everything: the global limit, tenants with and without an override, groups, a limit that observes, what
/// is exempt, whole histograms.
limit_rules rules() {
    limit_rules made{.global = {.hourly = 60, .daily = 100}, .false_positive_rate = 0.5};
    made.tenants.fallback = {.hourly = 10, .daily = 20};
    made.tenants.overrides = {{"team-a", {.hourly = 40, .daily = 80}}};
    label_limit by_namespace;
    by_namespace.name = "per-namespace";
    by_namespace.each = {"namespace"};
    by_namespace.maxima = {.hourly = 8, .daily = 30};
    label_limit watching;
    watching.name = "watching";
    watching.maxima = {.hourly = 5, .daily = 6};
    watching.mode = limit_mode::observe;
    made.limits = {by_namespace, watching};
    made.exempt = {*parse_selector("{__name__=\"vital\"}")};
    made.whole_histograms = true;
    return made;
}

struct request : label_source {
    std::string tenant;
    std::vector<label_texts> series;

    request(std::string of, std::vector<label_texts> all) : tenant(std::move(of)), series(std::move(all)) {}

    std::span<const label_view> labels(std::size_t entry) override { return views_ = views_of(series[entry]); }
    histogram_family family(std::size_t, std::span<const label_view> of) override {
        return hasher_.family(of, tenant_key_of(tenant, secret));
    }
    [[nodiscard]] std::uint64_t fingerprint(std::size_t entry) {
        return fingerprint_of(hasher_(labels(entry)), tenant_key_of(tenant, secret));
    }

  private:
    std::vector<label_view> views_;
    label_hasher hasher_{secret, {"replica"}};
};

/// How many of its series are accepted.
std::uint64_t offer(series_limiter& limiter, request sent, time_point now) {
    std::vector<offered_series> offered;
    for (std::size_t i = 0; i < sent.series.size(); ++i)
        offered.push_back({.fingerprint = sent.fingerprint(i), .samples = 1, .admits = true});
    std::vector<verdict> verdicts(offered.size());
    lookup_result scratch;
    limiter.decide(offered, now, verdicts, scratch, {.tenant = sent.tenant, .labels = &sent});
    return static_cast<std::uint64_t>(std::ranges::count_if(verdicts, is_accepted));
}

/// Series of one metric and namespace, numbered.
request gauges(std::string tenant, const std::string& name, const std::string& space, int first, int count) {
    std::vector<label_texts> made;
    for (int i = first; i < first + count; ++i)
        made.push_back({{"__name__", name}, {"namespace", space}, {"pod", std::to_string(i)}, {"replica", "1"}});
    return {std::move(tenant), std::move(made)};
}

/// Ten buckets, sum and count.
request histogram(std::string tenant) {
    std::vector<label_texts> made;
    for (int bound = 1; bound <= 10; ++bound)
        made.push_back({{"__name__", "latency_bucket"}, {"le", std::to_string(bound)}, {"namespace", "bank"}});
    made.push_back({{"__name__", "latency_sum"}, {"namespace", "bank"}});
    made.push_back({{"__name__", "latency_count"}, {"namespace", "bank"}});
    return {std::move(tenant), std::move(made)};
}

/// From half past ten to five past eleven.
void play(series_limiter& limiter) {
    CHECK(offer(limiter, gauges("team-a", "up", "shop", 0, 6), day + 10h + 30min) == 6);
    CHECK(offer(limiter, gauges("team-b", "up", "mill", 0, 9), day + 10h + 30min) == 8);  // per-namespace
    CHECK(offer(limiter, gauges("team-b", "vital", "mill", 0, 3), day + 10h + 30min) == 3);
    CHECK(offer(limiter, gauges("team-a", "up", "shop", 0, 2), day + 11h + 4min) == 2);
    CHECK(offer(limiter, gauges("team-a", "up", "shop", 20, 9), saved_at) == 2);  // four are reserved
    CHECK(offer(limiter, histogram("team-a"), saved_at) == 12);                   // four beyond the limit
    CHECK(offer(limiter, gauges("team-c", "vital", "", 0, 2), saved_at) == 2);
}

std::string saved(series_limiter& limiter) {
    const scratch_directory directory;
    const state_directory held{directory / "state.d"};
    REQUIRE(state_file{held, identities()}.save(limiter).result == state_file::save_result::saved);
    return read_file(directory / "state.d/state");
}

state_file::load_outcome load(series_limiter& limiter, const std::string& bytes) {
    const scratch_directory directory;
    const state_directory held{directory / "state.d"};
    write_file(directory / "state.d/state", bytes);
    return state_file{held, identities()}.load(limiter, saved_at);
}

/// The figures on lines: `team-b hourly 8/10 refused 1, daily ...`.
std::string text_of(const budget_window_figures& of) {
    return std::to_string(of.series_current) + "/" + std::to_string(of.series_max) + " refused " +
           std::to_string(of.series_refused);
}
std::string text_of(const window_figures& of) {
    return std::to_string(of.series_current) + "/" + std::to_string(of.series_max) + " refused " +
           std::to_string(of.series_refused) + " samples " + std::to_string(of.samples_refused) + " over " +
           std::to_string(of.series_over_limit);
}
std::vector<std::string> lines_of(const limiter_figures& of) {
    std::vector<std::string> lines{
        "hour " + text_of(of.hourly), "day " + text_of(of.daily),
        "exempt " + std::to_string(of.exempt_hourly) + " " + std::to_string(of.exempt_daily)};
    for (const budget_figures& each : of.tenants)
        lines.push_back("tenant " + each.name.tenant + ": " + text_of(each.hourly) + ", " + text_of(each.daily));
    for (const budget_figures& each : of.limits) {
        std::string line = each.name.limit;
        for (const auto& [label, value] : each.name.group) line.append(" ").append(label).append("=").append(value);
        lines.push_back(line + ": " + text_of(each.hourly) + ", " + text_of(each.daily));
    }
    std::sort(lines.begin() + 3, lines.end());
    return lines;
}

TEST_CASE("the same scene saves the same bytes: those of the format's golden file") {
    series_limiter limiter{rules(), day + 10h, secret};
    play(limiter);
    const std::string bytes = saved(limiter);
    check_golden(golden_file, bytes);
    CHECK(saved(limiter) == bytes);

    series_limiter again{rules(), day + 10h, secret};
    play(again);
    CHECK((saved(again) == bytes));
}

TEST_CASE("the golden state loads: every count, what is known, and what is reserved") {
    series_limiter limiter{rules(), saved_at, secret};
    REQUIRE(load(limiter, read_file(golden_path(golden_file))).reason.empty());
    const std::vector<std::string> expected{
        "hour 16/60 refused 7 samples 7 over 4",
        "day 28/100 refused 0 samples 0 over 0",
        "exempt 2 5",
        "exempt: 0/100000 refused 0, 3/100000 refused 0",
        "exempt: 2/100000 refused 0, 2/100000 refused 0",  // of team-a, and of team-c
        "per-namespace namespace=bank: 12/8 refused 0, 12/30 refused 0",
        "per-namespace namespace=mill: 0/8 refused 0, 8/30 refused 0",
        "per-namespace namespace=shop: 4/8 refused 7, 8/30 refused 0",
        "tenant team-a: 16/40 refused 0, 20/80 refused 0",
        "tenant team-b: 0/10 refused 0, 8/20 refused 0",
        "watching: 5/5 refused 21, 6/6 refused 30",
    };
    CHECK(lines_of(figures_of(limiter)) == expected);

    const auto known = [&](const request& sent) { return offer(limiter, sent, saved_at) == sent.series.size(); };
    CHECK(known(gauges("team-a", "up", "shop", 0, 2)));
    CHECK(known(histogram("team-a")));
    CHECK(known(gauges("team-c", "vital", "", 0, 2)));
    CHECK(lines_of(figures_of(limiter)) == expected);  // so nothing of that was new

    CHECK(offer(limiter, gauges("team-a", "up", "shop", 30, 3), saved_at) == 0);  // what is left is reserved
    CHECK(offer(limiter, gauges("team-a", "up", "shop", 2, 4), saved_at) == 4);   // for these
    CHECK(offer(limiter, gauges("team-a", "up", "shop", 2, 4), saved_at) == 4);
    CHECK(offer(limiter, gauges("team-a", "up", "elsewhere", 0, 9), saved_at) == 8);
}

TEST_CASE("a loaded golden state is saved with the same size, and from then on with the same bytes") {
    const std::string golden = read_file(golden_path(golden_file));
    const auto saved_again = [](const std::string& bytes) {
        series_limiter limiter{rules(), saved_at, secret};
        REQUIRE(load(limiter, bytes).reason.empty());
        return saved(limiter);
    };
    // Not the same bytes: in a limit that observes, series that came in while room was reserved count as within it.
    const std::string first = saved_again(golden);
    CHECK(first.size() == golden.size());
    CHECK((saved_again(first) == first));
}

TEST_CASE("a state of a format before is refused with its number, and everything begins anew") {
    std::size_t seen = 0;
    for (const auto& file : std::filesystem::directory_iterator{golden_path("state")}) {
        const std::string name = file.path().filename().string();
        if (golden_file == "state/" + name) continue;
        CAPTURE(name);
        REQUIRE(name.starts_with("format-"));
        series_limiter limiter{rules(), saved_at, secret};
        const auto outcome = load(limiter, read_file(file.path()));
        CHECK(outcome.result == state_file::load_result::refused);
        const std::string reason = "has format " + name.substr(7) + ", this version of seriesgate reads format " +
                                   std::to_string(state_file::format_version) + " only";
        CHECK(outcome.reason.ends_with("/state.d/state: " + reason));
        CHECK(figures_of(limiter).hourly.series_current == 0);
        ++seen;
    }
    CHECK(seen == 2);
    const std::string page = read_file(source_tree() / "docs/operation.md");
    CHECK(page.find("The format is " + std::to_string(state_file::format_version) + ".") != std::string::npos);
}

}  // namespace
}  // namespace seriesgate::testing::golden_test
