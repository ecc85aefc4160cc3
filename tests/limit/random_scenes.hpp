/// Rules, senders and clocks drawn at random, for holding the limiter against its model.
#pragma once

#include "limit/labelled.hpp"
#include "limit/limiter.hpp"

namespace seriesgate::testing {

/// What can be sent: tenants with namespaces, jobs and pods. Every series has its own fingerprint.
class universe {
    static constexpr std::uint64_t pods_max = 40'000;
    std::vector<std::string> pods_;
    std::array<std::string, 10> namespaces_;
    std::array<std::string, 5> jobs_;
    /// Of eight pods in a row, six are one pod's histogram and two are others' gauges.
    std::array<std::string, 8> names_{"x_bucket", "x_bucket", "x_bucket", "x_bucket", "x_sum", "x_count", "up", "up"};
    std::array<std::string, 4> bounds_{"1", "2", "4", "+Inf"};

  public:
    std::array<std::string, 7> tenants{"", "team-a", "team-b", "team-c", "team-d", "team-e", "team-f"};

    universe() {
        for (std::uint64_t i = 0; i < pods_max; ++i) pods_.push_back("pod-" + std::to_string(i));
        for (std::size_t i = 1; i < namespaces_.size(); ++i) namespaces_[i] = "ns-" + std::to_string(i);
        for (std::size_t i = 1; i < jobs_.size(); ++i) jobs_[i] = "job-" + std::to_string(i);
    }

    /// A core of series that keep coming, others that go with the hour, and an explosion now and then.
    void fill(std::size_t tenant, time_point now, random_numbers& random, std::vector<offered_series>& offered,
              shown_labels& labels) const {
        const auto epoch = static_cast<std::uint64_t>(hour_of(now).start.time_since_epoch() / std::chrono::hours{1});
        const bool explosion = random.one_in(5);
        const std::uint64_t exploding = random.below(namespaces_.size());
        offered.resize(1 + random.below(140));
        labels.entries.resize(offered.size());
        for (std::size_t i = 0; i < offered.size(); ++i) {
            offered[i].admits = !random.one_in(12);
            offered[i].samples = static_cast<std::uint32_t>(random.below(3));
            if (i > 0 && random.one_in(20)) {  // again in the same request
                const std::size_t earlier = random.below(i);
                offered[i].fingerprint = offered[earlier].fingerprint;
                labels.entries[i] = labels.entries[earlier];
                continue;
            }
            const std::uint64_t space = explosion ? exploding : random.below(namespaces_.size());
            const std::uint64_t job = random.below(jobs_.size());
            const std::uint64_t pod = explosion          ? epoch % 30 * 1'000 + random.below(3'000)
                                      : random.one_in(3) ? epoch / 2 % 100 * 10 + random.below(20)
                                                         : random.below(8);
            name(tenant, space, job, pod, offered[i], labels.entries[i]);
        }
    }

  private:
    void name(std::uint64_t tenant, std::uint64_t space, std::uint64_t job, std::uint64_t pod, offered_series& series,
              std::vector<label_view>& labels) const {
        series.fingerprint =
            fingerprint_of(tenant + tenants.size() * (space + namespaces_.size() * (job + jobs_.size() * pod)));
        labels.clear();
        const std::uint64_t part = pod % 8;
        labels.push_back({"__name__", names_[part]});
        if (job != 0) labels.push_back({"job", jobs_[job]});
        if (part < bounds_.size()) labels.push_back({"le", bounds_[part]});
        if (space != 0) labels.push_back({"namespace", namespaces_[space]});
        labels.push_back({"pod", pods_[part < 6 ? pod - part : pod]});
    }
};

/// Settings, and reloads that change some of them. What bounds the number of tenants or groups is not combined with
/// overrides, and stays: which of them share the overflow budget after a restart is then the same as before.
class random_rules {
    random_numbers& random_;
    bool tenants_bounded_;
    std::array<bool, 4> groups_bounded_;
    std::vector<selector> selectors_;

  public:
    explicit random_rules(random_numbers& random) : random_(random), tenants_bounded_(random.one_in(2)) {
        for (bool& bounded : groups_bounded_) bounded = random.one_in(2);
        for (const char* text : {"{namespace=~\".+\"}", "{le!=\"\"}", "{job!=\"job-1\",pod!=\"\"}",
                                 "{pod=~\".*[02468]\"}", "{namespace=~\"ns-[1-4]\",job=~\"job-.*\"}"})
            selectors_.push_back(selecting(text));
    }

    limit_rules first() {
        limit_rules settings{.false_positive_rate = 1e-9};
        settings.tenants.tenants_max = tenants_bounded_ ? 1 + random_.below(4) : 10'000;
        for (std::size_t i = 0; i < groups_bounded_.size(); ++i)
            if (random_.one_in(2)) settings.limits.push_back(limit(i));
        for (int part = 0; part < 4; ++part) change(settings, part);
        return settings;
    }

