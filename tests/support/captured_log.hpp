/// What the process writes to its log, as a test reads it.
#pragma once

#include <unistd.h>

#include <cassert>
#include <chrono>
#include <cstdio>
#include <string>

#include "base/log.hpp"

namespace seriesgate::testing {

/// Takes stderr away as long as it lives. Threads: one at a time.
class captured_log {
    std::FILE* kept_ = std::tmpfile();
    int usual_ = ::dup(STDERR_FILENO);
    static constexpr auto limit = std::chrono::seconds{10};

  public:
    captured_log() {
        assert(kept_ != nullptr && usual_ >= 0);
        log::flush(limit);
        ::dup2(::fileno(kept_), STDERR_FILENO);
    }
    captured_log(const captured_log&) = delete;
    captured_log& operator=(const captured_log&) = delete;
    ~captured_log() {
        log::flush(limit);
        ::dup2(usual_, STDERR_FILENO);
        ::close(usual_);
        std::fclose(kept_);
    }

    /// All lines, each from `level=` on: without the time.
    [[nodiscard]] std::string text() const {
        std::string text;
        char line[4096];
        log::flush(limit);
        std::rewind(kept_);
        while (std::fgets(line, sizeof line, kept_) != nullptr) {
            const std::string whole{line};
            text += whole.substr(whole.find("level="));
        }
        return text;
    }
};

}  // namespace seriesgate::testing
