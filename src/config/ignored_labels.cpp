#include "config/ignored_labels.hpp"

#include <algorithm>
#include <utility>

#include "config/placed_value.hpp"
#include "config/wording.hpp"

namespace seriesgate {
namespace {

class rules_check {
    std::span<const std::string> ignored_;
    std::vector<config_error> found_;

  public:
    explicit rules_check(std::span<const std::string> ignored) : ignored_(ignored) {}

    void check(const std::string& key, const label_limit& limit) {
        if (limit.match) check(key_below(key, "match"), *limit.match);
        const std::string each = key_below(key, "each");
        for (std::size_t i = 0; i < limit.each.size(); ++i)
            add(key_of_item(each, i), ignored_label(limit.each[i], ignored_));
    }
    void check(const std::string& key, const selector& asked) { add(key, ignored_label(asked, ignored_)); }

    std::vector<config_error> take() { return std::move(found_); }

  private:
    void add(const std::string& key, std::string wrong) {
        if (!wrong.empty()) found_.push_back({.where = {}, .key = key, .message = std::move(wrong)});
    }
};

}  // namespace

std::string ignored_label(std::string_view name, std::span<const std::string> ignored) {
    if (std::ranges::count(ignored, name) == 0) return "";
    return in_quotes(name) + " is one of ignoreLabels, which do not tell series apart";
}

std::string ignored_label(const selector& asked, std::span<const std::string> ignored) {
    for (const label_matcher& matcher : asked.matchers())
        if (std::string wrong = ignored_label(matcher.name, ignored); !wrong.empty()) return wrong;
    return "";
}

std::vector<config_error> ignored_labels(const limit_rules& rules, std::span<const std::string> ignored) {
    rules_check found{ignored};
    for (std::size_t i = 0; i < rules.limits.size(); ++i) found.check(key_of_item("limits", i), rules.limits[i]);
    for (std::size_t i = 0; i < rules.exempt.size(); ++i) found.check(key_of_item("exempt", i), rules.exempt[i]);
    return found.take();
}

}  // namespace seriesgate
