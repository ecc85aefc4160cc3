// `upstream.replicateTo`: further stores, which get what the first one gets.
#include <array>
#include <utility>

#include "config/endpoint.hpp"
#include "config/known_keys.hpp"
#include "config/rule_values.hpp"
#include "config/store_keys.hpp"

namespace seriesgate {
namespace {

/// A replica as it is read.
struct replica_draft {
    replica_config made;
    bool names_backends = false;  ///< well or not
};

constexpr auto made = &replica_draft::made;
constexpr auto store = &replica_config::store;

void read_url(const placed_value& at, replica_draft& to) {
    to.names_backends = true;
    store_backend backend;
    if (read_scalar(at, [&](std::string_view text) { return assign_backend(text, backend); }))
        to.made.store.backends.push_back(std::move(backend));
}

void read_urls(const placed_value& at, replica_draft& to) {
    if (at.value().kind == yaml_kind::list && at.value().items.empty()) return;
    if (to.names_backends) return at.fail_key("stands beside 'url': one of the two says where the store is");
    to.names_backends = true;
    read_backends(at, to.made.store);
}

constexpr std::array replica_fields{
    field<replica_draft>{"url", read_url},
    field<replica_draft>{"urls", read_urls},
    field<replica_draft>{"bestEffort", into<read_flag, made, &replica_config::best_effort>},
    field<replica_draft>{"tls", into<read_store_tls, made, store>},
    field<replica_draft>{"basicAuth", into<read_basic_auth, made, store>},
    field<replica_draft>{"bearerTokenFile", into<read_bearer_token_file, made, store>},
    field<replica_draft>{"headers", into<read_store_headers, made, store>},
};

}  // namespace

void read_replicas(const placed_value& at, config& target) {
    for (const placed_value& item : read_items(at, replicas_max)) {
        replica_draft draft;
        read_fields(item, replica_fields, draft);
        if (!draft.names_backends) item.fail_below("url", "is required, or 'urls'");
        target.upstream.replicas.push_back(std::move(draft.made));
    }
}

}  // namespace seriesgate
