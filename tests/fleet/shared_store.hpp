/// The store's scripts in a real server, with a clock and a run_id that the test sets; and the same beside the model.
#pragma once

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fleet/shared_store_model.hpp"
#include "fleet/store_process.hpp"
#include "fleet/store_text.hpp"

namespace seriesgate::testing {

/// A change to the text of a script, for tests that have to notice.
struct script_change {
    std::string from;  ///< occurs in one of the scripts at least
    std::string to;
};

/// A server for all cases of this program, which take turns: each begins by emptying it.
inline store_process& the_store() {
    static store_process process;
    return process;
}

class shared_store {
    store_connection connection_{the_store()};
    store_keys keys_{"t"};
    std::string calls_, gates_;  // digests
    bool is_changed_ = false;

  public:
    explicit shared_store(const script_change& change = {}) {
        connection_.ask({"FLUSHALL"});
        calls_ = load(store_script, change);
        gates_ = load(gate_script, change);
        if (!change.from.empty() && !is_changed_) throw std::runtime_error{"no such text in a script: " + change.from};
    }

    store_answer decide(const store_call& asked, const gate_terms& terms, const std::string& server, time_point now) {
        return read(read_answer(*run(calls_, call_words(asked, terms, keys_), server, now), asked));
    }
    /// Answers come in the order of what was sent. The clock stays as it is.
    void send(const store_call& asked, const gate_terms& terms, const std::string& server) {
        connection_.send(as_command(calls_, call_words(asked, terms, keys_), server));
    }
    store_answer receive(const store_call& asked) { return read(read_answer(*connection_.receive(), asked)); }

    heartbeat_answer beat(const heartbeat& of, const std::string& server, time_point now) {
        return read(read_heartbeat_answer(*run(gates_, heartbeat_words(of, keys_), server, now)));
    }
    feed_page read_feed(const std::string& epoch, std::uint64_t read_so_far, const std::string& server,
                        time_point now) {
        return read(read_feed_page(*run(gates_, feed_read_words(epoch, read_so_far, keys_), server, now)));
    }

    void empty() { connection_.ask({"FLUSHALL"}); }
    void remove(const std::string& key) { connection_.ask({"DEL", key}); }

    [[nodiscard]] const store_keys& keys() const { return keys_; }
    store_connection& connection() { return connection_; }

    std::map<std::string, std::string> fields(const std::string& key) {
        const auto list = connection_.texts({"HGETALL", key});
        std::map<std::string, std::string> fields;
        for (std::size_t i = 0; i + 1 < list.size(); i += 2) fields[list[i]] = list[i + 1];
        return fields;
    }

    /// All series of a window's sets.
    std::set<std::uint64_t> series(const std::string& record, std::uint32_t buckets) {
        std::set<std::uint64_t> all;
        for (const std::string& bucket : connection_.texts({"KEYS", record + ":*"}))
            for (const std::string& member : connection_.texts({"SMEMBERS", bucket})) {
                const auto fingerprint = static_cast<std::uint64_t>(std::stoll(member));
                if (bucket_key(record, fingerprint, buckets) != bucket || !all.insert(fingerprint).second)
                    throw std::runtime_error{"a fingerprint in a bucket that is not its own"};
            }
        return all;
    }

  private:
    store_connection::reply run(const std::string& digest, std::vector<std::string> asked, const std::string& server,
                                time_point now) {
        const auto whole = std::chrono::floor<std::chrono::seconds>(now);
        const auto rest = std::chrono::floor<std::chrono::microseconds>(now - whole);
        connection_.ask({"MSET", "seconds", std::to_string(whole.time_since_epoch().count()), "microseconds",
                         std::to_string(rest.count())});
        return connection_.ask(as_command(digest, std::move(asked), server));
    }

    static std::vector<std::string> as_command(const std::string& digest, std::vector<std::string> asked,
                                               const std::string& server) {
        asked.back() = server;
        std::vector<std::string> words{"EVALSHA", digest};
        std::move(asked.begin(), asked.end(), std::back_inserter(words));
        return words;
    }

