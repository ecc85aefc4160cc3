#include "limit/offering.hpp"
#include "plan/planner.hpp"
#include "series/label.hpp"
#include "wire/wire_bytes.hpp"

namespace seriesgate::testing::distinguishing_labels_test {
namespace {

constexpr time_point noon = at(12);

using pairs = std::vector<std::pair<std::string, std::string>>;

std::string entry_of(const pairs& labels) {
    std::string fields;
    for (const auto& [name, value] : labels) fields += label(name, value);
    return series({fields, sample(1)});
}

std::string body_of(const std::vector<pairs>& all) {
    std::string body;
    for (const pairs& each : all) body += entry_of(each);
    return body;
}

/// A request before which some series were admitted, and nothing has room but those.
struct scene {
    series_limiter limiter;
    planner planning{hash_key::known_to_all()};
    std::string body;
    plan decided{};

    scene(const std::vector<pairs>& known, const std::vector<pairs>& sent, limit_mode mode = limit_mode::enforce)
        : limiter({.global = {.hourly = known.empty() ? 1 : known.size()}, .mode = mode}, noon) {
        const std::string first = body_of(known.empty() ? std::vector<pairs>{{{"__name__", "first"}}} : known);
        REQUIRE(planning(first, limiter, noon)->refused.samples == 0);
        body = body_of(sent);
        const auto made = planning(body, limiter, noon);
        REQUIRE(made.has_value());
        decided = *made;
    }

    std::vector<std::string> shown(std::size_t entry) {
        std::vector<std::string> names;
        for (const label_view& each : distinguishing_first(planning, entry)) names.emplace_back(each.name);
        return names;
    }
};

pairs pod(const std::string& number, const std::string& trace, const std::string& metric = "requests") {
    return {{"__name__", metric}, {"job", "shop"}, {"pod", "shop-" + number}, {"trace", trace}, {"zone", "a"}};
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("labels stand in the order in which they tell a refused series from others") {
    const names unsorted{"__name__", "job", "pod", "trace", "zone"};
    for (const auto& [sent, expected] : std::vector<std::pair<std::vector<pairs>, names>>{
             // What differs among series of a metric comes first, what differs from most of them before the rest.
             {{pod("1", "x"), pod("1", "y"), pod("1", "z")}, {"trace", "__name__", "job", "pod", "zone"}},
             {{pod("1", "x"), pod("1", "y"), pod("2", "z"), pod("1", "w")},
              {"trace", "pod", "__name__", "job", "zone"}},
             // Series of another metric count if there is none of this one.
             {{pod("1", "y"), pod("1", "x", "errors")}, {"__name__", "trace", "job", "pod", "zone"}},
             {{pod("1", "x"), pod("2", "x", "errors"), pod("1", "y")}, {"trace", "__name__", "job", "pod", "zone"}},
             // One that is alone, or sent twice, keeps its order.
             {{pod("1", "x")}, unsorted},
             {{pod("1", "x"), pod("1", "x")}, unsorted},
             // Without a name it is compared with others that have none.
             {{{{"job", "a"}, {"trace", "x"}}, {{"job", "a"}, {"trace", "y"}}}, {"trace", "job"}}})
        CHECK(scene{{}, sent}.shown(0) == expected);
}

TEST_CASE("a value that no known series has comes before one that differs from more of them") {
    const pairs old = pod("1", ""), other = pod("2", ""), third = pod("3", "");
    scene at{{old, other, third}, {old, other, pod("3", "x"), third}};
    CHECK(at.shown(2) == names{"trace", "pod", "__name__", "job", "zone"});
    // The pod differs from two of three, the trace from all; but also when all are alike in it:
    scene same{{old, other}, {old, pod("2", "x"), pod("2", "x"), other}};
    CHECK(same.shown(1).front() == "trace");
}

TEST_CASE("the nearest 32 are compared, and none beyond") {
    const auto with = [](const std::string& a, const std::string& b) {
        return pairs{{"__name__", "m"}, {"a", a}, {"b", b}};
    };
    std::vector<pairs> sent{with("0", "far")};
    for (int i = 0; i < 16; ++i) sent.push_back(with("near", "0"));
    for (int i = 0; i < 2; ++i) sent.push_back(with("0", "0"));  // itself, twice
    for (int i = 0; i < 16; ++i) sent.push_back(with("0", "near"));
    CHECK(scene{{}, sent}.shown(17) == names{"a", "b", "__name__"});
}

TEST_CASE("in observe mode what was let through is compared with what was known") {
    pairs old = pod("1", "");
    scene at{{old}, {old, pod("1", "x"), pod("1", "y")}, limit_mode::observe};
    REQUIRE(at.decided.observed_by.size() == 1);
    CHECK(at.shown(at.decided.observed_by[0].first.entry).front() == "trace");
}

TEST_CASE("whatever else there is, the label that differs is shown, in 256 bytes") {
    random_numbers random{14};
    for (int round = 0; round < 300; ++round) {
        pairs common{{"__name__", std::string(1 + random.below(random.one_in(4) ? 500 : 40), 'm')}};
        if (random.one_in(8)) common.clear();
        for (std::uint64_t i = 0, count = random.below(30); i < count; ++i)
            common.emplace_back("label" + std::to_string(i), std::string(1 + random.below(80), 'v'));
        const std::string differing = "culprit" + std::to_string(random.below(1000));
        const std::size_t place = random.below(common.size() + 1);
        const std::size_t value_bytes = random.below(200);
        std::vector<pairs> all;
        for (int i = 0; i < 10; ++i) {
            pairs one = common;
            one.insert(one.begin() + static_cast<std::ptrdiff_t>(place),
                       {differing, std::to_string(i) + std::string(value_bytes, 'x') + std::to_string(i)});
            all.push_back(std::move(one));
        }
        scene at{{}, all};
        const std::size_t entry = random.below(10);
        const std::string text = to_text(distinguishing_first(at.planning, entry), 256);
        CAPTURE(text, differing);
        const std::string shown = "{" + differing + "=\"" + std::to_string(entry);
        REQUIRE(text.find(shown) != std::string::npos);
        REQUIRE(text.size() < 400);
    }
}

TEST_CASE("a giant is neither sorted nor compared with, for a sender may cause many, and has all its labels") {
    pairs giant = pod("1", "y");
    for (int i = 0; i < 20; ++i) giant.push_back({"a" + std::to_string(i), std::string(1000, 'a')});
    scene at{{}, {giant, pod("1", "x"), pod("2", "x")}};
    names as_sent;
    for (const auto& each : giant) as_sent.push_back(each.first);
    CHECK(at.shown(0) == as_sent);
    CHECK(at.shown(1).front() == "pod");  // and not what differs from the giant
}

}  // namespace seriesgate::testing::distinguishing_labels_test
