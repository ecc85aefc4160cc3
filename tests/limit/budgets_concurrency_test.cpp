// Many threads with several tenants and groups, while others reload, save and maintain.
#include <atomic>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "limit/limiter.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

namespace seriesgate::testing::budgets_concurrency_test {
namespace {

constexpr unsigned thread_count = 6;
constexpr std::uint64_t pool = sanitized ? 400 : 3'000;  ///< series of one tenant in one namespace

const std::vector<std::string> tenants{"a", "b", "c"};
const std::vector<std::string> namespaces{"shop", "bank", "mill", "yard"};

/// `raise`: a reload may only raise, or a budget would be over its limit by right.
limit_rules limits_of(std::uint64_t raise) {
    limit_rules settings{.global = {.hourly = 7 * pool + raise}, .false_positive_rate = 1e-9};
    settings.tenants.fallback = {.hourly = 3 * pool + raise, .daily = 0};
    settings.tenants.overrides = {{"a", {.hourly = pool, .daily = pool + raise}}};
    label_limit limit = limit_named("per-namespace", {"namespace"}, {.hourly = 2 * pool, .daily = 3 * pool + raise});
    limit.groups_max = 2;
    settings.limits = {limit};
    return settings;
}

using accepted_series = std::map<std::pair<std::string, std::string>, std::unordered_set<std::uint64_t>>;

/// Sends random parts of what there is, and keeps what was accepted, by tenant and namespace.
class sender {
    series_limiter& limiter_;
    lookup_result scratch_;
    std::vector<offered_series> offered_;
    std::vector<verdict> verdicts_;
    shown_labels labels_;
    std::mutex guard_;
    accepted_series accepted_;

  public:
    random_numbers random;

    sender(series_limiter& limiter, std::uint64_t seed) : limiter_(limiter), random(seed) {}

    void offer(std::size_t count, time_point now) {
        const std::string& tenant = tenants[random.below(tenants.size())];
        const std::string& space = namespaces[random.below(namespaces.size())];
        const batch sent{.tenant = tenant, .labels = {{"namespace", space}}};
        offered_.resize(count);
        for (auto& entry : offered_)
            entry = {.fingerprint = fingerprint_in(sent, random.below(pool)), .samples = 1, .admits = true};
        labels_.entries.assign(count, views_of(sent.labels));
        verdicts_.assign(count, verdict::unknown);
        limiter_.decide(offered_, now, verdicts_, scratch_, {.tenant = tenant, .labels = &labels_});
        const std::scoped_lock lock{guard_};
        auto& mine = accepted_[{tenant, space}];
        for (std::size_t i = 0; i < count; ++i)
            if (is_accepted(verdicts_[i])) mine.insert(offered_[i].fingerprint);
    }

    [[nodiscard]] accepted_series accepted() {
        const std::scoped_lock lock{guard_};
        return accepted_;
    }
};

/// What all accepted together.
accepted_series accepted_by(std::vector<std::unique_ptr<sender>>& senders) {
    accepted_series all;
    for (auto& one : senders)
        for (auto& [whose, series] : one->accepted()) all[whose].insert(series.begin(), series.end());
    return all;
}

std::vector<std::unique_ptr<sender>> senders_of(series_limiter& limiter) {
    std::vector<std::unique_ptr<sender>> senders;
    for (unsigned i = 0; i < thread_count; ++i) senders.push_back(std::make_unique<sender>(limiter, i));
    return senders;
}

/// Sends until destroyed, at most so many requests a thread.
class traffic {
    std::atomic<bool> done_{false};
    std::vector<std::thread> threads_;

