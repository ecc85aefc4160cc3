/// The budgets of the model: which apply to a series, what their rules are, and when they come and go.
#pragma once

#include <unordered_set>

#include "limit/labelled.hpp"

namespace seriesgate::testing {

using series_set = std::unordered_set<std::uint64_t>;

/// A reservation of a budget that cannot know its incumbents.
inline constexpr std::uint64_t all_room = ~std::uint64_t{0};

/// One budget in one window.
struct model_budget {
    std::uint64_t max = 0;
    std::uint64_t margin = 0;  ///< beyond it
    series_set counted{};
    series_set over{};     ///< completed a histogram without room, or came back in the margin
    series_set beyond{};   ///< admitted without room, by a budget that only observes
    series_set refused{};  ///< found no room
    std::uint64_t reserved = 0;

    [[nodiscard]] bool fits(bool incumbent) const {
        return max == 0 || (counted.size() < max && (incumbent || reserved < max - counted.size()));
    }
    [[nodiscard]] bool has_room(bool incumbent) const {
        return fits(incumbent) || (incumbent && current() < max + margin);
    }
    /// For what completes a histogram.
    [[nodiscard]] bool has_margin() const { return current() < max + margin && reserved < max + margin - current(); }
    /// @return whether it is over the maximum.
    bool take(std::uint64_t fingerprint, bool incumbent, bool enforced) {
        const bool is_over = !fits(incumbent) && enforced;
        (fits(incumbent) ? counted : is_over ? over : beyond).insert(fingerprint);
        if (incumbent && reserved > 0 && reserved != all_room) --reserved;
        return is_over;
    }
    /// Rules come (at a reload, or with a snapshot): room goes to those first that are in without.
    void rule(std::uint64_t new_max, std::uint64_t new_margin) {
        max = new_max;
        margin = new_margin;
        reserve(reserved);
        while (!beyond.empty() && (max == 0 || counted.size() < max)) counted.insert(beyond.extract(beyond.begin()));
    }
    void reserve(std::uint64_t incumbents) {
        reserved = incumbents;
        while (!over.empty() && fits(false)) counted.insert(over.extract(over.begin()));
    }
    void begin(std::uint64_t incumbents) { *this = {.max = max, .margin = margin, .reserved = incumbents}; }
    [[nodiscard]] std::uint64_t admitted() const { return current() + beyond.size(); }
    [[nodiscard]] std::uint64_t current() const { return counted.size() + over.size(); }
};

struct model_pair {
    limit_mode mode = limit_mode::enforce;
    model_budget hourly{};
    model_budget daily{};
};

class model_book {
  public:
    /// Where a series counts: a budget that is always there, or one of a family.
    struct place {
        model_pair* fixed = nullptr;
        budget_id id{};
    };

    explicit model_book(const limit_rules& written) : settings_(with_exempt_limit(written)) {
        const limit_rules& settings = settings_;
        families_.emplace(std::string{}, family{});
        for (const label_limit& limit : settings.limits) families_.emplace(limit.name, family{});
        rule();
    }