    template <class T>
    static T read(result<T, std::string> answer) {
        if (!answer) throw std::runtime_error{answer.error()};
        return *std::move(answer);
    }

    std::string load(std::string_view text, const script_change& change) {
        std::string script{text};
        const std::string_view time = "redis.call('TIME')";
        const std::size_t at = script.find(time);
        if (at == script.npos || script.find(time, at + 1) != script.npos)
            throw std::runtime_error{"no clock to replace"};
        script.replace(at, time.size(), "redis.call('MGET', 'seconds', 'microseconds')");
        if (const std::size_t wrong = script.find(change.from); !change.from.empty() && wrong != script.npos) {
            script.replace(wrong, change.from.size(), change.to);
            is_changed_ = true;
        }
        return connection_.text({"SCRIPT", "LOAD", script});
    }
};

inline std::string text_of(const open_windows& of) {
    std::ostringstream out;
    out << "hour " << of.hour << " generation " << of.generation << " buckets " << of.buckets.hour << " "
        << of.buckets.day << " " << of.buckets.before << (of.keeps_places ? " kept" : "");
    return out.str();
}
inline std::string text_of(store_status of) {
    return std::to_string(static_cast<int>(of));
}
inline std::string text_of(const store_state& of) {
    return text_of(of.windows) + " status " + std::to_string(static_cast<int>(of.status)) + " epoch " + of.epoch +
           (of.is_refilling ? " refilling " : " ") + std::to_string(of.fed) + " fed, ahead " +
           std::to_string(of.ahead.count());
}
inline std::string text_of(const std::vector<gate_heard_of>& of) {
    std::string all;
    for (const gate_heard_of& each : of) all += each.name + " " + std::to_string(each.hour) + " " + each.version + ", ";
    return all;
}
inline std::string text_of(const std::vector<series_decision>& of) {
    std::string all;
    for (const series_decision& each : of) {
        all += "ktcrwu"[static_cast<int>(each.outcome)];
        if (each.outcome == store_outcome::refused)
            all += std::to_string(each.budget) + (each.window == refusing_window::daily ? "d" : "h");
        all += ' ';
    }
    return all;
}
inline std::string text_of(const std::vector<budget_in_store>& of) {
    std::ostringstream all;
    for (const budget_in_store& each : of)
        all << (each.is_overflow ? "overflow " : "") << each.hourly << "/" << each.daily << " kept "
            << static_cast<std::int64_t>(each.kept) << ", ";
    return all.str();
}
inline std::string text_of(const std::map<std::string, std::string>& of) {
    std::string all;
    for (const auto& [name, value] : of) all += name + "=" + value + " ";
    return all;
}
template <class T>
std::string text_of(const T&) {
    return {};
}

/// What the script answers or files, and the model does not.
struct difference : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Script and model side by side: each call goes to both. A difference between them is thrown.
class shared_store_and_model {
    shared_store store_;
    shared_store_model model_;
    bool is_lenient_;

  public:
    /// @param is_lenient differences are no matter.
    explicit shared_store_and_model(const script_change& change = {}, bool is_lenient = false)
        : store_(change), is_lenient_(is_lenient) {}

    store_answer decide(const store_call& asked, const gate_terms& terms, const std::string& server, time_point now) {
        const store_answer wanted = model_.decide(asked, terms, server, now);
        const store_answer got = store_.decide(asked, terms, server, now);
        require_same(got.status, wanted.status, "status");
        require_same(got.windows, wanted.windows, "windows of a call");
        require_same(got.series, wanted.series, "series");
        require_same(got.budgets, wanted.budgets, "budgets");
        return got;
    }

    heartbeat_answer beat(const heartbeat& of, const std::string& server, time_point now) {
        const heartbeat_answer wanted = model_.beat(of, server, now);
        heartbeat_answer got = store_.beat(of, server, now);
        std::sort(got.gates.begin(), got.gates.end(),
                  [](const auto& one, const auto& other) { return one.name < other.name; });
        require_same(got.state, wanted.state, "state");
        require_same(got.gates, wanted.gates, "gates");
        return got;
    }

