#include "cardinality/series_sample.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t labels_max = 1'024;

}  // namespace

std::size_t series_sample::bytes_of(const sampled_series& one) noexcept {
    std::size_t bytes = sizeof one + one.tenant.size();
    for (const auto& [name, value] : one.labels) bytes += sizeof(one.labels[0]) + name.size() + value.size();
    return bytes;
}

void series_sample::put(std::uint64_t fingerprint, std::span<const label_view> labels, std::string_view tenant,
                        time_point first_seen) {
    if (leaves_out(fingerprint) || kept_.contains(fingerprint) || labels.size() > labels_max) return;
    sampled_series made{.fingerprint = fingerprint, .tenant = std::string{tenant}, .first_seen = first_seen};
    made.labels.reserve(labels.size());
    for (const label_view& each : labels) made.labels.emplace_back(each.name, each.value);
    const std::size_t bytes = bytes_of(made);
    if (bytes > bytes_max) return;
    while (level_ < thinning::level_max && (kept_.size() >= series_max || bytes_ + bytes > bytes_max)) thin_out();
    if (leaves_out(fingerprint)) return;
    kept_.emplace(fingerprint, std::make_shared<const sampled_series>(std::move(made)));
    bytes_ += bytes;
}

void series_sample::raise_to(unsigned level) {
    while (level_ < std::min(level, thinning::level_max)) thin_out();
}

void series_sample::thin_out() {
    ++level_;
    boost::unordered::erase_if(kept_, [this](const auto& each) {
        if (!leaves_out(each.first)) return false;
        bytes_ -= bytes_of(*each.second);
        return true;
    });
}

std::shared_ptr<const sampled_series> series_sample::find(std::uint64_t fingerprint) const {
    const auto found = kept_.find(fingerprint);
    return found == kept_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const sampled_series>> series_sample::all() const {
    std::vector<std::shared_ptr<const sampled_series>> made;
    made.reserve(kept_.size());
    for (const auto& [fingerprint, each] : kept_) made.push_back(each);
    return made;
}

series_sample series_sample::next() const {
    series_sample made;
    const bool is_full = 2 * kept_.size() > series_max || 2 * bytes_ > bytes_max;
    made.level_ = is_full || level_ == 0 ? level_ : level_ - 1;
    return made;
}

void series_sample::save(state_encoder& out) const {
    out.numbers(static_cast<std::uint32_t>(level_), static_cast<std::uint64_t>(kept_.size()));
    for (const auto& [fingerprint, each] : kept_) {
        out.number(fingerprint);
        out.text(each->tenant);
        out.time(each->first_seen);
        out.number(static_cast<std::uint64_t>(each->labels.size()));
        for (const auto& [name, value] : each->labels) {
            out.text(name);
            out.text(value);
        }
    }
}

void series_sample::load(state_decoder& in) {
    *this = {};
    level_ = in.number<std::uint32_t>();
    if (level_ > thinning::level_max) in.fail();
    const std::uint64_t count = in.count(series_max);
    for (std::uint64_t i = 0; i < count && in.good(); ++i) {
        const auto fingerprint = in.number<std::uint64_t>();
        const std::string tenant = in.text();
        const auto first_seen = in.time(time_point::min());
        series_labels labels;
        for (std::uint64_t left = in.count(labels_max); left > 0 && in.good(); --left) {
            std::string name = in.text();
            labels.emplace_back(std::move(name), in.text());
        }
        if (kept_.contains(fingerprint)) in.fail();
        if (in.good()) put(fingerprint, label_views(labels), tenant, first_seen);
    }
}

void series_samples::come_back(std::uint64_t fingerprint, std::span<const label_view> labels, std::string_view tenant) {
    if (!wants_back(fingerprint)) return;
    const auto known = before_.find(fingerprint);
    now_.put(fingerprint, labels, tenant, known == nullptr ? time_point::min() : known->first_seen);
}

void series_samples::end_hour() {
    series_sample next = now_.next();
    before_ = std::exchange(now_, std::move(next));
    refused_ = refused_.next();
}

/// Uses the higher sampling level of both hours, so that each series stands for equally many.
sampled series_samples::all() const {
    const unsigned level = std::max(before_.level(), now_.level());
    sampled made{.refused = refused_.all(),
                 .weight = std::uint64_t{1} << level,
                 .refused_weight = std::uint64_t{1} << refused_.level()};
    for (const series_sample* const from : {&now_, &before_})
        for (auto& each : from->all()) {
            const bool is_twice = from == &before_ && now_.find(each->fingerprint) != nullptr;
            if (!is_twice && !thinning::is_left_out(each->fingerprint, level)) made.known.push_back(std::move(each));
        }
    return made;
}

void series_samples::save(state_encoder& out) const {
    out.parts(before_, now_, refused_);
}

void series_samples::load(state_decoder& in) {
    in.parts(before_, now_, refused_);
}

}  // namespace seriesgate