    /// Budgets keep their counts while name, labels and whether they are the tenants' own stay. Where others series are
    /// theirs than before, they have not counted all of them in this hour.
    void reconfigure(const limit_rules& written) {
        const limit_rules settings = with_exempt_limit(written);
        std::map<std::string, family> kept;
        kept.emplace(std::string{}, std::move(families_[""]));
        const auto names = [](const tenant_limits& tenants) {
            std::vector<std::string> all;
            for (const auto& [name, maxima] : tenants.overrides) all.push_back(name);
            return all;
        };
        if (kept[""].overflow && (settings.tenants.tenants_max != settings_.tenants.tenants_max ||
                                  names(settings.tenants) != names(settings_.tenants)))
            kept[""].whole_since = hour_ + 1;
        const auto groups = [](const label_limit& limit) {
            std::vector<group_labels> all;
            for (const group_override& each : limit.overrides) all.push_back(each.group);
            return all;
        };
        for (const label_limit& limit : settings.limits) {
            const label_limit* const old = limit_named(limit.name);
            const bool same = old != nullptr && old->each == limit.each && old->per_tenant == limit.per_tenant;
            family& of = kept.emplace(limit.name, same ? std::move(families_[limit.name]) : family{}).first->second;
            if (!same || old->match != limit.match ||
                (of.overflow && (old->groups_max != limit.groups_max || groups(*old) != groups(limit))))
                of.whole_since = hour_ + 1;
        }
        families_ = std::move(kept);
        if (settings.exempt != settings_.exempt) {
            whole_since_ = hour_ + 1;
            for (auto& [name, of] : families_) of.whole_since = hour_ + 1;
        }
        settings_ = settings;
        if (reserving_) {
            const auto keep_all = [this](model_pair& pair, std::uint64_t whole_since) {
                if (whole_since < hour_) return;
                pair.hourly.reserve(all_room);
                if (day_began_) pair.daily.reserve(all_room);
            };
            keep_all(global_, whole_since_);
            for (auto& [name, of] : families_) {
                for (auto& [id, pair] : of.own) keep_all(pair, of.whole_since);
                if (of.overflow) keep_all(*of.overflow, of.whole_since);
            }
        }
        rule();
    }

    /// Unused budgets that stay, because they have active series.
    std::set<budget_id> active{};

    /// Budgets expect the series that they counted in the hour before, if those are all that are theirs.
    void begin_hour(bool follows, bool in_grace, bool day_ends) {
        drop_unused(day_ends);
        hour_ += follows ? 1 : 2;
        reserving_ = in_grace;
        day_began_ = day_ends;
        const auto begin = [&](model_pair& pair, std::uint64_t whole_since) {
            const std::uint64_t known = whole_since < hour_ ? pair.hourly.admitted() : all_room;
            const std::uint64_t expected = in_grace ? known : 0;
            pair.hourly.begin(expected);
            if (day_ends) pair.daily.begin(expected);
        };
        begin(global_, whole_since_);
        for (auto& [name, of] : families_) {
            of.overflow_was_used = of.overflow && follows && of.overflow->hourly.admitted() != 0;
            for (auto& [id, pair] : of.own) begin(pair, of.whole_since);
            if (of.overflow) begin(*of.overflow, of.whole_since);
        }
    }
    void end_grace() {
        reserving_ = false;
        for_each([](model_pair& pair) {
            pair.hourly.reserve(0);
            pair.daily.reserve(0);
        });
    }

    /// Whether a budget that is not there yet keeps all its room for incumbents, in the hour and in the day.
    std::pair<bool, bool> spent_for_new_series(const place& at) {
        if (at.fixed != nullptr || expected_by_new(at) == 0) return {};
        const bool observes = settings_.mode == limit_mode::observe || mode_for(at.id) == limit_mode::observe;
        if (observes && at.id.limit != "exempt") return {};
        const series_maxima maxima = maxima_for(shares(at) ? overflow_of(at.id.limit) : at.id);
        return {maxima.hourly != 0, day_began_ && maxima.daily != 0};
    }

    /// All budgets as the rules have them.
    void rule() {
        rule(global_, {.hourly = settings_.global.hourly, .daily = settings_.global.daily}, limit_mode::enforce);
        for (auto& [name, of] : families_) {
            for (auto& [id, pair] : of.own) rule(pair, id);
            if (of.overflow) rule(*of.overflow, overflow_of(name));
        }
    }

    std::vector<place> places_of(std::string_view tenant, std::span<const label_view> labels) {
        std::vector<place> places{{.fixed = &global_}, {.id = tenant_id(tenant)}};
        for (const label_limit& limit : settings_.limits) {
            if (is_exempt_limit(limit)) continue;
            if (limit.match && !limit.match->matches(labels)) continue;
            budget_id id{.limit = limit.name, .tenant = limit.per_tenant ? std::string{tenant} : std::string{}};
            for (const std::string& wanted : limit.each) {
                const auto found = std::ranges::find(labels, wanted, &label_view::name);
                id.group.emplace_back(wanted, found == labels.end() ? bytes_view{} : found->value);
            }
            places.push_back({.id = std::move(id)});
        }
        return places;
    }