    feed_page read_feed(const std::string& epoch, std::uint64_t read, const std::string& server, time_point now) {
        const feed_page wanted = model_.read_feed(epoch, read, server, now);
        const feed_page got = store_.read_feed(epoch, read, server, now);
        require_same(got.state, wanted.state, "state of the feed");
        require_same(got.calls, wanted.calls, "feed");
        return got;
    }

    void empty() {
        store_.empty();
        model_.empty();
    }
    void expire_hour() {
        if (model_.hour_number() < 0) return;
        store_.remove(store_.keys().hour(model_.generation(), model_.hour_number()));
        model_.expire_hour();
    }
    void expire_before() {
        if (!model_.has_before()) return;
        store_.remove(store_.keys().hour(model_.generation(), model_.hour_number() - 1));
        model_.expire_before();
    }

    /// All that is filed: sets, counts, how long keys are kept.
    void compare() {
        if (model_.hour_number() < 0) return;
        const auto& keys = store_.keys();
        compare(keys.hour(model_.generation(), model_.hour_number()), model_.hour(), &model_.before());
        if (model_.has_before())
            compare(keys.hour(model_.generation(), model_.hour_number() - 1), model_.before(), nullptr);
        if (model_.day().buckets != 0 && model_.day_number() == day_of_hour(model_.hour_number()))
            compare(keys.day(model_.generation(), model_.day_number()), model_.day(), nullptr);
    }

    [[nodiscard]] const shared_store_model& model() const { return model_; }
    shared_store& store() { return store_; }

  private:
    template <class T>
    void require_same(const T& got, const T& wanted, const char* what) const {
        if (!is_lenient_ && !(got == wanted))
            throw difference{std::string{what} + ":\n" + testing::text_of(got) + "\nmodel:\n" +
                             testing::text_of(wanted)};
    }

    using text_map = std::map<std::string, std::string>;

    static void add(text_map& to, const std::string& name, std::uint64_t count) {
        if (count != 0) to[name] = std::to_string(count);
    }

    static text_map fields_of(const shared_store_model::window& window) {
        text_map fields;
        for (const auto& [id, series] : window.counted) add(fields, std::to_string(id), series.size());
        for (const auto& [id, count] : window.completed) add(fields, std::to_string(id) + "c", count);
        for (const auto& [set, groups] : window.groups) add(fields, "g" + std::to_string(set), groups.size());
        return fields;
    }

    /// @param before of an hour: the hour before that.
    void compare(const std::string& record, const shared_store_model::window& window,
                 const shared_store_model::window* before) {
        if (window.has_expired) return;
        text_map fields = store_.fields(record), wanted = fields_of(window);
        const std::string limits = std::exchange(fields["limits"], {});
        std::erase_if(fields, [before](const auto& each) {
            const bool is_of_hour = each.first.back() == 'r' || each.first.front() == 'n';
            return each.first == "about" || each.second.empty() || each.second == "0" ||
                   (is_of_hour && before == nullptr);
        });
        if (before != nullptr) {
            for (const auto& [id, series] : window.returned) add(wanted, std::to_string(id) + "r", series.size());
            for (const auto& [set, groups] : window.groups)
                add(wanted, "n" + std::to_string(set), fresh(set, groups, *before));
        }
        require_same(fields, wanted, "counts");
        require_same(limits.size(), 8 * window.limits.size(), "limits");
        require_same(store_.series(record, window.buckets), window.series, "sets");
        store_connection& connection = store_.connection();
        std::vector<std::string> all = connection.texts({"KEYS", record + ":*"});
        all.push_back(record);
        for (const std::string& key : all)
            if (connection.number({"TTL", key}) < 7'000) throw difference{"a key that does not expire, or too soon"};
    }

    static std::uint64_t fresh(std::uint64_t set, const std::set<std::uint64_t>& groups,
                               const shared_store_model::window& before) {
        const auto found = before.groups.find(set);
        return static_cast<std::uint64_t>(std::count_if(groups.begin(), groups.end(), [&](std::uint64_t group) {
            return found == before.groups.end() || !found->second.contains(group);
        }));
    }
};

}  // namespace seriesgate::testing
