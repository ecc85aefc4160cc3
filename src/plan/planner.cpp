#include "plan/planner.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "claim/gate_session.hpp"
#include "claim/store_questions.hpp"
#include "core/bytes.hpp"
#include "limit/commit_state.hpp"
#include "limit/limiter.hpp"
#include "limit/telling.hpp"

namespace seriesgate {
result<plan, wire_error> planner::operator()(bytes_view body, series_limiter& limiter, time_point now,
                                             std::string_view tenant, protocol version) {
    const wire_error wrong = read(body, tenant, version);
    if (wrong.code != wire_errc::none) return wrong;
    return decide(limiter, now, tenant);
}

wire_error planner::read(bytes_view body, std::string_view tenant, protocol version) {
    begin(body, tenant, version);
    while (read_on()) continue;
    return read_error();
}

/// Reads the whole request before anything is decided: a malformed one must change nothing.
void planner::begin(bytes_view body, std::string_view tenant, protocol version) {
    version_ = version;
    tenant_ = tenant_key_of(tenant, key_);
    offered_.clear();
    entries_.clear();
    ignored_.clear();
    is_read_ = false;
    empty_entries_ = 0;
    left_out_.clear();
    left_out_counts_ = {};
    read_steps_ = 0;
    if (version == protocol::v2)
        reader_v2_.reset(body, symbol_bytes_max_);
    else
        reader_.reset(body);
}

bool planner::read_on() {
    return version_ == protocol::v2 ? read_some(reader_v2_) : read_some(reader_);
}

template <class Reader>
bool planner::read_some(Reader& reader) {
    const std::size_t end_of_step = ++read_steps_ * step_bytes;
    std::size_t done = 0;
    while (done < end_of_step) {
        for (int i = 0; i < entries_at_once; ++i) {
            if (!reader.next()) {
                metadata_ = reader.metadata_count();
                is_read_ = !reader.failed();
                assert(offered_.size() == entries_.size());
                assert(offered_.size() + empty_entries_ + left_out_.size() <= series_per_request_max);
                return false;
            }
            take(reader);
        }
        done = reader.series().record.end() + unordered_label_bytes * reader.unordered_labels();
    }
    return true;
}

template <class Reader>
void planner::take(const Reader& reader) {
    const series_view& series = reader.series();
    assert(entries_.empty() || entries_.back().record.end() <= series.record.offset);
    if (!series.holds_data())
        [[unlikely]] {  // a sound entry without data is forwarded like metadata: stores make no series of it
        if (const left_out_series* wrong = reader.left_out())
            leave_out(series.record, *wrong);
        else
            ++empty_entries_;
        return;
    }
    offered_.push_back({.fingerprint = fingerprint_of(series.labels_hash, tenant_),
                        .samples = series.samples + series.histograms,
                        .admits = series.admits});
    entries_.push_back({.record = series.record, .histograms = series.histograms, .exemplars = series.exemplars});
    if (hasher_.ignores_any()) note_ignored(series);
}

void planner::note_ignored(const series_view& series) {
    ignored_part& made = ignored_.emplace_back();
    if (series.ignored_hash == 0) return;
    made.value = ignored_value_of(series.ignored_hash, tenant_);
    made.other_fingerprint = fingerprint_of(series.labels_hash + series.ignored_hash, tenant_);
}

/// Finds the distinct values, in order of first appearance.
void planner::find_values() {
    value_places_.clear();
    values_.clear();
    for (std::size_t i = 0; i < ignored_.size(); ++i) {
        ignored_part& of = ignored_[i];
        if (of.value == 0) continue;
        const auto next = static_cast<std::uint32_t>(values_.size());
        const bool is_repeated = i != 0 && ignored_[i - 1].value == of.value;  // one sender usually has one value
        of.place = is_repeated ? ignored_[i - 1].place : value_places_.try_emplace(of.value, next).first->second;
        if (of.place == next) values_.push_back({.fingerprint = of.value, .samples = 0, .admits = false});
        values_[of.place].admits |= offered_[i].admits;
    }
}

/// Ignored values have a limit. Beyond it, all labels of a series count; otherwise a sender could hide any number of
/// series behind one.
void planner::apply_ignored_values_limit(series_limiter& limiter, time_point now, request_origin origin) {
    beyond_values_ = {};
    if (!hasher_.ignores_any() || !limiter.rules()->ignores_labels) return;
    assert(ignored_.size() == offered_.size());
    find_values();
    if (values_.empty()) return;
    value_verdicts_.assign(values_.size(), verdict::unknown);
    origin.labels = nullptr;
    origin.are_ignored_values = true;
    const bool is_decided = limiter.decide(values_, now, value_verdicts_, value_scratch_, origin);
    for (std::uint32_t i = 0; i < ignored_.size(); ++i) {
        if (ignored_[i].value == 0) continue;
        const bool counts_apart = !is_accepted(value_verdicts_[ignored_[i].place]);
        if (counts_apart != ignored_[i].is_apart) {  // also if collect_questions() is called again in another hour
            std::swap(offered_[i].fingerprint, ignored_[i].other_fingerprint);
            ignored_[i].is_apart = counts_apart;
        }
        if (counts_apart && is_decided && offered_[i].admits) beyond_values_.add(i, offered_[i].samples);
    }
}

/// A series that the hour knows with its ignored labels stays known by them, though its value has found room since.
/// @return whether any counts by another fingerprint now.
bool planner::keep_apart(const series_limiter& limiter) {
    if (ignored_.empty()) return false;
    bool any = false;
    const auto sets = limiter.sets();
    const auto keep_if = [&](std::uint32_t i, const auto& is_known) {
        ignored_part& of = ignored_[i];
        if (of.value == 0 || of.is_apart || !is_known(of.other_fingerprint)) return;
        std::swap(offered_[i].fingerprint, of.other_fingerprint);
        of.is_apart = any = true;
    };
    const auto in_hour = [&](std::uint64_t fingerprint) { return sets->hour_has(fingerprint); };
    for (const std::uint32_t i : scratch_.pending) keep_if(i, in_hour);
    for (const std::uint32_t i : scratch_.non_admitting)
        keep_if(i, [&](std::uint64_t fingerprint) { return sets->knows(fingerprint); });
    if (scratch_.recalled != decltype(scratch_.recalled){})  // these were refused lately without their ignored labels
        for (std::uint32_t i = 0; i < ignored_.size(); ++i)
            if (is_refused(verdicts_[i])) keep_if(i, in_hour);
    return any;
}

void planner::leave_out(byte_range record, const left_out_series& series) {
    left_out_.push_back({.record = record, .fault = series.fault});
    left_out_counts_ += {.samples = series.samples + std::uint64_t{series.histograms},
                         .histograms = series.histograms,
                         .exemplars = series.exemplars};
}

result<plan, wire_error> planner::decide(series_limiter& limiter, time_point now, std::string_view tenant,
                                         bool are_stored) {
    assert(is_read_);  // and not decided yet
    is_read_ = false;
    verdicts_.resize(offered_.size());
    const request_origin origin{.tenant = tenant, .labels = this, .are_stored = are_stored};
    apply_ignored_values_limit(limiter, now, origin);
    limiter.lookup(offered_, now, verdicts_, scratch_);
    if (keep_apart(limiter)) limiter.lookup(offered_, now, verdicts_, scratch_);
    return collect_if(scratch_.is_empty() || limiter.commit(offered_, now, verdicts_, scratch_, origin));
}

plan planner::pass(series_limiter& limiter, time_point now, std::string_view tenant) {
    assert(is_read_);
    is_read_ = false;
    verdicts_.resize(offered_.size());
    beyond_values_ = {};
    limiter.lookup(offered_, now, verdicts_, scratch_);
    std::ranges::fill(verdicts_, verdict::known);
    // Incumbents of the hour before keep their place in this one.
    std::erase_if(scratch_.pending, [&](std::uint32_t i) { return !limiter.sets()->knows(offered_[i].fingerprint); });
    scratch_.recalled = {};
    const request_origin origin{.tenant = tenant, .labels = this, .are_stored = true};
    if (!scratch_.is_empty()) limiter.commit(offered_, now, verdicts_, scratch_, origin);
    std::ranges::fill(verdicts_, verdict::known);
    scratch_.newly_refused.clear();
    return collect();
}

wire_error planner::collect_questions(series_limiter& limiter, const fleet_moment& at, std::string_view tenant,
                                      store_questions& to_ask, request_tickets& holds) {
    assert(is_read_);
    holds = {};
    verdicts_.resize(offered_.size());
    apply_ignored_values_limit(limiter, at.now, {.tenant = tenant});
    limiter.lookup(offered_, at.now, verdicts_, scratch_);
    if (keep_apart(limiter)) limiter.lookup(offered_, at.now, verdicts_, scratch_);
    to_ask.start();
    if (scratch_.pending.empty() && scratch_.non_admitting.empty()) return {};
    const request_origin origin{.tenant = tenant, .labels = this};
    if (!limiter.select(offered_, scratch_, origin)) return {wire_errc::rule_work_over_limit, 0};
    const std::int64_t hour = hour_number(scratch_.hour.start);
    holds.asking = at.view.ask(losses_of(limiter));
    if (gate_session::accepts(at.view, at.now, scratch_.hour, scratch_.rules->incumbent_grace))
        holds.accepting = at.view.accept(hour);
    to_ask.ask(offered_, scratch_, tenant, {limiter, at.view, hour, static_cast<bool>(holds.accepting), at.steady});
    return {};
}

bool planner::is_outdated(series_limiter& limiter, time_point now) const {
    if (scratch_.pending.empty()) return false;
    return limiter.sets_at(now)->hour_span != scratch_.hour || limiter.rules() != scratch_.rules;
}

result<plan, wire_error> planner::apply_fleet_decision(series_limiter& limiter, time_point now, std::string_view tenant,
                                                       const fleet_decision& by_fleet) {
    assert(is_read_ && verdicts_.size() == offered_.size());
    is_read_ = false;
    const request_origin origin{.tenant = tenant, .labels = this};
    return collect_if(scratch_.is_empty() || limiter.commit(offered_, now, verdicts_, scratch_, origin, &by_fleet));
}

result<plan, wire_error> planner::collect_if(bool settled) {
    if (!settled) return wire_error{wire_errc::rule_work_over_limit, 0};
    return collect();
}

std::size_t planner::bytes() const noexcept {
    return held_bytes(offered_) + held_bytes(entries_) + held_bytes(ignored_) +
           offered_.size() * (hasher_.ignores_any() ? ignored_entry_bytes : 0) + offered_.size() * decided_entry_bytes +
           reader_v2_.bytes() + held_bytes(left_out_) + left_out_.size() * sizeof(byte_range);
}

void planner::shrink() {
    reader_.shrink();
    reader_v2_.shrink();
    hasher_.shrink();
    value_scratch_.shrink();
    give_back_all(offered_, entries_, ignored_, values_, value_verdicts_, left_out_, verdicts_, removed_, labels_);
    refused_series_.shrink();
    constexpr std::size_t buckets_max = 1 << 14;  // clear() takes longer in a larger map
    if (value_places_.bucket_count() > buckets_max) decltype(value_places_){}.swap(value_places_);
    scratch_.shrink();
}

std::span<const label_view> planner::labels(std::size_t index) {
    assert(index < entries_.size());
    return labels_of(entries_[index].record);
}

std::span<const label_view> planner::labels_of(byte_range record) {
    if (version_ == protocol::v2)
        reader_v2_.labels(record, labels_);
    else
        reader_.labels(record, labels_);
    return labels_;
}

histogram_family planner::family(std::size_t entry, std::span<const label_view> labels) {
    return hasher_.family(labels, tenant_, !ignored_.empty() && ignored_[entry].is_apart);
}

/// Notes an entry that is not forwarded, and the limit that refused it.
// Inlined: a call costs 33 instructions a refused series.
[[gnu::always_inline]] inline void planner::note_refused(std::size_t index, plan_counts& counts) {
    const offered_series& series = offered_[index];
    removed_.push_back(entries_[index].record);
    refused_series_.add(series.fingerprint);
    if (verdicts_[index] == verdict::unknown) {
        ++counts.refused_unknown_entries;
        counts.refused_unknown_samples += series.samples;
        return;
    }
    const refusal by{.how = verdicts_[index], .limit = scratch_.refused_by[index]};
    if (!refused_by_.add(by.limit, series.samples))
        refused_by_.begin({.limit = by.limit, .samples = series.samples, .first = entry_at(index, by)});
    if (is_reported(by.how) && quoted_.size() < quoted_max) quoted_.push_back(entry_at(index, by));
}

plan planner::collect() {
    assert(verdicts_.size() == offered_.size() && entries_.size() == offered_.size());
    plan made;
    plan_counts& counts = made;
    counts.metadata = metadata_;
    counts.empty_entries = empty_entries_;
    removed_.clear();
    quoted_.clear();
    refused_by_.start();
    refused_series_.start();
    entry_counts accepted;
    entry_counts refused;
    for (std::size_t i = 0; i < offered_.size(); ++i) {
        const entry_counts of_entry{
            .samples = offered_[i].samples, .histograms = entries_[i].histograms, .exemplars = entries_[i].exemplars};
        assert(of_entry.histograms <= of_entry.samples);
        if (is_accepted(verdicts_[i])) {
            accepted += of_entry;
            continue;
        }
        refused += of_entry;
        note_refused(i, counts);
    }
    note_observed();
    note_beyond();

    counts.received = accepted;
    counts.received += refused;
    counts.received += left_out_counts_;
    counts.left_out = left_out_counts_;
    counts.left_out_series = left_out_.size();
    counts.refused = refused;
    counts.refused_series = refused_series_.count();
    assert(counts.refused_series <= removed_.size());
    assert((counts.refused_series == 0) == removed_.empty());
    assert(counts.refused_unknown_entries <= removed_.size());
    made.left_out_entries = left_out_;
    remove_left_out();
    made.removed = removed_;
    made.refused_by = refused_by_.all();
    made.observed_by = observed_by_;
    made.beyond = beyond_;
    made.quoted = quoted_;
    made.newly_admitted = scratch_.newly_admitted;
    made.returned = scratch_.returned;
    made.newly_refused = scratch_.newly_refused;
    made.forward = what_is_left();
    return made;
}

/// Merges two lists that are both in the order of the body.
void planner::remove_left_out() {
    if (left_out_.empty()) return;
    const auto refused_count = static_cast<std::ptrdiff_t>(removed_.size());
    for (const left_out_entry& each : left_out_) removed_.push_back(each.record);
    std::ranges::inplace_merge(removed_, removed_.begin() + refused_count, {}, &byte_range::offset);
}

/// Only series admitted now are noted: known series are not checked against limits.
void planner::note_observed() {
    observed_by_.clear();
    for (const observed_share& each : scratch_.observed.all()) {
        const refusal by{.how = refused_by(each.window, limit_answer::drop), .limit = each.limit};
        observed_by_.push_back({.limit = each.limit, .samples = each.samples, .first = entry_at(each.first, by)});
    }
}

void planner::note_beyond() {
    beyond_.clear();
    const auto note = [&](const entry_share& of, limit_number limit) {
        if (of.is_empty) return;
        const refusal by{.how = verdict::refused_hourly, .limit = limit};
        beyond_.push_back({.limit = limit, .samples = of.samples, .first = entry_at(of.first, by)});
    };
    note(scratch_.beyond_exemption, exempt_limit);
    note(beyond_values_, ignored_values_limit);
}

refused_entry planner::entry_at(std::size_t index, refusal by) const {
    return {.entry = index,
            .record = entries_[index].record,
            .series = offered_[index],
            .reason = by.how,
            .limit = by.limit};
}

body_action planner::what_is_left() const noexcept {
    if (removed_.empty()) return body_action::unchanged;
    const bool is_all = removed_.size() == offered_.size() + left_out_.size();
    return is_all && metadata_ == 0 && empty_entries_ == 0 ? body_action::nothing : body_action::spliced;
}

}  // namespace seriesgate
