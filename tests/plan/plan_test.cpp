#include "plan/planner.hpp"

#include <bit>
#include <random>

#include "claim/store_questions.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "plan/requests.hpp"
#include "support/catch.hpp"
#include "wire/splice.hpp"
#include "wire/translation.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/wire_bytes_v2.hpp"

namespace seriesgate::testing::plan_test {
namespace {

limit_rules limited_to(std::uint64_t max) {
    return {.global = {.hourly = max}};
}

/// A gate of its own for every test, at noon.
struct gate {
    series_limiter limiter;
    planner plan_request{hash_key::known_to_all()};

    explicit gate(const limit_rules& settings) : limiter{settings, noon} {}

    plan of(const std::string& body, protocol version = protocol::v1) {
        const auto made = plan_request(body, limiter, noon, {}, version);
        REQUIRE(made.has_value());
        return *made;
    }
    plan of(const prometheus::WriteRequest& request) { return of(request.SerializeAsString()); }
};

std::string spliced(const std::string& body, const plan& made) {
    std::string out;
    splice(body, made.removed, out);
    return out;
}

/// One series with a label that a planner may ignore.
std::string with_replica(const std::string& job, const std::string& replica) {
    prometheus::WriteRequest request;
    auto& label = *add_series(request, job).add_labels();
    label.set_name("replica");
    label.set_value(replica);
    return request.SerializeAsString();
}

std::uint64_t counted(distinct_counter& counter, const std::vector<std::uint64_t>& fingerprints) {
    counter.start();
    for (const auto each : fingerprints) counter.add(each);
    return counter.count();
}

/// What tells whether a request has left a trace.
struct trace {
    std::uint64_t commits, hourly, daily, samples_refused;
    friend bool operator==(const trace&, const trace&) = default;

