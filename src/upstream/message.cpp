#include "upstream/message.hpp"

#include <algorithm>
#include <boost/beast/http/verb.hpp>

#include "core/path_tenant.hpp"
#include "upstream/headers.hpp"

namespace seriesgate {
namespace {

std::string target_of(const store_backend& backend, std::string_view query, std::string_view tenant) {
    std::string target = backend.target.reveal();
    const std::size_t path_end = std::min(target.find('?'), target.size());
    if (const auto mark = find_tenant_mark(std::string_view{target}.substr(0, path_end)))
        target = std::string{mark->before}.append(tenant).append(mark->behind).append(target, path_end);
    if (query.empty()) return target;
    target += target.find('?') == std::string::npos ? '?' : '&';
    target += query;
    return target;
}

}  // namespace

upstream_message make_message(const upstream_config& settings, const store_backend& backend,
                              const upstream_request& request) {
    const auto host = request.headers.find(http::field::host);
    const bool keeps_host = settings.host_header == upstream_host::sender && host != request.headers.end();
    upstream_message made{.http = {http::verb::post, target_of(backend, request.query, request.path_tenant), 11},
                          .body_owner = request.body_owner,
                          .to = &backend,
                          .query = std::string{request.query},
                          .tenant = std::string{request.path_tenant},
                          .shows_us = request.for_replica,
                          .keeps_host = keeps_host};
    auto& message = made.http;
    message.set(http::field::host, keeps_host ? host->value() : boost::beast::string_view{backend.authority});
    copy_end_to_end(request.headers, message, request.tenant_header);
    if (!request.keeps_authorization || request.for_replica) message.erase(http::field::authorization);
    if (request.for_replica) message.erase(http::field::cookie);
    if (!request.tenant.empty()) message.set(request.tenant_header, request.tenant);
    if (request.body_changed) {
        drop_body_digests(message);
        message.erase(http::field::accept_encoding);  // the answer may get a line of ours
    }
    if (!request.content_type.empty()) message.set(http::field::content_type, request.content_type);
    if (!request.content_encoding.empty()) message.set(http::field::content_encoding, request.content_encoding);
    if (request.translated) {
        message.set(http::field::content_type, "application/x-protobuf");
        message.set("X-Prometheus-Remote-Write-Version", "0.1.0");
    }
    add_via(message);
    message.body() = {request.body.data(), request.body.size()};
    message.content_length(request.body.size());
    return made;
}

void readdress(upstream_message& message, const store_backend& backend) {
    if (message.to == &backend) return;
    message.to = &backend;
    message.http.target(target_of(backend, message.query, message.tenant));
    if (message.keeps_host) return;
    http::fields others;
    for (const auto& field : message.http.base())
        if (field.name() != http::field::host) others.insert(field.name(), field.name_string(), field.value());
    message.http.clear();  // Host is the first one, as some servers want it
    message.http.set(http::field::host, backend.authority);
    for (const auto& field : others) message.http.insert(field.name(), field.name_string(), field.value());
}

}  // namespace seriesgate
