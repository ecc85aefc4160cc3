// Configurations that nobody would write and that the loader takes.
#pragma once

#include "config/config.hpp"
#include "config/endpoint.hpp"
#include "config/keys.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing {

class random_config {
    random_numbers random_;

  public:
    explicit random_config(std::uint64_t seed) : random_(seed) {}

    config make() {
        config made;
        made.listen = {.host = random_.one_in(2) ? "::1" : "127.0.0.1", .port = static_cast<std::uint16_t>(below(100))};
        made.admin_listen = some_admin_listen();
        made.web_config_file = path();
        fill(made.upstream);
        fill(made.rules);
        for (std::size_t i = below(3); i > 0; --i) made.ignore_labels.push_back("ignored_" + label(i));
        made.top_labels.clear();
        for (std::size_t i = below(3); i > 0; --i) made.top_labels.push_back("top_" + label(i));
        made.secret_file = path();
        made.reject_status = random_.one_in(2) ? 409 : 429;
        made.tenant_header = random_.one_in(2) ? "X-Tenant" : "!#$%&'*+-.^_`|~";
        made.state = {.dir = path(), .interval = milliseconds(100, 3'600'000)};
        if (random_.one_in(2)) fill_shared(made);
        if (made.shared.has_store()) made.series_set = set_kind::exact;
        if (random_.one_in(2)) fill_warm_start(made.warm_start, !made.shared.has_store());
        fill(made.server);
        made.log = {.format = random_.one_in(2) ? log::format::json : log::format::logfmt,
                    .level = static_cast<log::level>(below(4))};
        return made;
    }

    bool chance() { return random_.one_in(2); }

    /// Text that has a meaning in YAML, or in a terminal, or none at all.
    std::string text(bool with_zeros = false) {
        static constexpr std::array<std::string_view, 40> parts{
            "a",      "namespace", "'",          "\"",   "\\",   ": ",   " #",   "{",   "}",      ",",
            "[",      "]",         "\n",         "\t",   "\r",   "\x01", "\x7f", "ä",   "\u0085", "€",
            "\u2028", "\ufeff",    "\U0001f600", "\xff", "\x90", "$",    "${A}", "${",  "null",   "~",
            "<<",     "- ",        "? ",         "|",    "&a",   "*a",   "!",    "%@`", "0",      " "};
        std::string made;
        for (std::size_t i = below(5); i > 0; --i) made += parts[below(parts.size())];
        if (with_zeros && random_.one_in(20)) made += '\0';
        if (random_.one_in(40)) made += std::string(400 + below(500), 'x');
        return made;
    }

