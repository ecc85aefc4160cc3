#include "ingest/forwarder.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "http/query_string.hpp"
#include "ingest/sender_answer.hpp"
#include "ingest/sender_texts.hpp"
#include "net/event_loop.hpp"
#include "upstream/request.hpp"

namespace seriesgate {
namespace {

/// The answer that decides: a retriable error of any store, else an error of the first store, else of another.
reply& decisive(reply& first, std::vector<reply>& others) {
    if (is_retriable(first.status)) return first;
    if (const auto found = std::ranges::find_if(others, is_retriable, &reply::status); found != others.end())
        return *found;
    if (!is_success(first.status)) return first;
    const auto failed = std::ranges::find_if_not(others, is_success, &reply::status);
    return failed == others.end() ? first : *failed;
}

using counts = std::optional<written_counts>;

counts least(const counts& one, const counts& other) {
    if (!one || !other) return std::nullopt;
    return written_counts{.samples = std::min(one->samples, other->samples),
                          .histograms = std::min(one->histograms, other->histograms),
                          .exemplars = std::min(one->exemplars, other->exemplars)};
}

/// Older vmagents ask this way whether the store understands zstd; "1" means yes.
/// Source: VictoriaMetrics v1.115 and before, lib/protoparser/common/vmproto_handshake.go.
constexpr std::string_view zstd_question = "get_vm_proto_version=1";

constexpr std::size_t shown_argument_bytes_max = 100;

using namespace std::chrono_literals;

/// Every answer comes within upstream.timeout; this catches answers lost to a lack of memory.
constexpr auto grace = 5s;

/// The parts of `sent` that are needed to count its outcome later.
outgoing facts_of(const outgoing& sent) {
    return {.version = sent.version,
            .forward = sent.forward,
            .body = sent.body,
            .decided = sent.decided,
            .untranslated = sent.untranslated};
}

void log_failed(shared_replica& replica, std::uint64_t samples, std::string_view reason, std::string_view err) {
    replica.samples_failed.add(samples);
    const auto news = replica.lost.count(samples);
    if (!news) return;
    log::warn("a replica has not stored what it was sent", {{"requests", news->requests},
                                                            {"samples", news->samples},
                                                            {"replica", replica.store.name},
                                                            {"best_effort", replica.settings.best_effort},
                                                            {"reason", reason},
                                                            {"err", err}});
}

}  // namespace

reply agreed_answer(reply first, std::vector<reply> others) {
    counts written = read_written(first.headers);
    for (const reply& each : others) written = least(written, read_written(each.headers));
    reply agreed = std::move(decisive(first, others));
    if (written)
        write_written(*written, agreed.headers);
    else
        erase_written(agreed.headers);
    return agreed;
}

bool asks_for_zstd(const http_request& request) {
    return request.body.empty() && has_argument(request.query, "get_vm_proto_version", "1");
}

forwarder::forwarder(net::io_context& io, ingest_shared& shared) : shared_(shared), settings_(shared.settings) {
    if (settings_.upstream.discard) return;
    store_.emplace(io, shared.stores.first);
    replicas_.emplace(io, shared.stores, settings_.tenant_header);
}

void forwarder::maintain() {
    if (!store_) return;
    store_->maintain();
    replicas_->maintain();
}

bool forwarder::ready() const noexcept {
    return !store_ || (store_->started() && replicas_->ready());
}

bool forwarder::take_room(const http_request& of) const {
    const std::size_t copies = store_ ? replicas_->waited_for() : 0;
    return copies == 0 || of.memory.grow(copies * bytes_held(of.headers));
}

net::awaitable<reply> forwarder::send(const http_request& from, const outgoing& sent) {
    assert(sent.body && !sent.body->empty());
    if (!store_) {
        shared_.metrics.requests_discarded.add();
        reply taken{.status = 204};
        co_return taken;
    }
    const std::string query = query_of(from);
    upstream_request message = request_of(from, query);
    message.body = *sent.body;
    message.content_type = sent.content_type;
    message.content_encoding = sent.content_encoding;
    message.body_changed = is_rewritten(sent.forward);
    message.translated = sent.forward == body_action::translated;
    message.body_owner = sent.body;
    if (replicas_->is_empty()) co_return co_await post(from, message);
    const auto asked = replicas_->begin(message, sent);
    reply first = co_await post(from, message);
    std::vector<reply> others = co_await replicas_->wait(asked);
    co_return agreed_answer(std::move(first), std::move(others));
}

/// Says no when there are replicas, since every one of them would have to understand zstd.
net::awaitable<reply> forwarder::ask_for_zstd(const http_request& from) {
    if (!store_) {
        reply yes{.status = 200, .body = "1"};
        co_return yes;
    }
    if (!replicas_->is_empty()) {
        reply no{.status = 204};
        co_return no;
    }
    const upstream_request question = request_of(from, zstd_question);
    co_return co_await post(from, question);
}

/// A request without a body.
upstream_request forwarder::request_of(const http_request& from, std::string_view query) const {
    return {.headers = from.headers,
            .tenant_header = settings_.tenant_header,
            .tenant = from.tenant_is_bound ? from.tenant : std::string_view{},
            .path_tenant = from.tenant,
            .keeps_authorization = !from.authorization_is_ours,
            .query = query,
            .body = {}};
}

net::awaitable<reply> forwarder::post(const http_request& from, const upstream_request& message) {
    const auto begin = monotonic_clock::now();
    auto answer = co_await store_->post(message);
    shared_.stores.first.metrics.upstream_request_duration.observe(monotonic_clock::now() - begin);
    if (!answer) co_return failed(from, answer.error());
    reply relayed = answered(std::move(*answer));
    const bool is_data = !message.body.empty();
    if (is_data) count_answer(from, relayed);  // a rejected question loses no samples
    co_return relayed;
}

reply forwarder::failed(const http_request& from, const upstream_error& error) {
    shared_.stores.first.metrics.upstream_errors[error.reason].add();
    const std::string line = unanswered_line(error, settings_.upstream);
    reply made = unanswered_reply(error, line);
    if (const auto requests = shared_.stores.first.health.failed(error.reason))
        log::warn("the upstream has not answered", {{"requests", *requests},
                                                    {"reason", name_of(error.reason)},
                                                    {"upstream", error.backend},
                                                    {"sender", from.sender},
                                                    {"tenant", shown_tenant(from.tenant)},
                                                    {"status", made.status},
                                                    {"err", line}});
    return made;
}

reply forwarder::answered(upstream_answer answer) {
    if (const auto ended = shared_.stores.first.health.answered())
        log::info("the upstream answers again",
                  {{"upstream", shared_.stores.first.name},
                   {"outage_seconds", std::chrono::duration<double>(ended->lasted).count()},
                   {"requests", ended->requests},
                   {"status", answer.status}});
    return passed_on(std::move(answer), settings_.tenant_header, shared_.stores.first.access);
}

void forwarder::count_answer(const http_request& from, const reply& answer) {
    shared_.stores.first.metrics.upstream_responses[answer.status].add();
    const auto requests = shared_.logs.store_errors.count(answer.status, 1);
    if (!requests) return;
    const std::string_view tenant = from.tenant;
    log::write(log::level::warn, "the store rejected requests",
               describe_store_error(answer.status, said_by_store(answer, shared_.stores.first.access), *requests,
                                    from.sender, tenant));
}

/// Keeps only the query arguments that upstream.forwardQuery allows. The log names a dropped argument without its
/// value, which may be a secret.
std::string forwarder::query_of(const http_request& from) {
    forwarded_query query = pick_arguments(from.query, settings_.upstream.forward_query);
    if (query.left_out == 0) return std::move(query.text);
    shared_.metrics.query_arguments_dropped.add(query.left_out);
    if (const auto arguments = shared_.logs.query.count(query.left_out))
        log::warn("a sender's query argument was left out, see upstream.forwardQuery",
                  {{"arguments", *arguments},
                   {"argument", query.left_out_example.substr(0, shown_argument_bytes_max)},
                   {"sender", from.sender},
                   {"tenant", shown_tenant(from.tenant)}});
    return std::move(query.text);
}

struct expected_answers {
    async_timer all_there;
    shared_stores::copy_room room;  // of a copy, whose answer nobody waits for
    std::vector<std::optional<reply>> answers{};
    std::size_t missing = 0;

