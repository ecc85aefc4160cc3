#include "app/warnings.hpp"

#include <algorithm>
#include <cstddef>

#include "log/log.hpp"

namespace seriesgate {
namespace {

/// Of one file; --check-config prints all.
constexpr std::size_t logged_warnings_max = 10;

}  // namespace

void log_warnings(const load_outcome& loaded) {
    const auto& all = loaded.warnings;
    for (std::size_t i = 0; i < std::min(all.size(), logged_warnings_max); ++i)
        log::warn("doubtful configuration",
                  {{"where", all[i].where}, {"key", all[i].key}, {"warning", all[i].message}});
    if (all.size() > logged_warnings_max)
        log::warn("doubtful configuration, --check-config prints all warnings",
                  {{"more_warnings", all.size() - logged_warnings_max}});
}

}  // namespace seriesgate
