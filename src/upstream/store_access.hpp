/// How we get into a store: what says who we are, and TLS.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "core/synchronization.hpp"
#include "net/http_fields.hpp"
#include "net/tls_files.hpp"
#include "net/tls_session.hpp"
#include "net/watched_file.hpp"

namespace seriesgate {

// --- Who we are to a store.

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

/// All that is made of files is as they were when they were last good. Threads: any.
class store_access {
    const store_config& store_;
    store_credentials credentials_;
    const bool has_query_;            // of a backend
    std::mutex reading_;              // of whoever refreshes
    std::unique_ptr<tls_files> tls_;  // with an https:// backend

  public:
    /// Reads the files. Throws std::runtime_error with one line that names the key and the file.
    /// @param key of the store, "upstream"; it must outlive this
    store_access(const store_config& store, const std::string& key);

    /// Reads the files again that have changed.
    void refresh(const file_look& look = {});

    /// See store_credentials.
    bool put_into(http::fields& request) const { return credentials_.put_into(request); }

    /// Whether requests to the store hold anything of ours that is to be kept from senders.
    [[nodiscard]] bool has_secrets() const noexcept { return has_query_ || credentials_.has_any(); }
    /// Whether one of its URLs has a query.
    [[nodiscard]] bool has_query() const noexcept { return has_query_; }

    /// A text from outside without what requests to the store hold of ours: it may repeat that.
    [[nodiscard]] std::string without_secrets(std::string_view text) const;

    /// What connections to its https:// backends are made with from now on; nothing if there are none.
    [[nodiscard]] std::shared_ptr<const tls_context> tls() const;

    /// A client's session for a connection to that backend, which has https://.
    [[nodiscard]] std::unique_ptr<tls_session> make_session(std::shared_ptr<const tls_context> with,
                                                            const store_backend& backend) const;
};

/// The stores of an upstream by their numbers: 0 is the first one, then the replicas.
const store_config& store_at(const upstream_config& of, std::size_t which);
/// How the configuration calls one.
std::string store_key(std::size_t which);

/// What is wrong with files that the stores need, a line each.
std::vector<std::string> faults_of_files(const upstream_config& of);

}  // namespace seriesgate