    explicit expected_answers(net::io_context& io, shared_stores::copy_room held = nullptr)
        : all_there(io, async_timer::time_point::max()), room(std::move(held)) {}

    void take(std::size_t at, reply answer) {
        answers[at].emplace(std::move(answer));
        if (--missing == 0) all_there.cancel();
    }
};

replication::replication(net::io_context& io, shared_stores& shared, const std::string& tenant_header)
    : io_(io), shared_(shared), tenant_header_(tenant_header) {
    for (shared_replica& each : shared.replicas) {
        clients_.emplace_back(io, each.store);
        waited_for_ += each.settings.best_effort ? 0 : 1;
    }
}

void replication::maintain() {
    for (store_client& each : clients_) each.maintain();
}

bool replication::ready() const noexcept {
    for (std::size_t i = 0; i < clients_.size(); ++i)
        if (!shared_.replicas[i].settings.best_effort && !clients_[i].started()) return false;
    return true;
}

replication::expected replication::begin(const upstream_request& of, const outgoing& sent) {
    upstream_request request = of;
    request.for_replica = true;
    const auto expects = std::make_shared<expected_answers>(io_);
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        shared_replica& replica = shared_.replicas[i];
        const bool is_copy = replica.settings.best_effort;
        const expected to = is_copy ? begin_copy(replica, request, sent) : expects;
        if (!to) continue;
        const std::size_t place = to->answers.size();  // an earlier answer may be there already
        to->answers.emplace_back();
        ++to->missing;
        spawn(io_.get_executor(), ask(i, place, clients_[i].post(request), facts_of(sent), to),
              is_copy ? "sending a replica its copy failed" : "asking a replica failed");
    }
    return expects;
}

