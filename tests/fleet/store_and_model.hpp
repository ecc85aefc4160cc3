/// The script and its model side by side: each claim goes to both, and their answers must not differ.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "fleet/claim_store.hpp"
#include "fleet/feed_script.hpp"
#include "fleet/feed_text.hpp"
#include "fleet/store_model.hpp"
#include "support/catch.hpp"

namespace seriesgate {

inline std::ostream& operator<<(std::ostream& out, const series_answer& of) {
    constexpr char letters[] = {'k', 't', 'r', 'u'};
    out << letters[static_cast<int>(of.outcome)];
    if (of.outcome == claim_outcome::refused)
        out << int{of.budget} << (of.window == refusing_window::daily ? "d" : "h");
    if (of.completed.hour) out << "+h";
    if (of.completed.day) out << "+d";
    return out;
}
inline std::ostream& operator<<(std::ostream& out, const budget_answer& of) {
    return out << (of.shares ? "shared " : "own ") << of.hourly << "/" << of.daily << " awaited " << of.awaited;
}

}  // namespace seriesgate

namespace seriesgate::testing {

inline constexpr std::int64_t first_hour = 1'139'568;  // 2100-01-01: what expires must not do so while a test runs

class store_and_model {
    claim_store store_;
    store_model model_;
    store_windows told_;

  public:
    claim_answer decide(const claim& asked, const claim_terms& terms, time_point now) {
        const claim_answer wanted = model_.decide(asked, terms, now);
        claim_answer got = store_.decide(asked, terms, now);
        REQUIRE(got.status == wanted.status);
        REQUIRE(got.windows == wanted.windows);
        REQUIRE(got.series == wanted.series);
        REQUIRE(got.budgets == wanted.budgets);
        if (got.status != claim_status::lost) told_ = got.windows;
        return got;
    }

    /// As a gate does it: made anew once, with what the store says of its windows.
    claim_answer ask(const claim& asked, claim_terms terms, time_point now) {
        terms.buckets = told_.buckets;
        claim_answer answer = decide(asked, terms, now);
        if (answer.status != claim_status::moved) return answer;
        terms.buckets = told_.buckets;
        return decide(asked, terms, now);
    }

    telling_state enter(const std::string& gate, const claim_terms& terms, time_point now) {
        const telling_state got = store_.enter(gate, terms, now);
        REQUIRE(got == model_.enter(gate, terms, now));
        return got;
    }
    telling_state leave(const std::string& gate, const claim_terms& terms) {
        const telling_state got = store_.leave(gate, terms);
        REQUIRE(got == model_.leave(gate, terms));
        return got;
    }

    std::pair<share_state, std::uint64_t> share(const std::string& gate, const claim_terms& terms, time_point now) {
        const share_answer got = store_.share(gate, terms, now);
        const auto wanted = model_.share(gate, terms);
        REQUIRE(got.state == wanted.first);
        REQUIRE(got.number == wanted.second);
        return wanted;
    }

    recovery_answer recover(const recovery_words& said, const count_offer& offer,
                            std::span<const offered_budget> budgets, const std::string& server, time_point now) {
        const recovery_answer wanted = model_.recover(said, offer, budgets, server, now);
        REQUIRE(store_.recover(said, offer, budgets, server, now) == wanted);
        return wanted;
    }

    void empty() {
        store_.connection().ask({"FLUSHALL"});
        model_ = store_model::emptied();
    }
    struct copy {
        claim_store::copy store{};
        store_model model{};
    };
    copy copied() { return {.store = store_.copied(), .model = model_}; }
    void go_back_to(const copy& then) {
        store_.go_back_to(then.store);
        model_ = then.model;
    }

    claim_store& store() { return store_; }
    [[nodiscard]] const store_model& model() const { return model_; }
    [[nodiscard]] const store_windows& told() const { return told_; }