    limit_rules reload(limit_rules settings) {
        for (int part = 0; part < 4; ++part)
            if (random_.one_in(3)) change(settings, part);
        for (label_limit& each : settings.limits) {
            if (!random_.one_in(3)) continue;
            label_limit changed = limit(index_of(each));
            changed.groups_max = each.groups_max;
            if (!random_.one_in(4)) {  // else its budgets begin anew
                changed.each = each.each;
                changed.per_tenant = each.per_tenant;
                changed.overrides = overrides(changed);
            }
            each = std::move(changed);
        }
        if (!settings.limits.empty() && random_.one_in(6)) settings.limits.erase(settings.limits.begin());
        const std::size_t wanted = random_.below(groups_bounded_.size());
        if (random_.one_in(4) &&
            std::ranges::find(settings.limits, name_of_limit(wanted), &label_limit::name) == settings.limits.end())
            settings.limits.insert(settings.limits.begin(), limit(wanted));
        return settings;
    }

  private:
    series_maxima maxima(std::uint64_t scale) {
        return {.hourly = random_.one_in(4) ? 0 : 1 + random_.below(scale),
                .daily = random_.one_in(3) ? 0 : 1 + random_.below(3 * scale)};
    }

    void change(limit_rules& settings, int part) {
        switch (part) {
            case 0: {
                const series_maxima global = maxima(4'000);
                settings.global.hourly = global.hourly;
                settings.global.daily = global.daily;
                settings.whole_histograms = random_.one_in(2);
                settings.histogram_series_max = 1 + random_.below(40);
                settings.histogram_margin.hundredths = static_cast<std::uint32_t>(random_.below(2'000));
                settings.mode = random_.one_in(8) ? limit_mode::observe : limit_mode::enforce;
                return;
            }
            case 1:
                settings.tenants.fallback = maxima(900);
                settings.tenants.mode = random_.one_in(4) ? limit_mode::observe : limit_mode::enforce;
                settings.tenants.overrides.clear();
                if (tenants_bounded_) return;
                for (const char* tenant : {"", "team-b", "team-d"})
                    if (random_.one_in(2)) settings.tenants.overrides.emplace(tenant, maxima(1'500));
                return;
            case 2:
                settings.exempt.clear();
                settings.exempt_series_max = random_.one_in(4) ? 0 : 1 + random_.below(40);
                if (random_.one_in(3)) settings.exempt.push_back(selecting("{job=\"job-4\",pod=~\".*[1-5]\"}"));
                if (random_.one_in(6)) settings.exempt.push_back(selecting("{namespace=\"ns-7\"}"));
                return;
            default:
                settings.incumbent_grace = std::array<std::chrono::minutes, 4>{
                    std::chrono::minutes{0}, std::chrono::minutes{5}, std::chrono::minutes{10},
                    std::chrono::minutes{60}}[random_.below(4)];
        }
    }

    static std::string name_of_limit(std::size_t index) { return "limit-" + std::to_string(index); }
    static std::size_t index_of(const label_limit& limit) { return static_cast<std::size_t>(limit.name.back() - '0'); }

    label_limit limit(std::size_t index) {
        using labels = std::vector<std::string>;
        label_limit made;
        made.name = name_of_limit(index);
        if (!random_.one_in(3)) made.match = selectors_[random_.below(selectors_.size())];
        made.each = std::array<labels, 4>{labels{}, {"namespace"}, {"job"}, {"namespace", "job"}}[random_.below(4)];
        made.per_tenant = random_.one_in(3);
        made.groups_max = groups_bounded_[index] ? 1 + random_.below(8) : 10'000;
        made.maxima = maxima(made.each.empty() ? 1'500 : 300 / made.each.size());
        made.mode = random_.one_in(3) ? limit_mode::observe : limit_mode::enforce;
        made.overrides = overrides(made);
        return made;
    }

    std::vector<group_override> overrides(const label_limit& limit) {
        std::vector<group_override> made;
        if (limit.each.empty() || groups_bounded_[index_of(limit)]) return made;
        for (const char* number : {"", "1", "2", "3"}) {
            if (!random_.one_in(3)) continue;
            group_labels group;
            for (const std::string& label : limit.each) {
                const std::string prefix = label == "job" ? "job-" : "ns-";
                group.emplace_back(label, *number == '\0' ? "" : prefix + number);
            }
            made.push_back({.group = std::move(group), .maxima = maxima(500)});
        }
        return made;
    }
};

/// A clock that mostly runs, and sometimes does what clocks do.
inline time_point random_step(time_point now, random_numbers& random) {
    const auto seconds_below = [&](std::uint64_t bound) {
        return std::chrono::seconds{static_cast<std::int64_t>(random.below(bound))};
    };
    const std::uint64_t what = random.below(300);
    if (what == 0) return now + 1h + seconds_below(4 * 3600);    // suspended
    if (what <= 2) return now - seconds_below(1800);             // corrected
    if (what == 3) return now - 1h - seconds_below(3 * 3600);    // set back
    if (what == 4) return now + 24h + seconds_below(30 * 3600);  // set forward
    if (what <= 7) return hour_of(now).end;                      // to the nanosecond
    if (what == 8) return hour_of(now).end - 1ns;
    if (what == 9) return hour_of(now).start + 10min;
    if (what == 10) return day_of(now).end + seconds_below(600);
    return now + seconds_below(30);
}

}  // namespace seriesgate::testing
