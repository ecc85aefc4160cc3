#include "redis/reply_reader.hpp"

#include <new>

namespace seriesgate {
namespace {

/// hiredis' own, which it names nowhere.
const redisReplyObjectFunctions& usual_functions() {
    static const redisReplyObjectFunctions found = [] {
        redisReader* const reader = redisReaderCreate();
        if (reader == nullptr) throw std::bad_alloc{};
        const redisReplyObjectFunctions functions = *reader->fn;
        redisReaderFree(reader);
        return functions;
    }();
    return found;
}

std::size_t depth_of(const redisReadTask* task) {
    std::size_t depth = 1;
    for (; task->parent != nullptr; task = task->parent) ++depth;
    return depth;
}

/// Version 0.14 believes any count and allocates for it; 1.0 counts in std::size_t.
template <class Count>
void* bounded_array(const redisReadTask* task, Count elements) {
    auto& seen = *static_cast<reply_shape*>(task->privdata);
    seen.elements += static_cast<std::size_t>(elements);
    seen.is_too_deep = depth_of(task) > reply_reader::depth_max;
    if (seen.is_too_deep || seen.elements > reply_reader::elements_max) return nullptr;
    return usual_functions().createArray(task, elements);
}

redisReplyObjectFunctions& bounded_functions() {
    static redisReplyObjectFunctions made = [] {
        redisReplyObjectFunctions functions = usual_functions();
        functions.createArray = bounded_array;
        return functions;
    }();
    return made;
}

}  // namespace

reply_reader::reply_reader() : reader_(redisReaderCreateWithFunctions(&bounded_functions())) {
    if (!reader_) throw std::bad_alloc{};
    reader_->privdata = &shape_;
}

void reply_reader::take(std::string_view bytes) {
    if (!fault_.empty()) return;
    bytes_ += bytes.size();
    if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) fault_ = reader_->errstr;
}

std::string_view reply_reader::unread() const noexcept {
    return {reader_->buf + reader_->pos, reader_->len - reader_->pos};
}

redis_reply reply_reader::next() {
    if (!fault_.empty()) return nullptr;
    void* reply = nullptr;
    const bool is_good = redisReaderGetReply(reader_.get(), &reply) == REDIS_OK;
    if (reply != nullptr) {
        shape_ = {};
        bytes_ = unread().size();
        return redis_reply{static_cast<redisReply*>(reply)};
    }
    if (!is_good)
        fault_ = shape_.is_too_deep               ? "a reply that is nested too deep"
                 : shape_.elements > elements_max ? "a reply of too many elements"
                                                  : reader_->errstr;
    else if (bytes_ > bytes_max)
        fault_ = "a reply of more than 16 MiB";
    else if (unread().size() > line_bytes_max &&
             unread().substr(0, line_bytes_max).find("\r\n") == std::string_view::npos)
        fault_ = "a line of more than 64 KiB";
    return nullptr;
}

}  // namespace seriesgate
