/// Who we are to a store.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "core/synchronization.hpp"
#include "net/http_fields.hpp"
#include "net/watched_file.hpp"

namespace seriesgate {

/// What requests to one store say of us: the headers that are configured, and an Authorization made of a password or a
/// token in a file. None of it is ever logged or answered. Threads: any.
class store_credentials {
    const std::map<std::string, secret_text, std::less<>>& headers_;
    const bool has_authorization_;  // among those headers
    const std::string user_name_;
    std::optional<secret_file> file_;  // with basicAuth or bearerTokenFile

    struct proof {
        secret_text secret{};         // as it stands in the file
        secret_text authorization{};  // the header made of it; empty for none
    };
    published<proof> proof_;

  public:
    /// Reads the file. Throws std::runtime_error with one line that names the key and the file.
    /// @param key of the store, "upstream"; must outlive this
    store_credentials(const store_config& store, const std::string& key);

    /// Reads the file again if it has changed. Threads: one at a time.
    void refresh(const file_look& look = {});

    /// Puts them in place of what the sender has said under the same names.
    /// @return whether it is us whom the store then lets in or not: what is left of the sender's Authorization is none.
    bool put_into(http::fields& request) const;

    /// Whether there are any.
    [[nodiscard]] bool has_any() const noexcept { return file_.has_value() || !headers_.empty(); }

    /// What a store may repeat that was sent them.
    void add_secrets(std::vector<secret_text>& to) const;

  private:
    [[nodiscard]] proof make_proof() const;
};

}  // namespace seriesgate
