// Any bytes as a configuration file, and as the value of one key: an outcome, never an exception or a crash.
#include <cstdint>
#include <string>

#include "config/keys.hpp"
#include "config/load.hpp"
#include "fuzz/fuzz_target.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

void require_readable(const load_outcome& outcome) {
    for (const config_error& error : outcome.errors) {
        const std::string text = error.text();
        require(!error.message.empty(), "an error says nothing");
        require(text.find_first_of("\n\r") == std::string::npos, "an error takes more than a line");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = as_bytes(data, size);
    require_readable(load_config_text(text, "fuzz.yaml", {}));
    const auto keys = config_keys();
    const overrides flags{{"upstream.url", "discard:"},
                          {std::string{keys[size % keys.size()].name}, std::string{text}}};
    require_readable(load_config_text("", "", flags));
    return 0;
}
