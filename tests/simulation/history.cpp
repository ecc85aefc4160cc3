/// Runs random histories of a gate, its senders and its stores: histories [--first N] [--count N | --seconds N]
///
/// The last line says which seed comes next, for who goes on later. Exit status: 0, or 1 if something did not hold;
/// each such seed has a line of its own, and runs alone with --first SEED --count 1.
///
/// The seed chooses senders (remote write 1 and 2, whole, in pieces, broken off, that do not read), stores (slow,
/// reset, half answers, interim answers, 4xx, 5xx, silent, away), limits, tenants, endpoints, replicas, reloads and the
/// hour's edge. Then all faults end. It has to hold that
/// - no budget is above its maximum;
/// - a sample of a request that was answered with success is at the store as it was sent, or was counted as refused;
/// - nothing is at a store that was not sent;
/// - every sender comes to an end, and after the faults every request is answered with success;
/// - memory in flight, requests and connections come to nothing.
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.hpp"
#include "ingest/requests.hpp"
#include "net/async.hpp"
#include "net/event_loop.hpp"
#include "simulation/simulation.hpp"

namespace seriesgate::testing {
namespace {

using namespace std::chrono_literals;

/// Choices of one seed. Of std's distributions none is the same everywhere.
class dice {
    std::mt19937_64 engine_;

  public:
    explicit dice(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t below(std::uint64_t end) { return engine_() % end; }
    std::uint64_t between(std::uint64_t first, std::uint64_t last) { return first + below(last - first + 1); }
    bool happens(std::uint64_t in_hundred) { return below(100) < in_hundred; }
    template <class T>
    T one_of(std::initializer_list<T> all) {
        return *(all.begin() + below(all.size()));
    }
};

/// What came of a history.
struct history_outcome {
    std::vector<std::string> violations{};  ///< none: all held
    std::size_t requests = 0;
    std::size_t accepted = 0;  ///< answered with success
    std::size_t faults = 0;    ///< of stores and senders
};

/// A request and what it has to leave at the store.
struct planned {
    http_message message;
    std::vector<std::string> records;  ///< of series, as they stand in the body; each is unique
    bool is_v2 = false;
};

/// The records of one field of a decoded body.
std::vector<std::string> records_of(std::string_view body, std::uint32_t field) {
    std::vector<std::string> found;
    const auto number = [&body] {
        std::uint64_t value = 0;
        for (unsigned shift = 0; !body.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(body.front());
            body.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) break;
        }
        return value;
    };
    while (!body.empty()) {
        const std::uint64_t tag = number();
        const std::size_t size = number();
        if (tag == (std::uint64_t{field} << 3 | 2)) found.emplace_back(body.substr(0, size));
        body.remove_prefix(std::min(body.size(), size));
    }
    return found;
}

class history {
    dice chance_;
    simulation world_;
    std::deque<scripted_store> stores_;
    history_outcome outcome_;
    bool is_faulty_ = true;
    std::uint64_t next_sample_ = 1;
    std::uint64_t max_ = 0;
    std::uint64_t highest_max_ = 0;  // of this hour and the last
    bool has_replica_ = false;
    std::size_t series_ = 0;
    std::set<std::string> sent_{};                    // records
    std::vector<std::vector<std::string>> stored_{};  // records that a success says are kept, by request
    std::vector<std::size_t> stored_refused_{};       // and how many of them it says were refused
    std::size_t ended_ = 0;

  public:
    explicit history(std::uint64_t seed)
        : chance_(seed), world_(seed, virtual_time::noon + 59min + std::chrono::seconds{chance_.between(0, 59)}) {}

    history_outcome run() {
        make_stores();
        world_.start_gate(configuration(true));
        const std::size_t senders = chance_.between(1, 4);
        for (std::size_t i = 0; i < senders; ++i)
            spawn(world_.peers.get_executor(), send(i, chance_.between(2, 8)), "a sender failed");
        spawn(world_.peers.get_executor(), disturb(), "disturbing failed");
        check(world_.time.run_until([&] { return ended_ == senders + 1; }, 30min), "every sender comes to an end");
        end_faults();
        check_calm();
        check_stores();
        check_budget();
        check(world_.stop_gate(), "the gate ends when it is asked to");
        return std::move(outcome_);
    }

  private:
    void check(bool holds, std::string what) {
        if (!holds) outcome_.violations.push_back(std::move(what));
    }

    void make_stores() {
        const std::size_t count = chance_.between(1, 3);
        has_replica_ = count == 3;
        for (std::size_t i = 0; i < count; ++i) {
            scripted_store& one = stores_.emplace_back(world_.peers, fmt::format("10.0.0.{}:80", i + 1));
            one.decides = [this](const http_message&) { return reaction(); };
        }
    }

