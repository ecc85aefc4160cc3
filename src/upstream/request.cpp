#include "upstream/request.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/http/verb.hpp>
#include <vector>

#include "core/path_tenant.hpp"
#include "core/text.hpp"
#include "upstream/loop_detection.hpp"

namespace seriesgate {
namespace {

constexpr std::array<std::string_view, 7> never_of_one_hop{"Content-Type",
                                                           "Content-Encoding",
                                                           "Authorization",
                                                           "X-Prometheus-Remote-Write-Version",
                                                           "X-Scope-OrgID",
                                                           "THANOS-TENANT",
                                                           "Via"};

bool decides(std::string_view name, std::string_view tenant_header) {
    return equal_ignoring_case(name, tenant_header) ||
           std::ranges::any_of(never_of_one_hop,
                               [name](std::string_view other) { return equal_ignoring_case(name, other); });
}

/// The names in a message's Connection header, read once: a search of all lists for each field would be quadratic.
/// @return sorted without regard to case; usually empty. Views into the message.
std::vector<std::string_view> hop_fields_of(const http::fields& headers, std::string_view tenant_header) {
    std::vector<std::string_view> names;
    const auto [first, last] = headers.equal_range(http::field::connection);
    for (auto line = first; line != last && names.size() < hop_fields_max; ++line)
        for_each_item(line->value(), [&](std::string_view name) {
            if (!decides(name, tenant_header)) names.push_back(name);
            return names.size() < hop_fields_max;
        });
    std::ranges::sort(names, name_before);
    return names;
}

bool is_of_this_hop(http::field name) {
    constexpr std::array fields{http::field::connection,
                                http::field::keep_alive,
                                http::field::proxy_connection,
                                http::field::proxy_authenticate,
                                http::field::proxy_authorization,
                                http::field::te,
                                http::field::trailer,
                                http::field::transfer_encoding,
                                http::field::upgrade,
                                http::field::host,
                                http::field::content_length,
                                http::field::expect};
    return std::ranges::find(fields, name) != fields.end();
}

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

void copy_end_to_end(const http::fields& from, http::fields& to, std::string_view tenant_header) {
    const std::vector<std::string_view> declared = hop_fields_of(from, tenant_header);
    for (const auto& field : from) {
        if (is_of_this_hop(field.name()) ||
            std::ranges::binary_search(declared, std::string_view{field.name_string()}, name_before))
            continue;
        to.insert(field.name(), field.name_string(), field.value());
    }
}

void drop_body_digests(http::fields& headers) {
    constexpr std::array names{"Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "x-amz-content-sha256"};
    for (const auto* name : names) headers.erase(name);
}

std::size_t bytes_held(const http::fields& headers) {
    // Beast allocates each field by itself, and links it into a list and a tree.
    constexpr std::size_t field_bytes = 96;
    std::size_t bytes = 0;
    for (const auto& field : headers) bytes += field.name_string().size() + field.value().size() + field_bytes;
    return bytes;
}

upstream_message make_message(const upstream_config& settings, const store_backend& backend,
                              const upstream_request& request) {
    const auto host = request.headers.find(http::field::host);
    const bool keeps_host = settings.host_header == upstream_host::sender && host != request.headers.end();
    upstream_message made{.http = {http::verb::post, target_of(backend, request.query, request.path_tenant), 11},
                          .body_owner = request.body_owner,
                          .to = &backend,
                          .query = std::string{request.query},
                          .tenant = std::string{request.path_tenant},
                          .uses_gate_credentials = request.for_replica || !request.keeps_authorization,
                          .keeps_host = keeps_host};
    auto& message = made.http;
    message.set(http::field::host, keeps_host ? host->value() : boost::beast::string_view{backend.authority});
    copy_end_to_end(request.headers, message, request.tenant_header);
    if (!request.keeps_authorization || request.for_replica) message.erase(http::field::authorization);
    if (request.for_replica) message.erase(http::field::cookie);
    if (!request.tenant.empty()) message.set(request.tenant_header, request.tenant);
    if (request.body_changed) {
        drop_body_digests(message);
        message.erase(http::field::accept_encoding);  // the gate may add a line to the answer
    }
    if (!request.content_type.empty()) message.set(http::field::content_type, request.content_type);
    if (!request.content_encoding.empty()) message.set(http::field::content_encoding, request.content_encoding);
    if (request.translated) {
        message.set(http::field::content_type, "application/x-protobuf");
        message.set("X-Prometheus-Remote-Write-Version", "0.1.0");
    }
    message.insert(http::field::via, own_via());  // a second line means the same as a list in one
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
    message.http.clear();  // Host goes first: some servers require it
    message.http.set(http::field::host, backend.authority);
    for (const auto& field : others) message.http.insert(field.name(), field.name_string(), field.value());
}

}  // namespace seriesgate
