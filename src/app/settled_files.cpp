#include "app/settled_files.hpp"

#include <algorithm>
#include <utility>

namespace seriesgate {

bool settled_files::watch(const std::vector<std::string>& paths) {
    bool is_new = false;
    for (const std::string& each : paths)
        is_new = files_.try_emplace(each, watched{.file = text_file{each}}).second || is_new;
    std::erase_if(files_, [&](const auto& known) { return std::ranges::find(paths, known.first) == paths.end(); });
    if (!is_new) return false;
    is_unread_ = true;
    changed_.reset();
    return true;
}

bool settled_files::look(clock::time_point now) {
    bool changed = !changed_;
    for (auto& [path, one] : files_) changed = look_at(one) || changed;
    if (changed) {
        is_unread_ = true;
        changed_ = now;
    }
    return is_unread_ && now - *changed_ >= settling;
}

/// @return whether it is another one than at the last look.
bool settled_files::look_at(watched& one) {
    const auto found = one.file.refresh();
    std::string fault = found ? std::string{} : found.error();
    const bool is_new_fault = fault != one.fault;
    one.fault = std::move(fault);
    return is_new_fault || (found && *found);
}

}  // namespace seriesgate
