/// Runs random histories of a gate, its senders and its stores: histories [--first N] [--count N | --seconds N]
///
/// The last line says which seed comes next, for who goes on later. Exit status: 0, or 1 if something did not hold;
/// each such seed has a line of its own, and runs alone with --first SEED --count 1.
///
/// The seed chooses senders (remote write 1 and 2, whole, in pieces, broken off, that do not read), stores (slow,
/// reset, half answers, interim answers, 4xx, 5xx, silent, away), one backend or two, a replica that has to have it all
/// or need not, limits of the gate, tenants and groups, reloads of them, and the edge of an hour or a day. Then all
/// faults end. It has to hold that
/// - no budget is above its maximum, and each series that came to a store is counted, tenants' and groups' too;
/// - when a request is answered with success, or with what was refused, every store that has to have its samples has
///   said that it took them, but for those that were counted as refused;
/// - what comes to a store was sent in this request, comes once, and is as it was;
/// - the gate has a sender drop nothing by a 4xx that no store has said;
/// - every answer comes within upstream.timeout, and every sender comes to an end;
/// - after the faults every request is answered with success, or with what a limit has refused if senders are told;
/// - memory in flight, requests and connections come to nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admin/formatting.hpp"
#include "core/bytes.hpp"
#include "ingest/requests.hpp"
#include "net/async.hpp"
#include "net/event_loop.hpp"
#include "simulation/simulation.hpp"

namespace seriesgate::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view fault_text = "a fault";  // all errors of stores begin so
constexpr std::size_t zones = 3;
constexpr auto upstream_timeout = 4s;

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
    http_message message{};
    std::string tenant{};
    std::vector<std::string> symbols{};            ///< of remote write 2
    std::map<std::string, std::size_t> records{};  ///< of series, as in the body, each unique; and their jobs
};

/// One try to send it, and what became of that at the store and at the replica.
struct attempt {
    planned what;
    std::string hour;  ///< in which it began
    struct place {
        bool has_come = false;
        std::size_t records = 0;  ///< that came
        bool has_taken = false;   ///< it has answered them with success
        unsigned said = 0;
    };
    std::array<place, 2> at{};
};

