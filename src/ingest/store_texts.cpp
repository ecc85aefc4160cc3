#include "ingest/store_texts.hpp"

#include <fmt/format.h>

#include <utility>

#include "config/units.hpp"
#include "upstream/headers.hpp"

namespace seriesgate {
namespace {

unsigned status_of(upstream_error_reason reason) noexcept {
    switch (reason) {
        case upstream_error_reason::timeout:
            return 504;
        case upstream_error_reason::busy:
        case upstream_error_reason::unauthorized:
            return 503;
        default:
            return 502;
    }
}

}  // namespace

std::string unanswered_line(const upstream_error& error, const upstream_config& upstream) {
    switch (error.reason) {
        case upstream_error_reason::timeout:
            return fmt::format("no answer from the upstream {} within upstream.timeout ({}){}", error.door,
                               format_duration(upstream.timeout), error.text);
        case upstream_error_reason::busy:
            return fmt::format("the upstream {} is busy: {}", error.door, error.text);
        case upstream_error_reason::unauthorized:
            return fmt::format("the upstream {} does not take the credentials of the gate: {}", error.door, error.text);
        case upstream_error_reason::connection_lost:
            return fmt::format("the upstream {} broke off: {}", error.door, error.text);
        case upstream_error_reason::invalid_answer:
            return fmt::format("the answer of the upstream {} cannot be passed on: {}", error.door, error.text);
        default:
            return fmt::format("cannot reach the upstream {}: {}", error.door, error.text);
    }
}

reply unanswered_reply(const upstream_error& error, std::string_view line) {
    reply made = text_reply(status_of(error.reason), line);
    return made.status == 503 ? come_again(std::move(made)) : made;
}

reply passed_on(upstream_answer answer, std::string_view tenant_header) {
    reply made{.status = answer.status, .headers = {}, .body = std::move(answer.body)};
    copy_end_to_end(answer.headers, made.headers, tenant_header);
    return made;
}

}  // namespace seriesgate