    /// Where an exempt series counts while there is room.
    [[nodiscard]] std::optional<place> exempt_place_of(std::string_view tenant,
                                                       std::span<const label_view> labels) const {
        if (!is_exempt(labels)) return std::nullopt;
        return place{.id = {.limit = "exempt", .tenant = std::string{tenant}}};
    }

    /// The budget of a place, or null if none has been made.
    model_pair* find(const place& at) {
        if (at.fixed != nullptr) return at.fixed;
        family& of = families_[at.id.limit];
        if (shares(at)) return of.overflow ? &*of.overflow : nullptr;
        const auto found = of.own.find(at.id);
        return found == of.own.end() ? nullptr : &found->second;
    }
    model_pair& make(const place& at) {
        if (model_pair* const there = find(at)) return *there;
        family& of = families_[at.id.limit];
        const std::uint64_t expected = expected_by_new(at);
        const bool is_shared = shares(at);
        model_pair& made = is_shared ? of.overflow.emplace() : of.own[at.id];
        rule(made, is_shared ? overflow_of(at.id.limit) : at.id);
        made.hourly.reserve(expected);
        if (day_began_) made.daily.reserve(expected);
        return made;
    }

    /// Whether any limit could refuse such a series.
    bool is_limited(std::string_view tenant, std::span<const label_view> labels) {
        if (settings_.mode == limit_mode::observe || (is_exempt(labels) && settings_.exempt_series_max == 0))
            return false;
        if (settings_.global.hourly != 0 || settings_.global.daily != 0) return true;
        return std::ranges::any_of(places_of(tenant, labels), [this](const place& each) {
            if (each.fixed != nullptr) return false;
            return mode_for(each.id) == limit_mode::enforce && maxima_for(each.id) != series_maxima{};
        });
    }

    /// What has counted nothing in the hour that ends, nor in a day that goes on, makes room for others.
    void drop_unused(bool day_ends) {
        const auto unused = [day_ends](const model_pair& pair) {
            return pair.hourly.admitted() == 0 && (day_ends || pair.daily.admitted() == 0);
        };
        for (auto& [name, of] : families_) {
            std::erase_if(of.own,
                          [&](const auto& each) { return unused(each.second) && !active.contains(each.first); });
            if (of.overflow && unused(*of.overflow) && !active.contains(overflow_of(name))) of.overflow.reset();
        }
    }
    template <class Visit>
    void for_each(Visit visit) {
        visit(global_);
        for (auto& [name, of] : families_) {
            for (auto& [id, pair] : of.own) visit(pair);
            if (of.overflow) visit(*of.overflow);
        }
    }

    [[nodiscard]] const limit_rules& settings() const { return settings_; }
    [[nodiscard]] const model_pair& global() const { return global_; }
    /// Of all tenants, in the hour and in the day.
    [[nodiscard]] std::pair<std::size_t, std::size_t> exempt() const {
        std::pair<std::size_t, std::size_t> all{};
        for (const auto& [id, pair] : budgets()) {
            if (id.limit != "exempt") continue;
            all.first += pair->hourly.counted.size();
            all.second += pair->daily.counted.size();
        }
        return all;
    }
    /// Those of tenants and groups.
    [[nodiscard]] std::map<budget_id, const model_pair*> budgets() const {
        std::map<budget_id, const model_pair*> all;
        for (const auto& [name, of] : families_) {
            for (const auto& [id, pair] : of.own) all.emplace(id, &pair);
            if (of.overflow) all.emplace(overflow_of(name), &*of.overflow);
        }
        return all;
    }