  private:
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }
    std::uint64_t count() { return random_.one_in(3) ? 0 : random_.below(1'000'000'000'000); }
    std::chrono::milliseconds milliseconds(std::uint64_t min, std::uint64_t max) {
        return std::chrono::milliseconds{static_cast<std::int64_t>(min + random_.below(max - min + 1))};
    }
    series_maxima maxima() { return {.hourly = count(), .daily = count()}; }
    limit_mode mode() { return random_.one_in(2) ? limit_mode::observe : limit_mode::enforce; }
    limit_answer answer() { return random_.one_in(2) ? limit_answer::reject : limit_answer::drop; }
    std::string path() { return random_.one_in(3) ? "" : "/" + text(); }

    std::optional<listen_address> some_admin_listen() {
        if (random_.one_in(3)) return std::nullopt;
        if (random_.one_in(2)) return listen_address{.host = "localhost", .port = 1000};
        return listen_address{.host = {}, .port = 0, .unix_path = "/" + text().substr(0, 100) + "x"};
    }

    void fill(upstream_config& made) {
        made.discard = random_.one_in(4);
        if (!made.discard) fill_backends(made.store, "store");
        fill(made.store);
        for (std::size_t i = below(3); i > 0; --i) {
            replica_config& replica = made.replicas.emplace_back();
            fill_backends(replica.store, "replica-" + std::to_string(i));
            fill(replica.store);
            replica.best_effort = random_.one_in(2);
        }
        made.connections_max = 1 + random_.below(1'000'000);
        made.timeout = milliseconds(1, 3'600'000);
        made.connect_timeout = milliseconds(1, 3'600'000);
        made.protocol = random_.one_in(2) ? upstream_protocol::v1 : upstream_protocol::passthrough;
        made.host_header = random_.one_in(2) ? upstream_host::sender : upstream_host::url;
        for (std::size_t i = below(4); i > 0; --i) made.forward_query.insert(without('&', text()) + std::to_string(i));
    }

    void fill_backends(store_config& made, const std::string& host) {
        for (std::size_t i = below(3) + 1; i > 0; --i)
            REQUIRE(parse_store_url((random_.one_in(2) ? "http://" : "https://") + host + ".test:1234/write/" +
                                        std::to_string(10 * i + below(9)),
                                    made.backends.emplace_back())
                        .empty());
    }

    /// What its headers say is what is shown of them.
    void fill(store_config& made) {
        made.tls.ca_file = path();
        if (random_.one_in(2)) made.tls.cert_file = made.tls.key_file = "/" + text();
        if (random_.one_in(2)) made.tls.server_name = random_.one_in(2) ? "name.test" : "::1";
        if (random_.one_in(2)) made.basic_auth = {.username = "it's # " + label(1), .password_file = "/" + text()};
        std::erase_if(made.basic_auth.username, [](char c) { return c == ':' || (c >= 0 && c < ' ') || c == 0x7f; });
        if (made.basic_auth == basic_auth_config{}) made.bearer_token_file = path();
        for (std::size_t i = below(3); i > 0; --i)
            made.headers.emplace("X-" + std::to_string(i), random_.one_in(5) ? "" : std::string{secret_mark});
    }

    void fill_warm_start(warm_start_config& made, bool has_url) {
        if (has_url) REQUIRE(assign_query_url("https://store.test/prometheus", made.store.backends).empty());
        fill(made.store);
        if (random_.one_in(2)) made.match.push_back(*parse_selector("{a=~\".+\"}"));
        made.lookback = std::chrono::seconds{60 + below(86'340)};
        made.timeout = milliseconds(1'000, 3'600'000);
        for (std::size_t i = below(3); i > 0; --i) made.tenants.push_back("tenant-" + std::to_string(i));
    }

    /// With what a fleet needs, and nothing that it cannot have.
    void fill_shared(config& with) {
        static constexpr std::array<std::string_view, 5> urls{
            "redis://valkey", "rediss://[::1]:7000/0", "redis://10.0.0.1:7000/3", "unix:///run/${A} x.sock?db=2", ""};
        shared_config& made = with.shared;
        const std::size_t where = below(urls.size());
        REQUIRE(assign_shared_url(urls[where], made).empty());
        if (random_.one_in(2)) made.name_space = "Shop_1.a-b";
        redis_config& store = made.store;
        if (random_.one_in(2)) store.username = "it's#" + std::to_string(below(10));
        if (!store.username.empty() || random_.one_in(2)) store.password_file = "/" + text();
        for (std::size_t i = store.unix_path.empty() ? below(3) : 0; i > 0; --i)
            store.sentinel_addresses.push_back(
                {i == 1 ? "::1" : "sentinel.test", static_cast<std::uint16_t>(below(9) + 1)});
        if (!store.sentinel_addresses.empty()) store.sentinel_master = "main'";
        store.cluster = store.sentinel_master.empty() && store.database == 0 && chance();
        if (store.unix_path.empty()) store.tls_files.ca_file = path();
        store.timeout = milliseconds(1, 10'000);
        made.on_unavailable = random_.one_in(2)   ? unavailable_answer::local
                              : random_.one_in(2) ? unavailable_answer::admit
                                                  : unavailable_answer::refuse;
        if (made.on_unavailable == unavailable_answer::local)
            made.reserve.hundredths = static_cast<std::uint32_t>(below(5'001));
        with.secret_file = "/" + text();
    }

    void fill(server_config& made) {
        made.body_bytes_max = 1 + random_.below(1 << 20);
        made.decoded_bytes_max = made.body_bytes_max + random_.below(1 << 20);
        made.inflight_bytes_max = made.body_bytes_max + made.decoded_bytes_max + random_.below(1 << 30);
        made.header_bytes_max = 1024 + random_.below(63 << 10);
        made.connections_max = 1 + random_.below(1'000'000);
        made.connections_per_peer_max = random_.below(1'000'001);
        made.handshakes_max = 1 + random_.below(1'000'000);
        made.threads = below(1025);
        made.queue_delay_max = milliseconds(10, 3'600'000);
        made.header_timeout = milliseconds(1, 3'600'000);
        made.write_timeout = milliseconds(1, 3'600'000);
        made.read_timeout = milliseconds(1, 3'600'000);
        made.handshake_timeout = milliseconds(1, 3'600'000);
        made.idle_timeout = milliseconds(1, 86'400'000);
        made.drain_timeout = milliseconds(1, 3'600'000);
        static constexpr std::array<std::string_view, 4> proxies{"10.0.0.5", "10.1.0.0/16", "fd00::/8", "::1"};
        for (std::size_t i = below(proxies.size() + 1); i > 0; --i)
            made.trusted_proxies.push_back(*parse_ip_network(proxies[i - 1]));
        made.proxy_protocol = !made.trusted_proxies.empty() && chance();
    }

    void fill(limit_rules& made) {
        made.global = maxima();
        made.false_positive_rate = 1e-9 + 0.499 / static_cast<double>(1 + random_.below(1'000'000));
        made.incumbent_grace = std::chrono::seconds{below(3601)};
        made.mode = mode();
        fill(made.tenants);
        for (std::size_t i = below(4); i > 0; --i) made.limits.push_back(limit("limit-" + std::to_string(i)));
        for (std::size_t i = below(4); i > 0; --i) made.exempt.push_back(some_selector());
        made.exempt_series_max = below(1'000);
        made.whole_histograms = random_.one_in(2);
        made.histogram_series_max = 1 + below(1'000);
        made.histogram_margin.hundredths = static_cast<std::uint32_t>(below(5'001));
    }

    void fill(tenant_limits& made) {
        made.mode = mode();
        made.answer = answer();
        made.fallback = maxima();
        made.tenants_max = 1 + random_.below(1'000'000);
        for (std::size_t i = below(5); i > 0; --i) {
            const std::string tenant = text(true);
            made.overrides[tenant] = maxima();
            if (random_.one_in(2)) made.answers[tenant] = answer();
        }
    }

    label_limit limit(std::string name) {
        label_limit made;
        made.name = std::move(name);
        if (random_.one_in(2)) made.match = some_selector();
        made.maxima = maxima();
        made.mode = mode();
        if (random_.one_in(2)) made.answer = answer();
        made.per_tenant = random_.one_in(2);
        for (std::size_t i = below(3); i > 0; --i) made.each.push_back(label(i));
        if (made.each.empty()) return made;
        made.groups_max = 1 + random_.below(1000);
        std::set<group_labels> seen;
        for (std::size_t i = below(4); i > 0; --i) {
            group_override part{.group = {}, .maxima = maxima()};
            for (const std::string& each : made.each) part.group.emplace_back(each, text(true).substr(0, 300));
            if (seen.insert(part.group).second) made.overrides.push_back(part);
        }
        return made;
    }

    static std::string without(char unwanted, std::string text) {
        std::erase(text, unwanted);
        return text;
    }

    /// UTF-8, which the name of a label has to be.
    std::string label(std::size_t number) {
        std::string made = text();
        while (!is_utf8(made)) made = text();
        return made + std::to_string(number);
    }

    selector some_selector() {
        static constexpr std::array<std::string_view, 6> texts{"up",
                                                               "{a=\"b\"}",
                                                               "{\"my.metric\",\"my.label\"=\"x\"}",
                                                               "{a=~\"x|y.+\",b!=\"'\"}",
                                                               "{a=\"\\n\\\\\\\"\"}",
                                                               "http_requests_total{job=\"a\",code!~\"2..\"}"};
        return *parse_selector(texts[below(texts.size())]);
    }
};

}  // namespace seriesgate::testing
