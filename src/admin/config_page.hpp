/// What GET /config answers.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "admin/page.hpp"
#include "core/synchronization.hpp"

namespace seriesgate {

/// The configuration in force as a text. It is made when it changes, so that asking for it makes nothing.
/// Threads: any.
class config_page {
    guarded<page_text, std::mutex> text_{std::make_shared<const std::string>()};

  public:
    [[nodiscard]] page_text text() { return *text_.lock(); }

    /// Those who are reading the one before read it to its end.
    void replace(page_text next) noexcept {
        std::swap(*text_.lock(), next);  // the old one is let go without the lock
    }
};

}  // namespace seriesgate