  private:
    /// The budgets of one label limit; under the empty name those of the tenants.
    struct family {
        std::map<budget_id, model_pair> own;
        std::optional<model_pair> overflow;
        std::uint64_t whole_since = 0;   ///< the first hour in which all that is theirs was counted
        bool overflow_was_used = false;  ///< in the hour before
    };
    std::uint64_t hour_ = 2;
    bool reserving_ = false;
    bool day_began_ = false;
    std::uint64_t whole_since_ = 0;  ///< of the global budget
    limit_rules settings_;
    model_pair global_;
    std::map<std::string, family> families_;

    static limit_rules with_exempt_limit(limit_rules written) {
        if (written.exempt.empty()) return written;
        label_limit made = testing::limit_named("exempt", {}, {});
        made.groups_max = written.tenants.tenants_max;
        made.per_tenant = true;
        made.mode = limit_mode::observe;
        made.maxima = {.hourly = written.exempt_series_max, .daily = written.exempt_series_max};
        written.limits.push_back(std::move(made));
        return written;
    }
    static bool is_exempt_limit(const label_limit& limit) { return limit.name == "exempt"; }

    [[nodiscard]] const label_limit* limit_named(std::string_view name) const {
        const auto found = std::ranges::find(settings_.limits, name, &label_limit::name);
        return found == settings_.limits.end() ? nullptr : &*found;
    }
    [[nodiscard]] bool is_exempt(std::span<const label_view> labels) const {
        return std::ranges::any_of(settings_.exempt, [&](const selector& each) { return each.matches(labels); });
    }

    /// The override of a tenant or group, if it has one.
    [[nodiscard]] std::optional<series_maxima> override_of(const budget_id& id) const {
        if (id.limit.empty()) {
            const auto found = settings_.tenants.overrides.find(id.tenant);
            if (found != settings_.tenants.overrides.end()) return found->second;
        } else {
            for (const group_override& each : limit_named(id.limit)->overrides)
                if (each.group == id.group) return each.maxima;
        }
        return std::nullopt;
    }
    [[nodiscard]] series_maxima maxima_for(const budget_id& id) const {
        const series_maxima& usual = id.limit.empty() ? settings_.tenants.fallback : limit_named(id.limit)->maxima;
        return id.overflow ? usual : override_of(id).value_or(usual);
    }
    [[nodiscard]] limit_mode mode_for(const budget_id& id) const {
        return id.limit.empty() ? settings_.tenants.mode : limit_named(id.limit)->mode;
    }
    /// Whether it counts in the overflow budget: what comes when all places are taken. Those with an override take
    /// none.
    [[nodiscard]] bool shares(const place& at) {
        const std::uint64_t bound =
            at.id.limit.empty() ? settings_.tenants.tenants_max : limit_named(at.id.limit)->groups_max;
        const family& of = families_[at.id.limit];
        const auto taken = std::ranges::count_if(of.own, [this](const auto& each) { return !override_of(each.first); });
        return !of.own.contains(at.id) && static_cast<std::uint64_t>(taken) >= bound && !override_of(at.id);
    }
    std::uint64_t expected_by_new(const place& at) {
        const family& of = families_[at.id.limit];
        const bool may_have_shared = of.overflow_was_used && !shares(at);
        return reserving_ && (of.whole_since >= hour_ || may_have_shared) ? all_room : 0;
    }
    void rule(model_pair& pair, const budget_id& id) const {
        const series_maxima maxima = maxima_for(id);
        rule(pair, maxima, mode_for(id));
    }
    void rule(model_pair& pair, const series_maxima& maxima, limit_mode mode) const {
        pair.mode = settings_.mode == limit_mode::observe ? limit_mode::observe : mode;
        const auto margin = [&](std::uint64_t maximum) -> std::uint64_t {
            if (!settings_.whole_histograms || maximum == 0 || pair.mode == limit_mode::observe) return 0;
            return std::max(maximum * settings_.histogram_margin.hundredths / 10'000, settings_.histogram_series_max);
        };
        pair.hourly.rule(maxima.hourly, margin(maxima.hourly));
        pair.daily.rule(maxima.daily, margin(maxima.daily));
    }
};

}  // namespace seriesgate::testing
