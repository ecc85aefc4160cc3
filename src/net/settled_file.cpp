#include "net/settled_file.hpp"

namespace seriesgate {

const std::string& settled_file::load() {
    const auto found = file_.refresh();
    last_fault_ = fault_ = found ? std::string{} : found.error();
    if (found) text_ = file_.text();
    return fault_;
}

bool settled_file::refresh(const file_look& look) {
    const auto found = file_.refresh();
    if (found && *found) changed_ = look.now;
    std::string fault = found ? std::string{} : found.error();
    if (fault != last_fault_) changed_ = look.now;
    last_fault_ = fault;
    if (!changed_ || (!look.are_whole && look.now - *changed_ < settling)) return false;
    const bool is_new = fault != fault_ || (found && file_.text() != text_);
    if (found) text_ = file_.text();
    fault_ = std::move(fault);
    changed_.reset();
    return is_new;
}

}  // namespace seriesgate
