/// Reads answers of a Prometheus query API while they arrive.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "series/label.hpp"

namespace seriesgate {

/// Takes an answer of /api/v1/query (a vector) or /api/v1/label/.../values in pieces, in bounded memory: that of one
/// series. Values and unknown keys are skipped.
/// Source: Prometheus documentation, "HTTP API", JSON envelope. VictoriaMetrics adds `isPartial`.
/// Threads: one at a time.
class query_answer {
  public:
    /// Longest labels of a series, and longest item of a list.
    static constexpr std::size_t text_bytes_max = 1u << 20;

    /// Gets the labels of each series, sorted by name; valid during the call.
    using take_series = std::function<void(std::span<const label_view>)>;
    /// Gets each item of a list of texts; valid during the call.
    using take_text = std::function<void(std::string_view)>;

    explicit query_answer(take_series series, take_text text = {});
    ~query_answer();

    /// @return false if the answer is no JSON, not of this form, or too long; see fault(). Then the rest is ignored.
    bool write(std::string_view bytes);

    /// After the last byte. @return why the answer is of no use, one line; empty if it is complete.
    [[nodiscard]] std::string fault();

    /// The store's error, or its type, as it came and cut; empty if it reports none.
    [[nodiscard]] const std::string& error() const noexcept;
    /// Why the store's answer may lack series: its first warning, as it came and cut. Empty: it lacks none.
    [[nodiscard]] const std::string& warning() const noexcept;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace seriesgate