/// By whose budgets they are (the gate's, tenants', zones'), and by window (hour, day). 0: none.
using maxima = std::array<std::array<std::uint64_t, 2>, 3>;
constexpr std::array windows{"hourly", "daily"};

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
    bool has_tenants_ = chance_.happens(50);
    bool has_zones_ = chance_.happens(50);  // a limit by the label zone
    bool is_per_tenant_ = chance_.happens(50);
    bool has_replica_ = false;
    bool is_replica_required_ = chance_.happens(50);
    bool is_told_ = chance_.happens(33);  // onLimit: reject
    std::string fixed_;                   // the part of the configuration that stays
    std::size_t series_ = chance_.between(5, 60);
    maxima maxima_{};                                    // in force
    maxima maxima_before_{};                             // at the last look
    std::map<std::string, std::uint64_t> seen_{};        // counts of the last look, by window and budget
    using series = std::pair<std::size_t, std::string>;  // its job and its tenant
    std::map<std::string, std::set<series>> came_{};     // to a store, by window and budget
    std::deque<attempt> attempts_{};
    std::size_t ended_ = 0;
    bool has_seen_edge_ = false, is_reloading_ = false;

  public:
    explicit history(std::uint64_t seed)
        : chance_(seed),
          world_(seed, virtual_time::noon + chance_.one_of({59min, 59min, 59min, 11h + 59min}) +
                           std::chrono::seconds{chance_.between(0, 59)}) {}

    history_outcome run() {
        make_stores();
        maxima_ = maxima_before_ = choose_maxima();
        fixed_ = fixed_part();
        world_.start_gate(configuration(maxima_));
        const std::size_t senders = chance_.between(1, 4);
        for (std::size_t i = 0; i < senders; ++i)
            spawn(world_.peers.get_executor(), send(i, chance_.between(2, 8)), "a sender failed");
        spawn(world_.peers.get_executor(), disturb(), "disturbing failed");
        spawn(world_.peers.get_executor(), watch_edge(), "watching the edge failed");
        check(world_.time.run_until([&] { return ended_ == senders + 1; }, 30min), "every sender comes to an end");
        end_faults();
        check_calm();
        world_.run(look());
        check(has_seen_edge_, "the edge of an hour is looked at");
        check(world_.said.find("the store's serving failed") == std::string::npos, "a store reads what comes");
        check(world_.stop_gate(), "the gate ends when it is asked to");
        return std::move(outcome_);
    }

  private:
    void check(bool holds, std::string what) {
        if (!holds) outcome_.violations.push_back(std::move(what));
    }

    [[nodiscard]] std::string hour_now() const {
        return utc(std::chrono::floor<std::chrono::hours>(world_.time.time_of_day()));
    }

    void make_stores() {
        const std::size_t count = chance_.between(1, 3);
        has_replica_ = count == 3;
        for (std::size_t i = 0; i < count; ++i) {
            scripted_store& one = stores_.emplace_back(world_.peers, fmt::format("10.0.0.{}:80", i + 1));
            one.decides = [this, i](const http_message& request) { return receive(request, i == 2 ? 1 : 0); };
        }
    }

    maxima choose_maxima() {
        const auto choose = [this](std::uint64_t most) {
            const std::uint64_t hourly = chance_.happens(15) ? 0 : chance_.between(1, most);
            return std::array{hourly, chance_.happens(60) ? 0 : hourly + chance_.between(1, 10)};
        };
        maxima made{};
        made[0] = choose((has_tenants_ ? 2 : 1) * series_ + 10);
        if (has_tenants_) made[1] = choose(series_ + 5);
        if (has_zones_) made[2] = choose(series_ / zones + 5);
        return made;
    }

    std::string configuration(const maxima& of) const {
        const auto both = [](const auto& each) {
            return fmt::format("maxHourlySeries: {}, maxDailySeries: {}", each[0], each[1]);
        };
        std::string text = fmt::format("maxHourlySeries: {}\nmaxDailySeries: {}\n", of[0][0], of[0][1]) + fixed_;
        if (has_tenants_) text += fmt::format("tenants: {{default: {{{}}}}}\n", both(of[1]));
        if (has_zones_)
            text += fmt::format("limits: [{{name: zones, each: [zone], perTenant: {}, {}}}]\n", is_per_tenant_,
                                both(of[2]));
        return text;
    }

    std::string fixed_part() {
        std::string urls = "urls: ['http://10.0.0.1/w'";
        if (stores_.size() > 1) urls += ", 'http://10.0.0.2/w'";
        urls += "]";
        if (has_replica_)
            urls += fmt::format(", replicateTo: [{{url: 'http://10.0.0.3/w', bestEffort: {}}}]", !is_replica_required_);
        return fmt::format(
            "upstream: {{{}, timeout: {}s}}\nonLimit: {}\nincumbentGrace: {}s\n"
            "server: {{threads: {}, headerTimeout: 3s, readTimeout: 5s, writeTimeout: 5s, idleTimeout: 20s}}\n",
            urls, upstream_timeout.count(), is_told_ ? "reject" : "drop", chance_.between(0, 30),
            chance_.between(1, 2));
    }

    store_reaction reaction() {
        using kind = store_reaction::kind;
        store_reaction how{.status = chance_.one_of({200u, 204u, 204u})};
        if (is_faulty_ && chance_.happens(30)) how.delay = std::chrono::milliseconds{chance_.below(5000)};
        if (!is_faulty_ || chance_.happens(60)) return how;
        ++outcome_.faults;
        how.does = chance_.one_of(
            {kind::answers, kind::answers, kind::closes, kind::resets, kind::closes_midway, kind::is_silent});
        how.body = fault_text;
        if (how.does == kind::closes_midway) how.body.resize(chance_.between(7, 200), '.');
        how.status = chance_.one_of({400u, 409u, 429u, 500u, 502u, 503u});
        if (how.does == kind::closes_midway && chance_.happens(50)) how.status = 200;
        if (chance_.happens(10))
            how = {.status = 204, .body = "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 204 X\r\n\r\n", .does = kind::says_raw};
        return how;
    }

    /// A request has come whole to the store or to the replica.
    store_reaction receive(const http_message& request, std::size_t place) {
        using kind = store_reaction::kind;
        store_reaction how = reaction();
        const std::size_t number = std::stoul(std::string{request.header("X-Attempt")});
        attempt& of = attempts_.at(number);
        attempt::place& here = of.at[place];
        const std::string body = decompressed(compression::snappy, request.body);
        const bool is_v2 = request.header("Content-Type").find("v2") != std::string_view::npos;
        const bool is_of_hour = of.hour == hour_now();
        std::set<std::string> records;
        for (std::string& record : records_of(body, is_v2 ? 5 : 1)) {
            const auto sent = of.what.records.find(record);
            const bool is_sent = sent != of.what.records.end() && records.insert(std::move(record)).second;
            check(is_sent, "what is at a store was sent");
            if (is_sent && is_of_hour) count(of, sent->second);
        }
        check(request.header("X-Scope-OrgID") == of.what.tenant, "what is at a store is its tenant's");
        check(records_of(body, 4) == of.what.symbols, "what is at a store has its symbols");
        check(!here.has_come, "a request comes to a store once");
        here = {.has_come = true, .records = records.size()};
        const bool is_said = how.does == kind::answers || how.does == kind::says_raw;
        if (is_said)
            how.has_said = [&here, status = how.status] {
                here.said = status;
                here.has_taken = status / 100 == 2;
            };
        return how;
    }

    /// A series that has passed in this hour.
    void count(const attempt& of, std::size_t job) {
        const std::string day = utc(std::chrono::floor<std::chrono::days>(world_.time.time_of_day()));
        const std::string& tenant = of.what.tenant;
        for (const std::string& budget : {gate_name(), tenant_name(tenant), zone_name(zone_of(job), tenant)})
            for (const std::string& window : {window_name(0, of.hour), window_name(1, day)})
                came_[window + budget].emplace(job, tenant);
    }

    static std::string zone_of(std::size_t job) { return std::to_string(job % zones); }
    static std::string window_name(std::size_t window, std::string_view start) {
        return fmt::format("{} {}", windows[window], start);
    }
    static std::string gate_name() { return " the gate"; }
    static std::string tenant_name(std::string_view tenant) { return fmt::format(" tenant '{}'", tenant); }
    [[nodiscard]] std::string zone_name(std::string_view zone, std::string_view tenant) const {
        return fmt::format(" zone {}{}", zone, is_per_tenant_ ? tenant_name(tenant) : "");
    }

    /// Of remote write 1 or 2. Each sample is the only one of its value, so a record tells its request. Beside them may
    /// stand series that break a rule, which no store is to see.
    planned plan() {
        planned made;
        const bool is_v2 = chance_.happens(40);
        if (has_tenants_) made.tenant = chance_.one_of({"a", "b"});
        std::set<std::size_t> jobs;
        for (std::size_t left = chance_.between(1, 6); left > 0; --left) jobs.insert(chance_.below(series_));
        std::string symbols, entries;
        if (is_v2) symbols = symbols_v2({"zone", "0", "1", "2"});
        std::uint64_t symbol = 8;
        for (const std::size_t job : jobs) {
            const std::string value = sample(static_cast<double>(next_sample_++));
            std::string record;
            if (is_v2) {
                symbols += len_field(4, std::to_string(job));
                record = len_field(1, varint(1) + varint(2) + varint(3) + varint(symbol++) + varint(4) +
                                          varint(5 + job % zones)) +
                         value;
                entries += len_field(5, record);
            } else {
                record =
                    label("__name__", "up") + label("job", std::to_string(job)) + label("zone", zone_of(job)) + value;
                entries += len_field(1, record);
            }
            if (is_faulty_ && chance_.happens(5)) {
                ++outcome_.faults;
                const std::string nameless = is_v2 ? len_field(1, varint(0) + varint(2)) : label("", "x");
                entries += len_field(is_v2 ? 5 : 1, nameless + value);
            }
            made.records.emplace(std::move(record), job);
        }
        made.message = is_v2 ? write_request_v2(symbols + entries) : write_request(entries);
        made.symbols = records_of(symbols, 4);
        if (has_tenants_) made.message.headers.emplace_back("X-Scope-OrgID", made.tenant);
        return made;
    }

    attempt& begin(const planned& what) {
        ++outcome_.requests;
        attempt& made = attempts_.emplace_back(attempt{.what = what, .hour = hour_now()});
        made.what.message.headers.emplace_back("X-Attempt", std::to_string(attempts_.size() - 1));
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
                const attempt& mine = begin(one);
                const http_answer got = co_await send_somehow(sender, mine.what.message);
                check_answer(mine, got);
                if (got.status != 0 && got.status / 100 != 5 && got.status != 429) break;
                co_await pause(2000);
            }
        }
        ++ended_;
    }

    net::awaitable<http_answer> send_somehow(http_sender& sender, const http_message& message) {
        const std::uint64_t how = is_faulty_ ? chance_.below(100) : 99;
        const std::string text = message.text();
        if (how < 6) {  // breaks off
            ++outcome_.faults;
            co_await sender.write(text.substr(0, chance_.below(text.size())));
            co_await pause(500);
            sender.reset();
            co_return http_answer{};
        }
        if (how < 10) {  // goes without reading
            ++outcome_.faults;
            co_await sender.write(text);
            co_await pause(3000);
            sender.close();
            co_return http_answer{};
        }
        std::size_t piece = text.size();
        std::chrono::milliseconds rest{0};
        if (how < 40) {
            piece = chance_.between(1, 150);
            rest = std::chrono::milliseconds{chance_.below(60)};
        }
        co_await sender.write(text, piece, rest);
        const auto written = world_.time.elapsed();
        http_answer got = co_await sender.read_answer();
        check(world_.time.elapsed() - written <= upstream_timeout, "an answer comes within upstream.timeout");
        co_return got;
    }

    /// Whether all but what is refused is stored, says this answer.
    static bool says_stored(const http_answer& got) {
        const bool says_what_is_not =
            !got.header("X-Seriesgate-Refused-Series").empty() || !got.header("X-Seriesgate-Left-Out-Series").empty();
        return got.status / 100 == 2 || (got.status == 400 && says_what_is_not && !got.body.starts_with(fault_text));
    }

    void check_answer(const attempt& of, const http_answer& got) {
        if (got.status / 100 == 2) ++outcome_.accepted;
        const std::string_view header = got.header("X-Seriesgate-Refused-Samples");
        const std::size_t refused = header.empty() ? 0 : std::stoul(std::string{header});
        for (std::size_t i = 0; says_stored(got) && i < (has_replica_ && is_replica_required_ ? 2 : 1); ++i) {
            const std::size_t taken = of.at[i].has_taken ? of.at[i].records : 0;
            check(taken + refused == of.what.records.size(),
                  fmt::format("of {} samples that were answered with {}, store {} has taken {}, and {} were refused",
                              of.what.records.size(), got.status, i, taken, refused));
        }
        const bool is_dropped = got.status / 100 == 4 && got.status != 429 && !says_stored(got);
        const bool is_said = of.at[0].said == got.status || (is_replica_required_ && of.at[1].said == got.status);
        check(!is_dropped || is_said, fmt::format("no store has said {}: {}", got.status, got.body));
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
                co_await look();
                const maxima next = choose_maxima();
                world_.read_next(configuration(next));
                http_sender asks = world_.sender("10.9.9.9");
                const http_message question{.target = "/-/reload"};
                is_reloading_ = true;
                const http_answer got = co_await asks.send(question);
                is_reloading_ = false;
                check(got.status == 200, "a reload is made: " + got.body);
                maxima_ = next;
                co_await look();
            }
        }
        ++ended_;
    }

    /// Within a window counts only grow. So what was ever above its maximum is so at the window's end.
    net::awaitable<void> watch_edge() {
        const auto now = world_.time.time_of_day();
        const std::string hour = hour_now();
        async_timer timer{world_.peers, std::chrono::ceil<std::chrono::hours>(now) - now - 1ms};
        co_await timer.async_wait(no_throw);
        has_seen_edge_ = co_await look() == hour;
    }

    /// Checks all budgets. Nothing may have grown above its maximum since the last look: that is before and after each
    /// reload, just before the hour's edge, and at the end.
    /// @return the hour that it saw.
    net::awaitable<std::string> look() {
        http_sender asks = world_.sender("10.9.9.9");
        const http_message question = get("/stats");
        std::map<std::string, std::size_t> came;  // what comes while the gate answers may be missing in its answer
        for (const auto& [budget, each] : came_) came[budget] = each.size();
        const http_answer got = co_await asks.send(question);
        const boost::json::value all = boost::json::parse(got.body);
        for (std::size_t i = 0; i < windows.size(); ++i) {
            const boost::json::value& gate = all.at("windows").at(windows[i]);
            const std::string window = window_name(i, text_at(gate, "start"));
            check_budget(window + gate_name(), 0, i, gate, came);
            for (const auto& each : all.at("tenants").as_array())
                check_budget(window + tenant_name(text_at(each, "tenant")), 1, i, each.at(windows[i]), came);
            for (const auto& each : all.at("limits").as_array()) {
                const std::string tenant = is_per_tenant_ ? text_at(each, "tenant") : "";
                check_budget(window + zone_name(text_at(each.at("group"), "zone"), tenant), 2, i, each.at(windows[i]),
                             came);
            }
        }
        maxima_before_ = maxima_;
        co_return text_at(all.at("windows").at("hourly"), "start");
    }

    static std::string text_at(const boost::json::value& in, std::string_view key) {
        return std::string{std::string_view{in.at(key).as_string()}};
    }

    void check_budget(const std::string& name, std::size_t of, std::size_t window, const boost::json::value& shown,
                      std::map<std::string, std::size_t>& came) {
        const std::uint64_t max = maxima_[of][window], max_before = maxima_before_[of][window];
        const auto current = shown.at("currentSeries").to_number<std::uint64_t>();
        check(is_reloading_ || shown.at("maxSeries").to_number<std::uint64_t>() == max, name + " has its maximum");
        std::uint64_t& seen = seen_[name];
        if (max != 0 && max_before != 0)
            check(current <= std::max({seen, max, max_before}),
                  fmt::format("{}: {} series with a maximum of {}, before that {}", name, current, max, max_before));
        seen = current;
        check(came[name] <= current,
              fmt::format("{}: {} series have come, and {} are counted", name, came[name], current));
    }

    void end_faults() {
        is_faulty_ = false;
        world_.time.run_for(60s);  // endpoints that were out are tried again
        http_sender sender = world_.sender("10.1.0.99");
        for (int i = 0; i < 3; ++i) {
            const attempt& last = begin(plan());
            const http_answer got = world_.run(send_somehow(sender, last.what.message));
            check_answer(last, got);
            const bool is_told = is_told_ && says_stored(got) && !got.header("X-Seriesgate-Refused-Series").empty();
            check(got.status / 100 == 2 || is_told,
                  fmt::format("after the faults a request is answered {}: {}", got.status, got.body));
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
};

}  // namespace

history_outcome run_history(std::uint64_t seed) try {
    return history{seed}.run();
} catch (const std::exception& error) {
    return {.violations = {error.what()}};
}

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
        const auto made = seriesgate::testing::run_history(seed);
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