net::awaitable<std::vector<reply>> replication::wait(expected of) {
    if (of->missing != 0) {
        of->all_there.expires_after(shared_.first.upstream.timeout + grace);
        co_await of->all_there.async_wait(no_throw);
    }
    std::vector<reply> answers;
    for (auto& each : of->answers) answers.push_back(each ? std::move(*each) : out_of_memory());
    co_return answers;
}

net::awaitable<void> replication::ask(std::size_t index, std::size_t place,
                                      net::awaitable<store_client::outcome> answer, outgoing sent, expected to) {
    auto got = co_await std::move(answer);
    to->take(place, take(shared_.replicas[index], std::move(got), sent));
}

/// Bounds the copies that no sender waits for: beyond the bounds the replica gets nothing.
/// @return where its answer goes; null if it gets nothing.
replication::expected replication::begin_copy(shared_replica& replica, const upstream_request& request,
                                              const outgoing& sent) {
    auto room = shared_.begin_copy(static_cast<std::int64_t>(request.body.size() + bytes_held(request.headers)));
    if (room) return std::make_shared<expected_answers>(io_, std::move(room));
    replica.dropped.add();
    log_failed(replica, sent_samples(sent), "dropped", "too much is on its way to replicas");
    return nullptr;
}

/// @return the answer for the sender, if it waits for this replica.
reply replication::take(shared_replica& from, store_client::outcome got, const outgoing& sent) {
    const std::uint64_t samples = sent_samples(sent);
    if (!got) {
        const upstream_error& error = got.error();
        from.metrics.upstream_errors[error.reason].add();
        const std::string line = unanswered_line(error, shared_.first.upstream);
        log_failed(from, samples, name_of(error.reason), line);
        return unanswered_reply(error, line);
    }
    from.metrics.upstream_responses[got->status].add();
    reply answer = passed_on(std::move(*got), tenant_header_, from.store.access);
    const std::uint64_t stored = stored_samples(sent, {}, answer);
    from.samples_stored.add(stored);
    if (stored < samples || !is_success(answer.status))
        log_failed(from, samples - stored, std::to_string(answer.status),
                   said_by_store(answer, from.store.access).text);
    return answer;
}

}  // namespace seriesgate