    std::string configuration(bool first) {
        if (first) series_ = chance_.between(5, 60);
        max_ = chance_.between(1, series_ + 10);
        highest_max_ = std::max(highest_max_, max_);
        std::string text = fmt::format("maxHourlySeries: {}\n", max_);
        if (first) fixed_ = fixed_part();
        return text + fixed_;
    }
    std::string fixed_;

    std::string fixed_part() {
        std::string urls = "urls: ['http://10.0.0.1/w'";
        if (stores_.size() == 2) urls += ", 'http://10.0.0.2/w'";
        urls += "]";
        if (has_replica_) urls += fmt::format(", replicateTo: [{{url: 'http://10.0.0.3/w', bestEffort: true}}]");
        return fmt::format(
            "upstream: {{{}, timeout: 4s}}\nonLimit: {}\nincumbentGrace: {}s\n"
            "server: {{threads: {}, headerTimeout: 3s, readTimeout: 5s, writeTimeout: 5s, idleTimeout: 20s}}\n",
            urls, chance_.one_of({"drop", "drop", "reject"}), chance_.between(0, 30), chance_.between(1, 2));
    }

    store_reaction reaction() {
        using kind = store_reaction::kind;
        store_reaction how{.status = chance_.one_of({200u, 204u, 204u})};
        if (is_faulty_ && chance_.happens(30)) how.delay = std::chrono::milliseconds{chance_.below(5000)};
        if (!is_faulty_ || chance_.happens(60)) return how;
        ++outcome_.faults;
        how.status = chance_.one_of({400u, 409u, 429u, 500u, 502u, 503u});
        how.body = "a fault";
        how.does = chance_.one_of(
            {kind::answers, kind::answers, kind::closes, kind::resets, kind::closes_midway, kind::is_silent});
        if (chance_.happens(10))
            how = {.body = "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 204 X\r\n\r\n", .does = kind::says_raw};
        return how;
    }

    /// Of remote write 1 or 2. Each sample is the only one of its value, so a record tells its request. Beside them may
    /// stand series that break a rule, which no store is to see.
    planned plan() {
        planned made;
        made.is_v2 = chance_.happens(40);
        std::set<std::size_t> jobs;
        for (std::size_t left = chance_.between(1, 6); left > 0; --left) jobs.insert(chance_.below(series_));
        std::string symbols, entries;
        if (made.is_v2) symbols = symbols_v2({});
        std::uint64_t symbol = 4;
        for (const std::size_t job : jobs) {
            const std::string value = sample(static_cast<double>(next_sample_++));
            std::string record;
            if (made.is_v2) {
                symbols += len_field(4, std::to_string(job));
                record = len_field(1, varint(1) + varint(2) + varint(3) + varint(symbol++)) + value;
                entries += len_field(5, record);
            } else {
                record = label("__name__", "up") + label("job", std::to_string(job)) + value;
                entries += len_field(1, record);
            }
            if (is_faulty_ && chance_.happens(5)) {
                ++outcome_.faults;
                const std::string nameless = made.is_v2 ? len_field(1, varint(0) + varint(2)) : label("", "x");
                entries += len_field(made.is_v2 ? 5 : 1, nameless + value);
            }
            made.records.push_back(std::move(record));
        }
        made.message = made.is_v2 ? write_request_v2(symbols + entries) : write_request(entries);
        sent_.insert(made.records.begin(), made.records.end());
        return made;
    }

    net::awaitable<void> pause(std::uint64_t milliseconds_max) {
        async_timer timer{world_.peers, std::chrono::milliseconds{chance_.below(milliseconds_max + 1)}};
        co_await timer.async_wait(no_throw);
    }

    net::awaitable<void> send(std::size_t number, std::size_t count) {
        http_sender sender = world_.sender(fmt::format("10.1.0.{}", number + 1));
        for (; count > 0; --count) {
            co_await pause(4000);
            const planned one = plan();
            // As senders do: what was not taken is sent again, unless it was refused for good.
            for (int tries = 0; tries < 3; ++tries) {
                ++outcome_.requests;
                const http_answer got = co_await send_somehow(sender, one.message);
                note(one, got);
                if (got.status != 0 && got.status / 100 != 5 && got.status != 429) break;
                co_await pause(2000);
            }
        }
        ++ended_;
    }

    net::awaitable<http_answer> send_somehow(http_sender& sender, const http_message& message) {
        const std::uint64_t how = is_faulty_ ? chance_.below(100) : 99;
        if (how < 6) {  // breaks off
            ++outcome_.faults;
            const std::string text = message.text();
            co_await sender.write(text.substr(0, chance_.below(text.size())));
            co_await pause(500);
            sender.reset();
            co_return http_answer{};
        }
        if (how < 10) {  // goes without reading
            ++outcome_.faults;
            co_await sender.write(message.text());
            co_await pause(3000);
            sender.close();
            co_return http_answer{};
        }
        if (how < 40) {
            const std::size_t piece = chance_.between(1, 80);
            const std::chrono::milliseconds rest{chance_.below(60)};
            co_await sender.write(message.text(), piece, rest);
            co_return co_await sender.read_answer();
        }
        co_return co_await sender.send(message);
    }

