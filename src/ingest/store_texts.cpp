#include "ingest/store_texts.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

#include "config/units.hpp"
#include "core/text.hpp"
#include "upstream/request.hpp"

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

/// What the gate says of itself, it alone says.
void drop_own_names(http::fields& headers) {
    constexpr std::string_view prefix = "X-Seriesgate-";
    for (auto each = headers.begin(); each != headers.end();) {
        const std::string_view name = each->name_string();
        each = equal_ignoring_case(name.substr(0, prefix.size()), prefix) ? headers.erase(each) : std::next(each);
    }
}

http::fields cleared(const http::fields& headers, const store_access& from) {
    http::fields made;
    for (const auto& field : headers)
        made.insert(field.name(), field.name_string(), from.without_secrets(field.value()));
    return made;
}

void clear_of_ours(reply& answer, const store_access& from) {
    if (from.has_query())
        for (const auto name : {http::field::location, http::field::content_location}) answer.headers.erase(name);
    answer.headers = cleared(answer.headers, from);
    const bool is_compressed = answer.headers.find(http::field::content_encoding) != answer.headers.end();
    std::string body = is_compressed ? std::string{} : from.without_secrets(answer.body);
    if (body == answer.body) return;
    answer.body = std::move(body);
    drop_body_digests(answer.headers);
    for (const auto name : {http::field::content_encoding, http::field::etag}) answer.headers.erase(name);
}

}  // namespace

std::string unanswered_line(const upstream_error& error, const upstream_config& upstream) {
    switch (error.reason) {
        case upstream_error_reason::timeout:
            return fmt::format("no answer from the upstream {} within upstream.timeout ({}){}", error.backend,
                               format_duration(upstream.timeout), error.text);
        case upstream_error_reason::busy:
            return fmt::format("the upstream {} is busy: {}", error.backend, error.text);
        case upstream_error_reason::unauthorized:
            return fmt::format("the upstream {} does not take the credentials of the gate: {}", error.backend,
                               error.text);
        case upstream_error_reason::connection_lost:
            return fmt::format("the upstream {} broke off: {}", error.backend, error.text);
        case upstream_error_reason::invalid_answer:
            return fmt::format("the answer of the upstream {} cannot be passed on: {}", error.backend, error.text);
        default:
            return fmt::format("cannot reach the upstream {}: {}", error.backend, error.text);
    }
}

reply unanswered_reply(const upstream_error& error, std::string_view line) {
    reply made = text_reply(status_of(error.reason), line);
    return made.status == 503 ? come_again(std::move(made)) : made;
}

reply passed_on(upstream_answer answer, std::string_view tenant_header, const store_access& from) {
    reply made{.status = answer.status, .headers = {}, .body = std::move(answer.body)};
    copy_end_to_end(answer.headers, made.headers, tenant_header);
    drop_own_names(made.headers);
    if (!is_success(made.status) && from.has_secrets()) clear_of_ours(made, from);
    return made;
}

}  // namespace seriesgate
