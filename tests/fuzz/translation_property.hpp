/// What a translation must be: series by series what the generated classes make of the two messages.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/text.hpp"
#include "fuzz/walk_property_v2.hpp"
#include "remote_write_v1.pb.h"
#include "wire/translation.hpp"

namespace seriesgate::testing {

/// Type, family, help and unit.
using told_metadata = std::tuple<int, std::string, std::string, std::string>;

/// The same message in other words: known fields of one version may be unknown to the other.
template <class To, class From>
std::string as_message(const From& from) {
    To to;
    if (!to.ParseFromString(from.SerializeAsString())) return "not a message";
    return to.SerializeAsString();
}

inline std::string family_by_the_book(std::string name, int type) {
    const std::vector<std::vector<std::string>> suffixes{{},
                                                         {"_created"},
                                                         {},
                                                         {"_bucket", "_sum", "_count", "_created"},
                                                         {"_bucket", "_gsum", "_gcount"},
                                                         {"_sum", "_count", "_created"},
                                                         {"_info"},
                                                         {}};
    if (type < 0 || type > 7) return name;
    for (const std::string& suffix : suffixes[static_cast<std::size_t>(type)])
        if (name.size() > suffix.size() && name.ends_with(suffix)) return name.erase(name.size() - suffix.size());
    return name;
}

template <class Labels>
bool same_labels(const Labels& labels, const google::protobuf::RepeatedField<std::uint32_t>& refs,
                 const v2_request& message) {
    if (labels.size() * 2 != refs.size()) return false;
    for (int i = 0; i < labels.size(); ++i) {
        if (labels.Get(i).name() != message.symbols(static_cast<int>(refs.Get(2 * i)))) return false;
        if (labels.Get(i).value() != message.symbols(static_cast<int>(refs.Get(2 * i + 1)))) return false;
    }
    return true;
}

inline std::string compare_series(const io::prometheus::write::v2::TimeSeries& series, const v2_request& message,
                                  const prometheus::TimeSeries& made) {
    namespace v2 = io::prometheus::write::v2;
    if (!same_labels(made.labels(), series.labels_refs(), message)) return "other labels";
    if (made.GetReflection()->GetUnknownFields(made).field_count() != 0) return "unknown fields in a series";
    if (made.samples_size() != series.samples_size()) return "another number of samples";
    for (int i = 0; i < made.samples_size(); ++i)
        if (as_message<v2::Sample>(made.samples(i)) != series.samples(i).SerializeAsString()) return "another sample";
    int next = 0;
    for (const auto& histogram : series.histograms()) {
        if (histogram.schema() == -53) continue;
        if (next == made.histograms_size()) return "too few histograms";
        if (as_message<v2::Histogram>(made.histograms(next++)) != histogram.SerializeAsString())
            return "another histogram";
    }
    if (next != made.histograms_size()) return "too many histograms";
    if (made.exemplars_size() != series.exemplars_size()) return "another number of exemplars";
    for (int i = 0; i < made.exemplars_size(); ++i) {
        auto of_v1 = made.exemplars(i);
        auto of_v2 = series.exemplars(i);
        if (!same_labels(of_v1.labels(), of_v2.labels_refs(), message)) return "other labels of an exemplar";
        of_v1.clear_labels();
        of_v2.clear_labels_refs();
        if (as_message<v2::Exemplar>(of_v1) != of_v2.SerializeAsString()) return "another exemplar";
    }
    return {};
}

/// Whether the message as a whole says of the kept series what the original does.
inline std::string compare_translation(const v2_request& message, const std::set<int>& kept,
                                       const translation_loss& lost, const prometheus::WriteRequest& made) {
    std::set<told_metadata> expected_metadata;
    std::uint32_t expected_lost = 0;
    std::uint32_t expected_invalid = 0;
    int next = 0;
    // A receiver of remote write 1 drops such an entry without a word.
    const auto is_dropped = [&message](const auto& series) {
        if (series.samples_size() + series.histograms_size() + series.exemplars_size() == 0) return false;
        std::set<std::string> names;
        bool has_name = false;
        for (int i = 0; i + 1 < series.labels_refs_size(); i += 2) {
            const std::string name{message.symbols(static_cast<int>(series.labels_refs(i)))};
            const std::string value{message.symbols(static_cast<int>(series.labels_refs(i + 1)))};
            if (!names.insert(name).second || !is_utf8(name) || !is_utf8(value)) return true;
            has_name |= name == "__name__" && !value.empty();
        }
        return !has_name;
    };
    for (const int entry : kept) {
        const auto& series = message.timeseries(entry);
        if (is_dropped(series)) {
            ++expected_invalid;
            continue;
        }
        std::uint32_t custom = 0;
        for (const auto& histogram : series.histograms()) custom += histogram.schema() == -53;
        expected_lost += custom;
        const bool has_more = series.samples_size() + series.exemplars_size() != 0 ||
                              static_cast<std::uint32_t>(series.histograms_size()) != custom;
        if (custom != 0 && !has_more) continue;
        if (next == made.timeseries_size()) return "too few series";
        if (auto wrong = compare_series(series, message, made.timeseries(next++)); !wrong.empty()) return wrong;

        std::string name;
        for (int i = 0; i < series.labels_refs_size(); i += 2)
            if (name.empty() && message.symbols(static_cast<int>(series.labels_refs(i))) == "__name__")
                name = message.symbols(static_cast<int>(series.labels_refs(i + 1)));
        const auto& told = series.metadata();
        if (name.empty() || (told.type() == 0 && told.help_ref() == 0 && told.unit_ref() == 0)) continue;
        const auto text = [&](std::uint32_t ref) {
            return ref == 0 ? std::string{} : std::string{message.symbols(static_cast<int>(ref))};
        };
        expected_metadata.emplace(told.type(), family_by_the_book(name, told.type()), text(told.help_ref()),
                                  text(told.unit_ref()));
    }
    if (next != made.timeseries_size()) return "too many series";
    if (lost.histograms != expected_lost) return "another number of histograms left out";
    if (lost.invalid.series != expected_invalid) return "another number of series left out";
    if (made.GetReflection()->GetUnknownFields(made).field_count() != 0) return "unknown fields";
    std::set<told_metadata> metadata;
    for (const auto& each : made.metadata())
        metadata.emplace(each.type(), each.metric_family_name(), each.help(), each.unit());
    return metadata == expected_metadata ? std::string{} : "other metadata";
}

/// Translates an accepted body without a random part of its series. @return what is wrong with the outcome.
inline std::string check_translation(bytes_view body, const walk_check& check, random_source& random) {
    std::vector<byte_range> removed;
    std::set<int> kept;
    const bool keep_all = one_in(random, 2);
    for (int entry = 0; entry < static_cast<int>(check.records.size()); ++entry) {
        const bool is_left_out = std::ranges::any_of(
            check.left_out, [&](const left_out_record& each) { return each.entry == static_cast<std::size_t>(entry); });
        if (!is_left_out && (keep_all || one_in(random, 2))) {
            kept.insert(entry);
        } else {
            removed.push_back(check.records[static_cast<std::size_t>(entry)]);
        }
    }
    static translator translate{hash_key::known_to_all()};  // as long-lived as a worker's
    std::string out;
    const translation_loss lost = translate(body, removed, out);
    prometheus::WriteRequest made;
    if (!made.ParseFromString(out)) return "libprotobuf refuses the translation";
    auto wrong = compare_translation(parse_v2(body).value_or(v2_request{}), kept, lost, made);
    if (!wrong.empty()) return wrong;

    int seen = 0;
    write_request_reader reader{out};
    while (reader.next()) ++seen;
    if (reader.failed()) return "the walk refuses the translation: " + to_string(reader.error());
    return seen == made.timeseries_size() ? std::string{} : "the walk sees another number of series";
}

}  // namespace seriesgate::testing