    void note(const planned& one, const http_answer& got) {
        if (got.status / 100 != 2) return;
        ++outcome_.accepted;
        const std::string_view refused = got.header("X-Seriesgate-Refused-Samples");
        stored_.push_back(one.records);
        stored_refused_.push_back(refused.empty() ? 0 : std::stoul(std::string{refused}));
    }

    net::awaitable<void> disturb() {
        for (std::size_t left = chance_.below(4); left > 0; --left) {
            co_await pause(12000);
            scripted_store& store = stores_[chance_.below(stores_.size())];
            if (chance_.happens(50)) {
                ++outcome_.faults;
                store.go_away();
                co_await pause(8000);
                store.come_back();
            } else {
                world_.read_next(configuration(false));
                world_.gate().reload();
            }
        }
        ++ended_;
    }

    void end_faults() {
        is_faulty_ = false;
        world_.time.run_for(60s);  // endpoints that were out are tried again
        for (int i = 0; i < 3; ++i) {
            const planned one = plan();
            http_sender sender = world_.sender("10.1.0.99");
            const http_answer got = world_.run(sender.send(one.message));
            ++outcome_.requests;
            note(one, got);
            const bool is_success = got.status / 100 == 2 || fixed_.find("onLimit: reject") != std::string::npos;
            check(is_success, fmt::format("after the faults a request is answered {}: {}", got.status, got.body));
        }
    }

    void check_calm() {
        const auto is_calm = [this] {  // but for the one that asks
            const std::string text = world_.ask("/metrics").body;
            return text.find("\nseriesgate_inflight_requests 1\n") != std::string::npos &&
                   text.find("\nseriesgate_inflight_bytes 0\n") != std::string::npos &&
                   text.find("\nseriesgate_connections 1\n") != std::string::npos;
        };
        for (int i = 0; i < 40 && !is_calm(); ++i) world_.time.run_for(2s);
        check(is_calm(), "requests, memory in flight and connections come to nothing");
    }

    void check_stores() {
        std::map<std::string, std::size_t> kept;
        for (std::size_t i = 0; i < stores_.size(); ++i)
            for (const http_message& each : stores_[i].received) {
                const std::string body = decompressed(compression::snappy, each.body);
                const bool is_v2 = each.header("Content-Type").find("v2") != std::string_view::npos;
                for (const std::string& record : records_of(body, is_v2 ? 5 : 1)) {
                    check(sent_.contains(record), "what is at a store was sent");
                    if (!(has_replica_ && i == 2)) ++kept[record];
                }
            }
        for (std::size_t i = 0; i < stored_.size(); ++i) {
            const auto there = static_cast<std::size_t>(
                std::ranges::count_if(stored_[i], [&](const std::string& record) { return kept.contains(record); }));
            check(there + stored_refused_[i] >= stored_[i].size(),
                  fmt::format("of {} samples that were acknowledged {} are at the store, and {} were refused",
                              stored_[i].size(), there, stored_refused_[i]));
        }
    }

    void check_budget() {
        const std::string text = world_.ask("/stats").body;
        const auto at = text.find("\"currentSeries\"");
        const std::uint64_t current = std::stoull(text.substr(text.find_first_of("0123456789", at)));
        check(current <= highest_max_, fmt::format("{} series with a maximum of {}", current, highest_max_));
    }
};

}  // namespace
}  // namespace seriesgate::testing

int main(int argc, char** argv) {
    using clock = std::chrono::steady_clock;
    std::uint64_t first = 1, count = 100, seconds = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i];
        const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
        (name == "--first" ? first : name == "--count" ? count : seconds) = value;
    }
    const auto began = clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(clock::now() - began).count(); };
    std::uint64_t seed = first, wrong = 0, requests = 0, accepted = 0, faults = 0;
    for (; seconds != 0 ? passed() < static_cast<double>(seconds) : seed < first + count; ++seed) {
        const auto made = seriesgate::testing::history{seed}.run();
        requests += made.requests;
        accepted += made.accepted;
        faults += made.faults;
        if (made.violations.empty()) continue;
        ++wrong;
        for (const std::string& each : made.violations) fmt::print("seed {}: not so: {}\n", seed, each);
    }
    fmt::print("{} histories in {:.1f} s: {} requests, {} acknowledged, {} faults; {} histories went wrong\n",
               seed - first, passed(), requests, accepted, faults, wrong);
    fmt::print("next seed: {}\n", seed);
    return wrong == 0 ? 0 : 1;
}
