// Any bytes as a configuration file, and as the value of one key: an outcome, never an exception or a crash; and what
// is shown of a configuration loads as the same.
#include "config/effective.hpp"
#include "config/keys.hpp"
#include "config/load.hpp"
#include "fuzz/fuzz_target.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

void require_readable(const load_outcome& outcome) {
    for (const auto* found : {&outcome.errors, &outcome.warnings})
        for (const config_error& error : *found) {
            const std::string text = error.text();
            require(!error.message.empty(), "an error says nothing");
            require(text.find_first_of("\n\r") == std::string::npos, "an error takes more than a line");
        }
}

const std::string secret = "Qz7 'Xk=\"hunter2\"(";

/// ${S} and ${N} are set.
std::optional<std::string> variable(const std::string& name) {
    if (name == "S") return secret;
    return name == "N" ? std::optional<std::string>{"2.5M"} : std::nullopt;
}

void require_silent(const load_outcome& outcome) {
    for (const config_error& error : outcome.errors)
        require(error.message.find("hunter2") == std::string::npos, "an error repeats the value of a variable");
}

bool has_secrets(const store_backend& backend) {
    return without_secrets(backend.url.reveal()) != backend.url.reveal();
}

/// The URL may have secrets, so it comes as a flag; those of others that have some are left out, since they are not
/// shown, and so is what has headers. What is shown may be longer than a file may be.
void require_shown(config loaded) {
    constexpr std::size_t file_bytes_max = 1 << 20;
    store_config& store = loaded.upstream.store;
    std::vector<replica_config>& replicas = loaded.upstream.replicas;
    const std::string url = store.backends.empty() ? "discard:" : store.backends.front().url.reveal();
    if (store.backends.size() > 1) store.backends.resize(1);
    std::erase_if(replicas, [](const replica_config& each) {
        return !each.store.headers.empty() || std::ranges::any_of(each.store.backends, has_secrets);
    });
    // What headers say is shown as a mark.
    for (auto& [name, value] : store.headers)
        if (value != secret_text{}) value = secret_text{secret_mark};
    config without_url = loaded;
    without_url.upstream.discard = true;
    without_url.upstream.store.backends.clear();
    const std::string text = effective_yaml(without_url);
    if (text.size() > file_bytes_max) return;
    const load_outcome again = load_config_text(text, "shown.yaml", {{"upstream.url", url}});
    require(again.ok(), "what is shown does not load");
    require(again.value == loaded, "what is shown loads as something else");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = as_bytes(data, size);
    const auto filled = load_config_text(text, "fuzz.yaml", {}, variable);
    require_readable(filled);
    if (text.find("hunter2") == std::string::npos) require_silent(filled);
    if (filled.ok()) require_shown(filled.value);
    const auto keys = config_keys();
    const overrides flags{{"upstream.url", "discard:"}, {keys[size % keys.size()].about.name, std::string{text}}};
    require_readable(load_config_text("", "", flags));
    return 0;
}