  public:
    traffic(std::vector<std::unique_ptr<sender>>& senders, int requests) {
        for (auto& one : senders)
            threads_.emplace_back([this, &one, requests] {
                for (int i = 0; i < requests && !done_; ++i) one->offer(100, at(10));
            });
    }
    void join() {
        for (auto& thread : threads_)
            if (thread.joinable()) thread.join();
    }
    ~traffic() {
        done_ = true;
        join();
    }
};

/// Budgets that are over their limits.
std::uint64_t exceeded(const limiter_figures& figures) {
    std::uint64_t count = 0;
    const auto look = [&](std::uint64_t current, std::uint64_t max) { count += max != 0 && current > max ? 1 : 0; };
    look(figures.hourly.series_current, figures.hourly.series_max);
    for (const auto* all : {&figures.tenants, &figures.limits})
        for (const budget_figures& each : *all) {
            look(each.hourly.series_current, each.hourly.series_max);
            look(each.daily.series_current, each.daily.series_max);
        }
    return count;
}

/// Every budget counts the distinct series that were accepted for it.
void check_counts(const labelled_offering& gate, const accepted_series& accepted) {
    std::map<std::string, std::uint64_t> of_tenant;
    std::map<std::string, std::uint64_t> of_namespace;
    std::uint64_t all = 0;
    for (const auto& [whose, series] : accepted) {
        of_tenant[whose.first] += series.size();
        of_namespace[whose.second] += series.size();
        all += series.size();
    }
    CHECK(gate.hourly().series_current == all);
    CHECK(gate.daily().series_current == all);
    for (const auto& [tenant, count] : of_tenant) {
        CHECK(gate.hourly(tenant_id(tenant)).series_current == count);
        CHECK(gate.daily(tenant_id(tenant)).series_current == count);
    }
    std::uint64_t shared = 0;  // two of the namespaces, whichever came late
    for (const auto& [space, count] : of_namespace) {
        const budget_id id{.limit = "per-namespace", .group = {{"namespace", space}}};
        if (gate.has(id))
            CHECK(gate.hourly(id).series_current == count);
        else
            shared += count;
    }
    CHECK(gate.hourly(overflow_of("per-namespace")).series_current == shared);
    CHECK(gate.daily(overflow_of("per-namespace")).series_current == shared);
}

}  // namespace

TEST_CASE("while threads send, reload, save and maintain, no budget is exceeded and each counts what was accepted") {
    labelled_offering gate{limits_of(0), at(10)};
    auto senders = senders_of(gate.limiter);
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> wrong{0};
    std::uint64_t saves = 0;
    std::thread maintaining{[&] {
        while (!done) {
            gate.limiter.maintain(at(10));
            wrong += exceeded(figures_of(gate.limiter));
        }
    }};
    std::thread saving{[&] {
        while (!done) {
            saves += saved(gate.limiter).empty() ? 0 : 1;  // a reload that comes in between ends it
        }
    }};
    {
        traffic sending{senders, sanitized ? 150 : 1'500};
        for (std::uint64_t raise = 0; raise < (sanitized ? 30u : 300u); ++raise) {
            gate.limiter.reconfigure(limits_of(raise));
            std::this_thread::yield();
        }
        sending.join();
    }
    done = true;
    maintaining.join();
    saving.join();
    CHECK(wrong == 0);
    CHECK(saves > 0);
    check_counts(gate, accepted_by(senders));
    // The tightest budgets are full to the last place.
    CHECK(gate.hourly(tenant_id("a")).series_current == pool);
}

TEST_CASE("what was admitted before a save began is known to who restores it, and is what the budgets count") {
    labelled_offering gate{limits_of(0), at(10)};
    auto senders = senders_of(gate.limiter);
    std::vector<std::pair<accepted_series, std::string>> snapshots;
    {
        traffic sending{senders, sanitized ? 400 : 4'000};
        for (int i = 0; i < (sanitized ? 3 : 8); ++i) {
            auto before = accepted_by(senders);
            snapshots.emplace_back(std::move(before), saved(gate.limiter));
        }
        sending.join();
    }
    const accepted_series all = accepted_by(senders);
    for (const auto& [before, bytes] : snapshots) {
        labelled_offering other{limits_of(0), at(10)};
        REQUIRE(restored(other.limiter, bytes, at(10)));
        CHECK(exceeded(figures_of(other.limiter)) == 0);
        // A marker passes if its series is known.
        accepted_series known;
        std::uint64_t lost = 0;
        for (const auto& [whose, series] : all)
            for (const std::uint64_t fingerprint : series) {
                other.offered.assign(1, {.fingerprint = fingerprint, .samples = 1, .admits = false});
                other.verdicts.assign(1, verdict::unknown);
                other.limiter.decide(other.offered, at(10), other.verdicts, other.scratch, {.tenant = whose.first});
                if (is_accepted(other.verdicts[0])) known[whose].insert(fingerprint);
            }
        for (const auto& [whose, series] : before)
            for (const std::uint64_t fingerprint : series) lost += known[whose].contains(fingerprint) ? 0 : 1;
        CHECK(lost == 0);
        if (other.has(overflow_of("per-namespace"))) check_counts(other, known);
    }
    CHECK(snapshots.back().first.size() > 0);
}

}  // namespace seriesgate::testing::budgets_concurrency_test