    static trace of(const series_limiter& limiter) {
        const auto figures = figures_of(limiter);
        return {figures.commits, figures.hourly.series_current, figures.daily.series_current,
                figures.hourly.samples_refused + figures.daily.samples_refused};
    }
};

}  // namespace

TEST_CASE("a request of which nothing is refused goes on unchanged") {
    gate gate{limited_to(GENERATE(std::uint64_t{0}, std::uint64_t{10}))};
    const auto made = gate.of(request_of(0, 10));
    CHECK(made.forward == body_action::unchanged);
    CHECK(made.received.samples == 10);
    CHECK(made.refused.samples == 0);
    CHECK(made.refused_series == 0);
    CHECK(made.removed.empty());
    CHECK(made.refused_by.empty());
    CHECK(figures_of(gate.limiter).hourly.series_current == 10);
}

TEST_CASE("an empty request goes on unchanged") {
    gate gate{limited_to(1)};
    const auto made = gate.of(std::string{});
    CHECK(made.forward == body_action::unchanged);
    CHECK(made.received.samples == 0);
    CHECK(trace::of(gate.limiter) == trace{});
}

TEST_CASE("metadata is never limited") {
    prometheus::WriteRequest request;
    for (int i = 0; i < 3; ++i) request.add_metadata()->set_metric_family_name("up");
    gate gate{limited_to(1)};
    SECTION("alone") {
        const auto made = gate.of(request);
        CHECK(made.forward == body_action::unchanged);
        CHECK(made.metadata == 3);
    }
    SECTION("it is forwarded when every series beside it is refused") {
        gate.of(request_of(0, 1));
        *request.mutable_timeseries() = request_of(10, 5).timeseries();
        const auto body = request.SerializeAsString();
        const auto made = gate.of(body);
        CHECK(made.forward == body_action::spliced);
        CHECK(made.refused_series == 5);
        request.clear_timeseries();
        CHECK(parsed(spliced(body, made)).SerializeAsString() == request.SerializeAsString());
    }
}

TEST_CASE("an entry without data always passes and is never counted, in both versions") {
    gate gate{limited_to(1)};
    gate.of(request_of(0, 1));
    const auto before = trace::of(gate.limiter);
    prometheus::WriteRequest request = request_of(10, 2);
    add_series(request, "empty").clear_samples();
    SECTION("version 1") {
        const auto body = request.SerializeAsString();
        const auto made = gate.of(body);
        CHECK(made.forward == body_action::spliced);
        CHECK(made.refused_series == 2);
        CHECK(made.empty_entries == 1);
        request.mutable_timeseries()->DeleteSubrange(0, 2);
        CHECK(spliced(body, made) == request.SerializeAsString());
        CHECK(gate.of(request).forward == body_action::unchanged);
    }
    SECTION("version 2") {
        // __name__="m", with metadata: its help is "m".
        const std::string symbols{"\x22\0\x22\x08__name__\x22\x01m", 15};
        const std::string empty{"\x2a\x08\x0a\x02\x01\x02\x2a\x02\x18\x02"};
        const std::string sampled{"\x2a\x06\x0a\x02\x01\x02\x12\x00", 8};
        CHECK(gate.of(symbols + empty, protocol::v2).forward == body_action::unchanged);
        const std::string body = symbols + empty + sampled;
        const auto made = gate.of(body, protocol::v2);
        CHECK(made.forward == body_action::spliced);
        CHECK(made.refused_series == 1);
        CHECK(spliced(body, made) == symbols + empty);
        CHECK(gate.of(symbols + sampled, protocol::v2).forward == body_action::nothing);
    }
    CHECK(figures_of(gate.limiter).hourly.series_current == before.hourly);
}

TEST_CASE("the memory of a giant is given back, that of usual requests is kept") {
    gate gate{limited_to(100)};
    gate.of(request_of(0, 100));
    const auto usual = gate.plan_request.bytes();
    gate.plan_request.shrink();
    CHECK(gate.plan_request.bytes() > 0);
    gate.of(request_of(0, 300'000));
    CHECK(gate.plan_request.bytes() > 100 * usual);
    gate.plan_request.shrink();
    CHECK(gate.plan_request.bytes() < 100 * usual);
    CHECK(gate.of(request_of(0, 100)).forward == body_action::unchanged);
}

TEST_CASE("a request that asks too much of the rules changes nothing") {
    limit_rules settings = limited_to(2);
    settings.limits.resize(64);
    for (auto& limit : settings.limits) {
        limit.match = *parse_selector("{job=~\"(x+y?)+\"}");
        limit.maxima.hourly = 1;
    }
    gate gate{settings};
    gate.of(request_of(0, 3));
    const auto before = trace::of(gate.limiter);
    const std::string pad(60'000, 'x');
    prometheus::WriteRequest request = request_of(0, 3);
    for (int i = 0; i < 70; ++i) add_series(request, pad + std::to_string(i));
    const auto made = gate.plan_request(request.SerializeAsString(), gate.limiter, noon);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == wire_errc::rule_work_over_limit);
    CHECK(trace::of(gate.limiter) == before);
    request.mutable_timeseries()->DeleteSubrange(13, 60);
    CHECK(gate.of(request).refused_series == 11);
}

TEST_CASE("a request of which everything is refused goes nowhere") {
    gate gate{limited_to(1)};
    gate.of(request_of(0, 1));
    const auto made = gate.of(request_of(10, 5));
    CHECK(made.forward == body_action::nothing);
    CHECK(made.received.samples == 5);
    CHECK(made.refused.samples == 5);
    CHECK(made.refused_series == 5);
    CHECK(made.removed.size() == 5);
}

TEST_CASE("what is left of a partly refused request is the request without the refused series, in order") {
    gate gate{limited_to(3)};
    prometheus::WriteRequest request = request_of(0, 6);
    add_series(request, "1");
    add_series(request, "4");
    add_series(request, "0");
    const auto body = request.SerializeAsString();
    const auto made = gate.of(body);
    CHECK(made.forward == body_action::spliced);
    CHECK(made.received.samples == 9);
    CHECK(made.refused.samples == 4);
    CHECK(made.refused_series == 3);  // "4" stands there twice

    prometheus::WriteRequest wanted = request_of(0, 3);
    add_series(wanted, "1");
    add_series(wanted, "0");
    CHECK(spliced(body, made) == wanted.SerializeAsString());
    // The next request is planned anew, with nothing left over of this one.
    CHECK(gate.of(request_of(0, 3)).removed.empty());
    CHECK(gate.of(request_of(0, 3)).refused_series == 0);
}

TEST_CASE("samples count histograms in, and exemplars are counted apart") {
    prometheus::WriteRequest request;
    auto& first = add_series(request, "a");
    first.add_samples()->set_value(2);
    first.add_histograms()->set_sum(1);
    first.add_exemplars()->set_value(1);
    auto& second = add_series(request, "b");
    second.clear_samples();
    second.add_histograms()->set_sum(1);
    second.add_histograms()->set_sum(2);
    second.add_exemplars()->set_value(1);
    second.add_exemplars()->set_value(2);

    gate gate{limited_to(1)};
    const auto made = gate.of(request);
    CHECK(made.received.samples == 5);
    CHECK(made.received.histograms == 3);
    CHECK(made.received.exemplars == 3);
    CHECK(made.refused.samples == 2);
    CHECK(made.refused.histograms == 2);
    CHECK(made.refused.exemplars == 2);
    CHECK(figures_of(gate.limiter).hourly.samples_refused == 2);
}

TEST_CASE("a stale marker or exemplar of a series that nobody admitted is dropped and costs no slot") {
    prometheus::WriteRequest request;
    add_series(request, "marker", std::bit_cast<double>(stale_marker_bits));
    auto& exemplar = add_series(request, "exemplar");
    exemplar.clear_samples();
    exemplar.add_exemplars()->set_value(1);
    auto& histogram = add_series(request, "histogram");
    histogram.clear_samples();
    histogram.add_histograms()->set_sum(std::bit_cast<double>(stale_marker_bits));

    gate gate{limited_to(1)};
    const auto made = gate.of(request);
    CHECK(made.forward == body_action::nothing);
    CHECK(made.refused_series == 3);
    CHECK(made.refused_unknown_entries == 3);
    CHECK(made.refused_unknown_samples == 2);
    CHECK(made.refused.samples == 2);
    CHECK(made.refused.exemplars == 1);
    CHECK(made.refused_by.empty());  // no budget refused them
    CHECK(trace::of(gate.limiter) == trace{});
    // Another NaN than the stale marker is a sample like any other.
    prometheus::WriteRequest nan;
    add_series(nan, "marker", std::bit_cast<double>(0x7ff8000000000001));
    CHECK(gate.of(nan).forward == body_action::unchanged);
    CHECK(figures_of(gate.limiter).hourly.series_current == 1);
}

TEST_CASE("a malformed request changes nothing, wherever it is cut") {
    prometheus::WriteRequest request = request_of(0, 3);
    request.mutable_timeseries(1)->add_histograms()->add_positive_deltas(5);
    request.mutable_timeseries(2)->add_exemplars()->add_labels()->set_name("trace_id");
    request.add_metadata()->set_help("about up");
    const auto body = request.SerializeAsString();

    gate gate{limited_to(2)};
    gate.of(request_of(10, 3));
    const auto before = trace::of(gate.limiter);
    std::size_t complete = 0;
    for (std::size_t size = 0; size < body.size(); ++size) {
        const auto cut = body.substr(0, size);
        if (prometheus::WriteRequest{}.ParseFromString(cut)) {  // between two records
            ++complete;
            continue;
        }
        const auto made = gate.plan_request(cut, gate.limiter, noon);
        if (made.has_value()) FAIL("planned what is cut at " << size);
        if (trace::of(gate.limiter) != before) FAIL("counted what is cut at " << size);
    }
    CHECK(complete == 4);
}

TEST_CASE("one malformed byte at the end, and the series before it are not counted either") {
    const auto body = request_of(0, 1'000).SerializeAsString() + "\x0c";
    gate gate{limited_to(5)};
    const auto made = gate.plan_request(body, gate.limiter, noon);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == wire_errc::group);
    CHECK(trace::of(gate.limiter) == trace{});
    // And the planner is as good as new.
    CHECK(gate.of(request_of(0, 5)).forward == body_action::unchanged);
}

TEST_CASE("a body that is read step by step is read as at once, and labels in no order make the steps shorter") {
    const auto steps_of = [](const std::string& body) {
        planner planning{hash_key::known_to_all()};
        planning.begin(body, "", protocol::v1);
        int steps = 1;
        while (planning.read_on()) ++steps;
        planner whole{hash_key::known_to_all()};
        CHECK(whole.read(body, "", protocol::v1).code == planning.read_error().code);
        CHECK(std::ranges::equal(planning.offered(), whole.offered(), {}, &offered_series::fingerprint,
                                 &offered_series::fingerprint));
        return steps;
    };
    const std::string ordered = request_of(0, 1'000).SerializeAsString();
    CHECK(steps_of(ordered) == 1);
    std::string large;
    while (large.size() < 5u << 20) large += ordered;
    CHECK(steps_of(large) == 6);
    CHECK(steps_of(large + "\x0c") == 6);
    prometheus::WriteRequest unordered;
    auto& series = *unordered.add_timeseries();
    for (int i = 0; i < 500; ++i)
        for (const char* name : {"b", "a"}) series.add_labels()->set_name(name);
    series.add_samples()->set_value(1);
    const std::string one = unordered.SerializeAsString();
    std::string body;
    for (int i = 0; i < 100; ++i) body += one;
    REQUIRE(body.size() < 1u << 20);
    CHECK(steps_of(body) > 5);
}

TEST_CASE("a series that breaks a rule is left out alone, and takes no place in a limit") {
    const auto nameless = [](double value) {
        prometheus::WriteRequest request;
        auto& series = *request.add_timeseries();
        series.add_labels()->set_value("a label without a name");
        series.add_samples()->set_value(value);
        return request.SerializeAsString();
    };
    const auto good = request_of(0, 3).SerializeAsString();
    const std::string body = nameless(1) + good + nameless(2);
    gate gate{limited_to(2)};
    const plan made = gate.of(body);
    CHECK(made.forward == body_action::spliced);
    CHECK(made.left_out_series == 2);
    CHECK(made.left_out.samples == 2);
    CHECK(made.refused.samples == 1);
    CHECK(made.received.samples == 5);
    CHECK(made.accepted().samples == 2);
    REQUIRE(made.removed.size() == 3);
    CHECK(made.removed[0] == byte_range{0, static_cast<std::uint32_t>(nameless(1).size())});
    CHECK(made.removed[0].end() < made.removed[1].offset);
    CHECK(made.removed[1].end() == made.removed[2].offset);
    CHECK(figures_of(gate.limiter).hourly.series_current == 2);
    CHECK(spliced(body, made) == good.substr(0, made.removed[1].offset - made.removed[0].size));

    SECTION("and where nothing else is in the request, nothing goes on") {
        const plan of_alone = gate.of(nameless(1));
        CHECK(of_alone.forward == body_action::nothing);
        CHECK(of_alone.refused_series == 0);
    }
}

TEST_CASE("a value that has no room in one day and has it in the next does not count apart there") {
    const std::vector<std::string> ignored{"replica"};
    limit_rules rules = limited_to(100);
    rules.incumbent_grace = {};
    rules.ignores_labels = true;
    rules.ignored_values_max = 1;
    const time_point midnight = noon + 12h;
    series_limiter limiter{rules, midnight - 10min};
    planner planning{hash_key::known_to_all(), ignored};
    REQUIRE(
        planning(with_replica("a", "one"), limiter, midnight - 2min).has_value());  // takes the only room for a value

    const std::string plain = with_replica("a", "");
    REQUIRE(planning.read(plain, {}, protocol::v1).code == wire_errc::none);
    const std::uint64_t without_label = planning.fingerprint_at(0);
    const std::string body = with_replica("a", "two");
    REQUIRE(planning.read(body, {}, protocol::v1).code == wire_errc::none);
    fleet_view view;
    store_questions to_ask{hash_key::known_to_all()};
    request_tickets holds;
    const auto ask_at = [&](time_point now) {
        return planning.collect_questions(limiter, {.view = view, .now = now, .steady = {}}, {}, to_ask, holds).code;
    };
    REQUIRE(ask_at(midnight - 1min) == wire_errc::none);
    CHECK(planning.fingerprint_at(0) != without_label);
    REQUIRE(ask_at(midnight) == wire_errc::none);
    CHECK(planning.fingerprint_at(0) == without_label);
}

TEST_CASE("a series that counts apart passes for as long as the hour knows it, though its value finds room") {
    limit_rules rules = limited_to(3);
    rules.ignores_labels = true;
    rules.ignored_values_max = 1;
    series_limiter limiter{rules, noon};
    planner planning{hash_key::known_to_all(), {"replica"}};
    const auto refused = [&](const std::string& job, const std::string& replica, time_point now) {
        const std::string body = with_replica(job, replica);
        const auto made = planning(body, limiter, now);
        REQUIRE(made.has_value());
        return made->refused.samples;
    };
    CHECK(refused("a", "one", noon) == 0);
    CHECK(refused("b", "two", noon) == 0);
    CHECK(refused("c", "two", noon) == 0);
    CHECK(figures_of(limiter).hourly.series_refused == 0);  // values are no series
    SECTION("by a reload") {
        rules.ignored_values_max = 10;
        limiter.reconfigure(rules);
        CHECK(refused("b", "one", noon) == 1);  // and is remembered, by the fingerprint without the label
        CHECK(refused("b", "two", noon) == 0);
    }
    SECTION("by the end of the grace") {
        CHECK(refused("b", "two", noon + 1h) == 0);
        CHECK(refused("c", "two", noon + 1h) == 0);
        CHECK(refused("b", "two", noon + 1h + 11min) == 0);
        CHECK(refused("c", "two", noon + 1h + 11min) == 0);
    }
}

TEST_CASE("histograms that differ in an ignored label beyond its values are two") {
    limit_rules rules = limited_to(3);
    rules.ignores_labels = rules.whole_histograms = true;
    rules.ignored_values_max = 1;
    rules.histogram_series_max = 3;
    series_limiter limiter{rules, noon};
    planner planning{hash_key::known_to_all(), {"replica"}};
    const auto refused = [&](const std::string& replica, int first, int last) {
        std::string body;
        for (int le = first; le <= last; ++le)
            body += testing::series({testing::label("__name__", "h_bucket"), testing::label("le", std::to_string(le)),
                                     testing::label("replica", replica), testing::sample(1)});
        const auto made = planning(body, limiter, noon);
        REQUIRE(made.has_value());
        return made->refused.samples;
    };
    CHECK(refused("one", 1, 3) == 0);
    CHECK(refused("two", 1, 4) == 4);
    CHECK(figures_of(limiter).hourly.series_cut == 0);
    CHECK(refused("one", 4, 4) == 0);
}

TEST_CASE("a value that the hour knows counts for nothing, though others with it ask too much of the rules") {
    limit_rules rules = limited_to(1);
    rules.ignores_labels = true;
    series_limiter limiter{rules, noon};
    planner planning{hash_key::known_to_all(), {"replica"}};
    const std::string tenant(1'000, 't');
    const std::string known = with_replica("x", "one");
    REQUIRE(planning(known, limiter, noon, tenant).has_value());
    std::string body;
    const std::size_t others = 450'000;
    for (std::size_t i = 0; i < others; ++i) body += with_replica("y", std::to_string(i));
    body += known;
    const auto made = planning(body, limiter, noon, tenant);
    REQUIRE(made.has_value());
    CHECK(made->received.samples == others + 1);
    CHECK(made->refused.samples == others);
    CHECK(planning.verdict_of(others) == verdict::known);
}

TEST_CASE("metadata that names a metric again and again is in what a translation may take") {
    std::string body = symbols({"", "__name__", std::string(100'000, 'x')});
    for (std::uint64_t type = 1; type <= 20; ++type) body += entry({refs({1, 2}), len_field(5, varint_field(1, type))});
    planner planning{hash_key::known_to_all()};
    REQUIRE(planning.read(body, {}, protocol::v2).code == wire_errc::none);
    std::string translated;
    translator{hash_key::known_to_all()}(body, {}, translated);
    CHECK(translated.size() > 3'900'000);
    CHECK(translated.size() <= planning.filled_in_bytes(body));
}

TEST_CASE("in a fleet a request asks its store, and what it hears decides") {
    limit_rules rules = limited_to(100);
    series_limiter limiter{rules, noon, hash_key::known_to_all(), limit_scope::fleet, set_kind::exact};
    fleet_view view;
    view.begin("epoch", {.hour = hour_number(noon)});
    view.set_state(store_reach::joined);
    planner planning{hash_key::known_to_all()};
    store_questions to_ask{hash_key::known_to_all()};
    request_tickets holds;
    const std::string body = request_of(0, 3).SerializeAsString();
    const auto ask_at = [&](time_point now) {
        REQUIRE(planning.read(body, {}, protocol::v1).code == wire_errc::none);
        REQUIRE(planning.collect_questions(limiter, {.view = view, .now = now, .steady = {}}, {}, to_ask, holds).code ==
                wire_errc::none);
        return to_ask.calls();
    };
    const auto calls = ask_at(noon);
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].fingerprints.size() == 3);
    CHECK_FALSE(planning.is_outdated(limiter, noon));
    SECTION("the answer") {
        store_answer answer{.series = std::vector<series_decision>(3, {.outcome = store_outcome::taken}),
                            .budgets = std::vector<budget_in_store>(1)};
        answer.series[1].outcome = store_outcome::refused;
        const std::vector<std::optional<store_answer>> answers{answer};
        const auto made = planning.apply_fleet_decision(
            limiter, noon, {}, to_ask.decide(answers, [](auto) { return decision_outcome::withheld; }));
        REQUIRE(made.has_value());
        CHECK(made->refused_series == 1);
        CHECK(planning.verdict_of(1) == verdict::refused_hourly);
        CHECK(ask_at(noon).empty());  // all are known or refused
        CHECK_FALSE(holds.asking);
        CHECK_FALSE(planning.is_outdated(limiter, noon + 1h));
    }
    SECTION("another hour, or other rules, are noticed") {
        CHECK(planning.is_outdated(limiter, noon + 1h));
        ask_at(noon + 1h);
        CHECK_FALSE(planning.is_outdated(limiter, noon + 1h));
        limiter.reconfigure(rules);
        CHECK(planning.is_outdated(limiter, noon + 1h));
    }
    SECTION("what it holds says whether series of the hour before pass") {
        CHECK(holds.asking);
        CHECK(holds.accepting);  // in the grace
        ask_at(noon + 10min);
        CHECK(holds.asking);
        CHECK_FALSE(holds.accepting);
        view.set_state(store_reach::away);
        ask_at(noon + 10min);
        CHECK(holds.accepting);
    }
}

TEST_CASE("different fingerprints are counted, from one use to the next") {
    distinct_counter counter;
    CHECK(counted(counter, {}) == 0);
    CHECK(counted(counter, {0}) == 1);
    CHECK(counted(counter, {0, 0, 5, 0, 5}) == 2);
    CHECK(counted(counter, {7}) == 1);
    std::mt19937_64 random{1};
    for (const std::size_t count : {3u, 100u, 5000u}) {
        std::vector<std::uint64_t> fingerprints;
        for (std::size_t i = 0; i < count; ++i) fingerprints.push_back(random() % count);
        CHECK(counted(counter, fingerprints) ==
              std::set<std::uint64_t>(fingerprints.begin(), fingerprints.end()).size());
        for (auto& each : fingerprints) each = random();
        CHECK(counted(counter, fingerprints) == count);
    }
}

TEST_CASE("fingerprints that were made to collide are counted all the same, and soon") {
    std::vector<std::uint64_t> fingerprints;
    for (std::uint64_t i = 0; i < 200'000; ++i) fingerprints.push_back(i << 32);
    distinct_counter counter;
    CHECK(counted(counter, fingerprints) == 200'000);
}

}  // namespace seriesgate::testing::plan_test
