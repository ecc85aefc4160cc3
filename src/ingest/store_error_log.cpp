#include "ingest/store_error_log.hpp"

#include <cstddef>

#include "http/rejection_log.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t error_bytes_max = 256;
constexpr std::size_t retry_after_bytes_max = 64;

std::string_view value_of(const http::fields& headers, http::field name) {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view{} : std::string_view{found->value()};
}

}  // namespace

std::optional<std::uint64_t> store_error_log::count(unsigned status, sparse_log::clock::time_point now) noexcept {
    if (status < status_min || status > status_max) return std::nullopt;
    return logs_[status - status_min].count(1, now);
}

store_words said_by_store(const reply& answer, const store_access& store) {
    store_words said;
    const auto retry_after = value_of(answer.headers, http::field::retry_after);
    said.retry_after = store.without_secrets(retry_after).substr(0, retry_after_bytes_max);
    if (answer.headers.find(http::field::content_encoding) != answer.headers.end()) return said;
    const std::string_view text = answer.body;
    said.text = store.without_secrets(text.substr(0, text.find_first_of("\r\n"))).substr(0, error_bytes_max);
    return said;
}

std::string_view senders_then(unsigned status) noexcept {
    return status >= 500 || status == 429 ? "retry" : "drop";
}

std::array<log::field, 7> describe_store_error(unsigned status, const store_words& said, std::uint64_t requests,
                                               std::string_view sender, std::string_view tenant) {
    return {{{"requests", requests},
             {"status", status},
             {"senders", senders_then(status)},
             {"retry_after", said.retry_after},
             {"sender", sender},
             {"tenant", shown_tenant(tenant)},
             {"err", said.text}}};
}

}  // namespace seriesgate
