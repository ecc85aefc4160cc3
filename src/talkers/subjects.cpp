#include "talkers/subjects.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace seriesgate {
namespace {

/// What is new and what is refused of the same, put together.
class subjects {
    std::map<std::pair<std::string_view, std::string_view>, subject> all_;

  public:
    /// @param counted has the same names (of tenants: these are all there is), and looked at more of their series; it
    /// may not have all.
    void add(const watched_metrics& of, const space_saving& counted, const talker_tables& tables, bool is_refused) {
        std::map<std::pair<std::string_view, std::string_view>, const talker*> better;
        const bool is_of_tenants = &counted == &tables.tenants();
        for (const talker& each : counted.all())
            better[{each.tenant, is_of_tenants ? std::string_view{} : std::string_view{each.value}}] = &each;
        for (std::size_t i = 0; i < of.metrics().size(); ++i) {
            const talker& watched = of.metrics()[i];
            const auto found = better.find({watched.tenant, watched.value});
            const talker& each = found == better.end() ? watched : *found->second;
            subject& to = all_[{watched.tenant, watched.value}];
            to.since = to.name == nullptr ? each.first_seen : std::min(to.since, each.first_seen);
            to.last = std::max(to.last, each.last_seen);
            to.name = &watched;
            to.series += each.series - each.error;
            to.series_watched += std::max<std::uint64_t>(watched.series - watched.error, 1);
            if (is_refused) to.refused += each.series - each.error;
            if ((found == better.end() ? tables.error_of_watched(each) : tables.error_of(each)) != 0)
                to.is_exact = false;
            to.watched.merge(of.watched(i));
        }
    }
    /// Those with the most series first.
    std::vector<subject> take() {
        std::vector<subject> made;
        for (auto& [name, each] : all_) made.push_back(std::move(each));
        std::ranges::stable_sort(made, std::ranges::greater{}, &subject::series);
        return made;
    }
};

}  // namespace

std::vector<subject> metrics_of(const talker_tables& taken, const talker_tables& refused) {
    subjects all;
    all.add(taken.watched(), taken.metrics().by_tenant(), taken, false);
    all.add(refused.watched(), refused.metrics().by_tenant(), refused, true);
    return all.take();
}

std::vector<subject> tenants_of(const talker_tables& taken, const talker_tables& refused) {
    subjects all;
    all.add(taken.watched_tenants(), taken.tenants(), taken, false);
    all.add(refused.watched_tenants(), refused.tenants(), refused, true);
    return all.take();
}

const talker* main_of(const space_saving& of, std::uint64_t series) {
    const auto most = std::ranges::max_element(of.all(), {}, &talker::series);
    return most != of.all().end() && (most->series - most->error) * 2 >= series ? &*most : nullptr;
}

}  // namespace seriesgate
