// Random requests under random rules, with reloads and restarts, decided by the limiter and by an exact model.
#include <sstream>

#include "limit/budgets_model.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "limit/random_scenes.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"
#include "support/near.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Distinct refused series are counted one by one up to 64, then estimated.
bool is_count_of(std::uint64_t shown, const series_set& exact) {
    return exact.size() <= 64 ? shown == exact.size() : is_near(shown, exact.size(), 0.03);
}

/// What differs, in words; empty if nothing does.
class difference {
    std::ostringstream text_;

  public:
    [[nodiscard]] std::string text() const { return text_.str(); }

    void numbers(const std::string& what, std::uint64_t shown, std::uint64_t expected) {
        if (shown != expected) text_ << what << " is " << shown << ", not " << expected << "; ";
    }
    void refused(const std::string& what, std::uint64_t shown, const series_set& expected) {
        if (!is_count_of(shown, expected)) numbers(what + " refused", shown, expected.size());
    }
    void budget(const std::string& what, const budget_window_figures& shown, const model_budget& expected) {
        numbers(what + " max", shown.series_max, expected.max);
        numbers(what + " current", shown.series_current, expected.current());
        refused(what, shown.series_refused, expected.refused);
    }
    void window(const std::string& what, const window_figures& shown, const model_budget& global,
                const budgets_model::window& expected, bool observed) {
        if (shown.span != expected.span) text_ << what << " is another; ";
        numbers(what + " max", shown.series_max, global.max);
        numbers(what + " current", shown.series_current, global.current());
        numbers(what + " over limit", shown.series_over_limit, expected.over_limit);
        numbers(what + " samples refused", shown.samples_refused, expected.samples_refused);
        refused(what + " cut", shown.series_cut, expected.cut);
        refused(what, shown.series_refused, observed ? global.refused : expected.refused);
    }
};

std::string text_of(const budget_id& id) {
    std::string text = id.limit + " of tenant '" + id.tenant + "'";
    for (const auto& [name, value] : id.group) text += " " + name + "=" + value;
    return id.overflow ? text + " overflow" : text;
}

std::string difference_of(const limiter_figures& shown, const budgets_model& model) {
    difference found;
    const model_book& book = model.book();
    const bool observed = book.settings().mode == limit_mode::observe;
    found.window("hour", shown.hourly, book.global().hourly, model.hour(), observed);
    found.window("day", shown.daily, book.global().daily, model.day(), observed);
    found.numbers("exempt hourly", shown.exempt_hourly, book.exempt().first);
    found.numbers("exempt daily", shown.exempt_daily, book.exempt().second);
    auto expected = book.budgets();
    found.numbers("number of budgets", shown.tenants.size() + shown.limits.size(), expected.size());
    for (const auto* all : {&shown.tenants, &shown.limits})
        for (const budget_figures& each : *all) {
            const std::string name = text_of(id_of(each));
            const auto of = expected.extract(id_of(each));
            found.numbers(name + " is there", 1, of.empty() ? 0 : 1);
            if (of.empty()) continue;
            found.numbers(name + " mode", static_cast<std::uint64_t>(each.mode),
                          static_cast<std::uint64_t>(of.mapped()->mode));
            found.budget(name + " hourly", each.hourly, of.mapped()->hourly);
            found.budget(name + " daily", each.daily, of.mapped()->daily);
        }
    return found.text();
}

/// One admission and its model through a random life.
class life {
    random_numbers random_;
    random_rules rules_{random_};
    const universe& universe_;
    limit_rules settings_ = rules_.first();
    time_point now_ = at(static_cast<int>(random_.below(24)));
    set_kind set_ = random_.one_in(2) ? set_kind::exact : set_kind::bloom;
    std::unique_ptr<series_limiter> gate_ = make_gate();
    budgets_model model_{settings_, now_};
    lookup_result scratch_;
    shown_labels labels_;
    std::vector<offered_series> offered_;
    std::vector<verdict> verdicts_;

  public:
    std::uint64_t offered_count = 0;
    std::uint64_t refused_count = 0;
    std::uint64_t hours = 0;
    std::uint64_t over_count = 0;

    life(std::uint64_t seed, const universe& of) : random_(seed), universe_(of) { note_active(); }

    void request() {
        const window_span hour = model_.hour().span;
        const std::uint64_t over_limit = model_.hour().over_limit;
        now_ = random_step(now_, random_);
        if (set_ == set_kind::exact || random_.one_in(4)) {
            gate_->maintain(now_);
            note_active();
            model_.maintain(now_);
        }
        if (random_.one_in(120)) reload();
        if (random_.one_in(150)) restart();
        offer();
        hours += model_.hour().span != hour ? 1 : 0;
        over_count += model_.hour().span != hour ? over_limit : 0;
        if (model_.hour().span != hour || random_.one_in(12)) compare();
    }
    void compare() const {
        CHECK(figures_of(*gate_).hourly.span == model_.hour().span);
        CAPTURE(now_.time_since_epoch().count());
        REQUIRE(difference_of(figures_of(*gate_), model_) == "");
    }

