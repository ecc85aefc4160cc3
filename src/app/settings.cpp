#include "app/settings.hpp"

#include <string>
#include <utility>

#include "app/sender_tls.hpp"
#include "upstream/store_access.hpp"

namespace seriesgate {

load_outcome read_settings(const command_line& asked) {
    load_outcome loaded = load_config(asked.config_file, asked.flags);
    if (!loaded.ok()) return loaded;
    if (std::string fault = fault_of_sender_tls(loaded.value); !fault.empty())
        loaded.errors.push_back({loaded.value.web_config_file, "tls_server_config", std::move(fault)});
    for (std::string& fault : faults_of_files(loaded.value.upstream))
        loaded.errors.push_back({asked.config_file.value_or(""), "", std::move(fault)});
    return loaded;
}

}  // namespace seriesgate
