/// What the readers of both versions of remote write share.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/bytes.hpp"
#include "series/fingerprint.hpp"
#include "series/label.hpp"
#include "wire/label_walk.hpp"
#include "wire/sample_records.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

/// A reader serves many requests and reuses its buffers. Threads: one at a time.
class series_reader {
  public:
    /// Valid until next() is called again.
    [[nodiscard]] const series_view& series() const noexcept { return series_; }
    /// Metadata entries passed so far; v2 has none: its series entries have metadata.
    [[nodiscard]] std::uint32_t metadata_count() const noexcept { return metadata_; }
    /// Labels that were sorted so far, see unordered_labels_per_request_max; these are the slowest.
    [[nodiscard]] std::size_t unordered_labels() const noexcept { return unordered_labels_; }
    [[nodiscard]] bool failed() const noexcept { return error_.code != wire_errc::none; }
    [[nodiscard]] wire_error error() const noexcept { return error_; }

  protected:
    bytes_view body_;
    series_view series_;
    label_walk labels_;
    label_hasher hasher_;
    std::vector<label_view> odd_labels_;       // of an entry without one ascending run of labels
    std::optional<left_out_series> left_out_;  // of the last entry read by its records
    std::size_t unordered_labels_ = 0;
    std::uint32_t metadata_ = 0;
    wire_error error_;

    /// @param hasher knows the ignored labels.
    explicit series_reader(label_hasher hasher) : hasher_(std::move(hasher)) {}

    void take_body(bytes_view body) noexcept {
        assert(body.size() <= decoded_bytes_limit);
        body_ = body;
        labels_.start(body.data() + body.size());
        unordered_labels_ = 0;
        metadata_ = 0;
        error_ = {};
    }
    void take_hashes() noexcept {
        series_.labels_hash = labels_.sum();
        if (hasher_.ignores_any()) series_.set_apart(labels_.ignored_sum());
    }
    /// Instead, from odd_labels_. @return false if there were too many such labels.
    bool take_odd_hashes() {
        assert(odd_labels_.size() <= labels_per_series_max);
        unordered_labels_ += odd_labels_.size();
        if (unordered_labels_ > unordered_labels_per_request_max) return false;
        series_.labels_hash = hasher_(odd_labels_);
        if (hasher_.ignores_any()) series_.ignored_hash = hasher_.ignored(odd_labels_);
        return true;
    }
    /// The first fault is enough.
    void leave_out(series_fault fault) noexcept {
        if (!left_out_) left_out_ = left_out_series{.fault = fault};
    }
    void note_error(wire_errc code, const char* at) noexcept {
        assert(code != wire_errc::none && at >= body_.data() && at <= body_.data() + body_.size());
        error_ = {code, static_cast<std::uint64_t>(at - body_.data())};
    }
    void shrink_labels() {
        hasher_.shrink();
        give_back(odd_labels_);
    }
};

}  // namespace seriesgate
