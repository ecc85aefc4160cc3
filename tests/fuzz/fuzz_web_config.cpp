// Any bytes as a web configuration file, and as an Authorization header: an outcome, never an exception or a crash;
// errors of one line each; what is taken can be asked.
#include <cstdint>
#include <string>
#include "config/load.hpp"
#include "fuzz/fuzz_target.hpp"
#include "http/access_control.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

void require_readable(const web_outcome& outcome) {
    for (const config_error& error : outcome.errors) {
        require(!error.message.empty(), "an error says nothing");
        require(error.text().find_first_of("\n\r") == std::string::npos, "an error takes more than a line");
    }
}

void require_bounded(const credentials& shown) {
    const std::size_t bytes = shown.secret.reveal().size();
    if (shown.as == credentials::kind::basic) require(bytes <= password_bytes_max, "a password is too long");
    if (shown.as == credentials::kind::bearer) require(bytes <= token_bytes_max, "a token is too long");
    require(shown.as != credentials::kind::unreadable || bytes == 0, "what is unreadable has a secret");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const digest_key key;
    const auto text = as_bytes(data, size);
    require_bounded(read_authorization(text));
    const web_outcome outcome = load_web_config_text(text, "web.yml");
    require_readable(outcome);
    if (!outcome.ok()) return 0;
    const access_rules rules{outcome.value, key, nullptr};
    const access_decision made = rules.decide({.path = "/stats", .authorization = text});
    require(made.is != access_verdict::unchecked || rules.has_users(), "a password is asked for that nobody has");
    return 0;
}
