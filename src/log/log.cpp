#include "log/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <chrono>
#include <memory>

namespace seriesgate::log {
namespace {

spdlog::level::level_enum spdlog_level(level of) noexcept {
    switch (of) {
        case level::debug:
            return spdlog::level::debug;
        case level::info:
            return spdlog::level::info;
        case level::warn:
            return spdlog::level::warn;
        case level::error:
            break;
    }
    return spdlog::level::err;
}

/// Lines are whole when they come here. stdout holds answers only: --version, --help, --check-config.
spdlog::logger make_sink() {
    spdlog::logger made{"", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
    made.set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
    made.set_level(spdlog::level::info);
    return made;
}

spdlog::logger& sink() {
    static spdlog::logger only = make_sink();
    return only;
}

std::atomic<format> form{format::logfmt};

}  // namespace

void set_up(format as, level from) {
    form.store(as, std::memory_order_relaxed);
    sink().set_level(spdlog_level(from));
}

bool is_written(level of) noexcept {
    return sink().should_log(spdlog_level(of));
}

void write(level of, std::string_view message, std::span<const field> with) noexcept try {
    const auto as = spdlog_level(of);
    if (!sink().should_log(as)) return;
    sink().log(as, line_of(form.load(std::memory_order_relaxed), of, std::chrono::system_clock::now(), message, with));
} catch (...) {  // no memory: the event counts, not what is said of it
}

}  // namespace seriesgate::log
