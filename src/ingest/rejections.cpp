#include "ingest/rejections.hpp"

#include <fmt/format.h>

#include <string>

#include "core/text.hpp"

namespace seriesgate {
namespace {

/// Whether a bound was in the way, and not the body's form.
bool is_over_bound(wire_errc code) {
    switch (code) {
        case wire_errc::declared_size_over_limit:
        case wire_errc::expands_too_much:
        case wire_errc::series_over_limit:
        case wire_errc::unordered_labels_over_limit:
        case wire_errc::symbols_over_limit:
        case wire_errc::request_symbol_bytes_over_limit:
        case wire_errc::rule_work_over_limit:
            return true;
        default:
            return false;
    }
}

}  // namespace

reply malformed(const wire_error& error) {
    const reject_reason reason = is_over_bound(error.code) ? reject_reason::too_large : reject_reason::malformed;
    return rejection(reason, 400, to_string(error));
}

reply undecodable(const wire_error& error, std::uint64_t decoded_bytes_max) {
    if (error.code != wire_errc::declared_size_over_limit) return malformed(error);
    const std::string size = error.size != 0 ? counted(error.size, "byte") : std::string{"it goes on"};
    return rejection(reject_reason::too_large, 400,
                     fmt::format("{}: {}, at most {}", to_string(error), size, counted(decoded_bytes_max, "byte")));
}

reply unsupported_media(std::string_view fault) {
    return rejection(reject_reason::unsupported_media, 415, fault);
}

reply looped() {
    return rejection(reject_reason::loop, 508,
                     "loop: the request has been here before, or has passed too many gates (see its Via header): an "
                     "upstream.url leads back");
}

}  // namespace seriesgate