    /// Sets, counts and expiries of all windows that are of use.
    void compare() {
        const std::int64_t hour = model_.hour_number(), day = day_of_hour(hour);
        compare(store_.keys().hour(hour), model_.hour(), (hour + 1) * 3600);
        compare_feed(hour);
        if (model_.before()) compare(store_.keys().hour(hour - 1), *model_.before(), hour * 3600);
        if (model_.day()) compare(store_.keys().day(day), *model_.day(), (day + 1) * 86'400);
    }

  private:
    using text_map = std::map<std::string, std::string>;

    static text_map fields_of(const store_model::window& window) {
        text_map fields{{"buckets", std::to_string(window.buckets)}, {"rules", std::to_string(window.rules)}};
        if (window.mixed) fields["mixed"] = "1";
        fields["all_rules"] = std::to_string(window.all_rules);
        if (window.all_mixed) fields["all_mixed"] = "1";
        if (window.shared) fields["shared"] = "1";
        if (window.owed) fields["owed"] = "1";
        if (window.owed_day) fields["owed_day"] = "1";
        for (const std::string& gate : window.telling) fields.emplace("u" + gate, "1");
        if (!window.series.empty()) fields["members"] = std::to_string(window.series.size());
        for (const auto& [id, count] : window.counted) fields[std::to_string(id)] = std::to_string(count);
        for (const auto& [id, count] : window.returned) fields[std::to_string(id) + "r"] = std::to_string(count);
        if (!window.missing.empty()) fields["missing"] = "1";
        for (const auto& [id, count] : window.missing) fields[std::to_string(id) + "m"] = std::to_string(count);
        for (const auto& [id, count] : window.carried) fields[std::to_string(id) + "u"] = "1";
        if (!window.over.empty()) fields["over"] = "1";
        for (const auto& [id, count] : window.over) fields[std::to_string(id) + "o"] = std::to_string(count);
        for (const std::uint64_t id : window.placeless) fields[std::to_string(id) + "f"] = "1";
        for (const auto& [limit_budgets, count] : window.places)
            fields[std::string{"p"} + std::to_string(limit_budgets)] = std::to_string(count);
        return fields;
    }

    void compare_feed(std::int64_t hour) {
        store_connection& connection = store_.connection();
        std::vector<store_model::fed> got;
        for (const std::uint64_t members = model_.hour().series.size(); got.empty() || got.back().upto < members;) {
            auto words = feed_words(hour, got.empty() ? 0 : got.back().upto, store_.keys());
            words.back() = connection.text({"HGET", store_.keys().head(), "server"});
            words.insert(words.begin(), {"EVAL", std::string{feed_script}});
            const auto answer = read_feed_answer(*connection.ask(words));
            REQUIRE(answer.has_value());
            REQUIRE(answer->is_whole);
            REQUIRE(answer->series == members);
            if (answer->claims.empty()) break;
            for (const fed_claim& each : answer->claims) {
                store_model::fed& one = got.emplace_back();
                one = {.upto = each.upto, .gate = each.gate, .series = each.fingerprints, .families = each.families};
                for (const fed_count& count : each.hourly) one.hourly[count.id] = count.series;
                for (const fed_count& count : each.daily) one.daily[count.id] = count.series;
            }
        }
        REQUIRE(got == model_.hour().feed);
        if (!got.empty())
            REQUIRE(connection.number({"EXPIRETIME", store_.keys().feed(hour)}) == (hour + 1) * 3600 + 600);
    }

    void compare_completed(const std::string& key, const store_model::window& window, std::int64_t ends) {
        text_map counts;
        for (const auto& [family, count] : window.completed) counts[member_text(family)] = std::to_string(count);
        REQUIRE(store_.fields(key) == counts);
        if (!counts.empty()) REQUIRE(store_.connection().number({"EXPIRETIME", key}) == ends + 7'800);
    }

    /// @param ends in seconds since the epoch.
    void compare(const std::string& record, const store_model::window& window, std::int64_t ends) {
        store_connection& connection = store_.connection();
        text_map fields = store_.fields(record);
        REQUIRE(fields["about"].size() > 64);
        fields.erase("about");
        REQUIRE(fields == fields_of(window));
        const std::int64_t of_use_until = window.kept_for_day ? ends - ends % 86'400 + 86'400 : ends;
        REQUIRE(connection.number({"EXPIRETIME", record}) == of_use_until + 7'800);
        std::set<std::uint64_t> members = window.series;
        members.insert(window.families.begin(), window.families.end());
        REQUIRE(store_.series(record, window.buckets) == members);
        compare_completed(store_keys::completed(record), window, ends);
        for (const std::string& bucket : store_.buckets(record)) {
            const std::int64_t number = std::stoll(bucket.substr(record.size() + 1));
            REQUIRE(connection.number({"EXPIRETIME", bucket}) == ends + 7'200 + number % 600);
        }
    }
};

}  // namespace seriesgate::testing
