/// What the store does not take, in the log.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/reply.hpp"
#include "log/line.hpp"
#include "log/sparse_log.hpp"
#include "upstream/store_access.hpp"

namespace seriesgate {

/// At most one line in ten seconds for each status. Threads: any.
class store_error_log {
    static constexpr unsigned status_min = 300;
    static constexpr unsigned status_max = 599;
    std::array<sparse_log, status_max - status_min + 1> logs_{};

  public:
    /// @return the requests since the last line about this status, if a line is due now: the caller then writes it.
    /// Nothing for a success.
    std::optional<std::uint64_t> count(unsigned status,
                                       sparse_log::clock::time_point now = sparse_log::clock::now()) noexcept;

    /// Requests that nobody has been told of, one status after the other, where a line about them is due now.
    template <class Tell>
    void rest(Tell tell, sparse_log::clock::time_point now = sparse_log::clock::now()) {
        for (unsigned status = status_min; status <= status_max; ++status)
            if (const auto requests = logs_[status - status_min].rest(now)) tell(status, *requests);
    }
};

/// What a line shows of a store's answer, cut.
struct store_words {
    std::string text;  ///< its first line, unless it is compressed
    std::string retry_after;
};

/// A store may repeat what it was asked with: our credentials and the arguments of its backends' queries are left out.
store_words said_by_store(const reply& answer, const store_access& store);

/// What senders do with what is answered so: `retry`, or `drop`, and the data is lost.
std::string_view senders_then(unsigned status) noexcept;

/// The fields of the line: how many, and one of them as an example. They point at what is passed.
/// @param status of the store's answer. @param said see said_by_store().
/// @param sender its address; may be empty. @param tenant as the sender named it; may be empty.
std::array<log::field, 7> describe_store_error(unsigned status, const store_words& said, std::uint64_t requests,
                                               std::string_view sender, std::string_view tenant);

}  // namespace seriesgate
