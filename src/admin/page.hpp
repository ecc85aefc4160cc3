/// What /, /stats, /metrics and the API answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "admin/api_question.hpp"
#include "admin/budget_choice.hpp"
#include "admin/desk.hpp"

namespace seriesgate {

enum class page_kind : std::uint8_t { metrics, stats, status, api };

/// Two requests with the same key get the same text.
struct page_key {
    page_kind kind = page_kind::metrics;
    budget_choice shown{};  ///< on /stats
    api_question asked{};   ///< of the API

    /// One of any number that there may be.
    [[nodiscard]] bool is_part() const { return kind == page_kind::api || shown != budget_choice{}; }
    bool operator==(const page_key&) const = default;
};

/// One text for all who asked for it together. Null: none can be made now.
using page_text = std::shared_ptr<const std::string>;

/// Where pages are asked for.
using page_desk = desk<page_key, page_text>;

/// The texts of one sort that someone is still reading: bounds what slow readers hold.
///
/// While they hold less than held_bytes_max, everyone gets a text of the moment. From there on newcomers share the
/// newest one with their key for as long as it is no older than age_max, and then get none. So the texts take at most
/// held_bytes_max and one more.
///
/// Threads: one; texts are let go by any.
class page_shelf {
    using time_point = std::chrono::steady_clock::time_point;
    struct entry {
        page_key key;
        std::weak_ptr<const std::string> text;
        std::size_t bytes;
        time_point made;
    };
    std::vector<entry> entries_;  // oldest first

  public:
    static constexpr std::size_t held_bytes_max = 32u << 20;
    /// The time that a session grants for reading an answer: what was held when this text was made has been let go.
    static constexpr auto age_max = std::chrono::seconds{30};

    /// Whether another text may be made.
    [[nodiscard]] bool has_room();
    /// The newest text with this key that is young enough and still held; null if there is none.
    [[nodiscard]] page_text newest(const page_key& key, time_point now) const;
    void put(const page_key& key, const page_text& text, time_point now);
};

}  // namespace seriesgate
