#include "config/web_checks.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace seriesgate {
namespace {

// Who shows no certificate is nobody, and nobody has a tenant.
void check_nobody_in_particular(error_report& report, const web_config& read) {
    if (read.tls->client_auth != client_certificates::verify_if_given || read.tenants.empty() || read.ingestion_users)
        return;
    report.add(0, "tenants",
               "bind nobody: with VerifyClientCertIfGiven a sender without a certificate may name any tenant; "
               "ingestion_users has to say who may write, or client_auth_type to be RequireAndVerifyClientCert");
}

}  // namespace

// All users there can be stand in the file, unless they are names of certificates.
void check_web_users(error_report& report, const web_config& read) {
    const bool verifies = read.tls && read.tls->verifies_clients();
    if (verifies && !read.has_users()) return check_nobody_in_particular(report, read);
    const std::string_view why = verifies ? "where there are users, the name in a client's certificate is none"
                                          : "no client's certificate is verified";
    const auto known = [&](const std::string& name) {
        return read.basic_auth_users.contains(name) ||
               std::ranges::count(read.bearer_tokens, name, &bearer_token::name) != 0;
    };
    const auto tell = [&](std::string_view key, const std::string& name) {
        if (!known(name))
            report.add(0, key_below(std::string{key}, name),
                       "is no user: neither of basic_auth_users nor of bearer_tokens, and " + std::string{why});
    };
    for (const auto& [name, tenant] : read.tenants) tell("tenants", name);
    if (read.ingestion_users)
        for (const std::string& name : *read.ingestion_users) tell("ingestion_users", name);
    if (read.admin_users)
        for (const std::string& name : *read.admin_users) tell("admin_users", name);
}

}  // namespace seriesgate