  private:
    [[nodiscard]] std::unique_ptr<series_limiter> make_gate() const {
        return std::make_unique<series_limiter>(settings_, now_, hash_key::known_to_all(), limit_scope::gate, set_);
    }
    void offer() {
        const std::size_t tenant = std::min(random_.below(7), random_.below(7));
        universe_.fill(tenant, now_, random_, offered_, labels_);
        offered_count += offered_.size();
        verdicts_.assign(offered_.size(), verdict::unknown);
        const std::string& name = universe_.tenants[tenant];
        labels_.tenant = name;
        gate_->decide(offered_, now_, verdicts_, scratch_, {.tenant = name, .labels = &labels_});
        const auto expected = model_.decide(offered_, now_, name, labels_);
        for (std::size_t i = 0; i < offered_.size(); ++i) {
            CAPTURE(i, name, offered_[i].admits);
            if (verdicts_[i] != expected[i]) REQUIRE(static_cast<int>(verdicts_[i]) == static_cast<int>(expected[i]));
            refused_count += is_accepted(expected[i]) ? 0 : 1;
        }
    }
    /// Active series are none of this model's; active_series_test has an oracle of them.
    void note_active() {
        const limiter_figures shown = figures_of(*gate_);
        model_.book().active.clear();
        model_.counts_active = shown.active.has_value();
        for (const auto* all : {&shown.tenants, &shown.limits})
            for (const budget_figures& each : *all)
                if (each.active) model_.book().active.insert(id_of(each));
    }
    void reload() {
        settings_ = rules_.reload(settings_);
        gate_->reconfigure(settings_);
        model_.reconfigure(settings_);
        if (set_ == set_kind::exact) gate_->maintain(now_);  // known series find their budgets anew from here on
        compare();
    }
    void restart() {
        const std::string bytes = saved(*gate_);
        REQUIRE(!bytes.empty());
        if (random_.one_in(2)) set_ = set_ == set_kind::bloom ? set_kind::exact : set_kind::bloom;
        gate_ = make_gate();
        REQUIRE(restored(*gate_, bytes, now_));
        note_active();
        model_.restart(now_);
        compare();
    }
};

/// A core of series that keep coming, a fringe that comes and goes with the hour, and an explosion now and then.
std::vector<offered_series> random_request(time_point now, random_numbers& random) {
    const auto epoch = static_cast<std::uint64_t>(hour_of(now).start.time_since_epoch() / 1h);
    const bool explosion = random.one_in(4);
    std::vector<offered_series> offered(1 + random.below(280));
    for (std::size_t i = 0; i < offered.size(); ++i) {
        auto& entry = offered[i];
        if (i > 0 && random.one_in(20)) {
            entry.fingerprint = offered[random.below(i)].fingerprint;  // again in the same request
        } else if (explosion) {
            entry.fingerprint = fingerprint_of(1'000'000 + epoch * 10'000 + random.below(3'000));
        } else {
            const bool fringe = random.one_in(3);
            entry.fingerprint =
                fingerprint_of(fringe ? 10'000 + epoch / 2 * 300 + random.below(600) : random.below(500));
        }
        entry.admits = !random.one_in(10);
        entry.samples = static_cast<std::uint32_t>(random.below(3));
    }
    return offered;
}

}  // namespace

TEST_CASE("under any rules, reloads and restarts, every verdict and figure is that of an exact model", "[both]") {
    const universe all;
    const std::uint64_t lives = sanitized ? 6 : 24;
    const std::uint64_t entries = sanitized ? 15'000 : 50'000;
    std::uint64_t offered = 0;
    std::uint64_t refused = 0;
    std::uint64_t hours = 0;
    std::uint64_t over = 0;
    for (std::uint64_t seed = 0; seed < lives; ++seed) {
        CAPTURE(seed);
        life one{seed, all};
        while (one.offered_count < entries) {
            CAPTURE(one.offered_count);
            one.request();
        }
        one.compare();
        offered += one.offered_count;
        refused += one.refused_count;
        hours += one.hours;
        over += one.over_count;
    }
    // It was worth the while: a good part was refused, a good part was not, and many windows ended.
    CAPTURE(offered, refused, hours, over);
    CHECK(refused > offered / 10);
    CHECK(refused < offered * 9 / 10);
    CHECK(hours > 3 * lives);
    CHECK(over > offered / 1'000);
}

TEST_CASE("under the global limits alone every request is decided as by the model") {
    const auto settings = GENERATE(values<limit_rules>({
        {.global = {.hourly = 900, .daily = 0}},
        {.global = {.hourly = 0, .daily = 2'500}},
        {.global = {.hourly = 700, .daily = 3'000}},
        {.global = {.hourly = 600, .daily = 800}, .incumbent_grace = 1h},
        {.global = {.hourly = 1'000, .daily = 2'000}, .incumbent_grace = 0s},
        {.global = {.hourly = 1, .daily = 1}},
        {.global = {.hourly = 0, .daily = 0}},
    }));
    CAPTURE(settings.global.hourly, settings.global.daily, settings.incumbent_grace.count());
    const std::uint64_t entries = sanitized ? 30'000 : 150'000;
    random_numbers random{settings.global.hourly + settings.global.daily};
    time_point now = at(0);
    offering gate{settings, now};
    budgets_model model{settings, now};
    shown_labels none;
    std::uint64_t refused = 0;
    std::uint64_t hours = 0;
    for (std::uint64_t offered_count = 0; offered_count < entries;) {
        now = random_step(now, random);
        const auto offered = random_request(now, random);
        offered_count += offered.size();
        hours += gate.hourly().span != hour_of(now) ? 1 : 0;
        if (random.one_in(3)) {
            gate.limiter.maintain(now);
            model.maintain(now);
        }
        const auto counted = gate.offer(offered, now);
        refused += counted.refused_hourly + counted.refused_daily + counted.refused_unknown;
        none.entries.resize(offered.size());
        CAPTURE(offered_count, now.time_since_epoch().count());
        // At this fill a false positive is expected once in 10^12 lookups: not one difference is allowed.
        REQUIRE((gate.verdicts == model.decide(offered, now, "", none)));
        REQUIRE(difference_of(figures_of(gate.limiter), model) == "");
    }
    CAPTURE(hours, refused);
    CHECK(hours >= (sanitized ? 2 : 10));
    CHECK((refused > entries / 20) == (settings.global.hourly != 0 || settings.global.daily != 0));
}
