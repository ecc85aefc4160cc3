#include "upstream/store_client.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "core/text.hpp"
#include "net/event_loop.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Time limit of connecting while other backends are left.
constexpr auto connect_limit_of_several = 2s;
constexpr auto probe_limit = 5s;

upstream_error busy(const shared_store& store, std::size_t waiting) {
    return {.reason = upstream_error_reason::busy,
            .text = "all connections to it are in use, and " + std::to_string(waiting) + " requests wait for one",
            .backend = store.name};
}

/// Turns our own faults into errors of the gate, because a sender would drop its data: 401 and 403 to the gate's
/// credentials, and redirections. Senders follow some of these with GET, and take the answer for success.
result<upstream_answer, upstream_error> unless_our_fault(upstream_answer answer, const shared_backend& backend,
                                                         const store_access& access, bool uses_gate_credentials) {
    constexpr std::size_t location_bytes_max = 200;
    const unsigned status = answer.status;
    const bool is_redirection = (status >= 301 && status <= 303) || status == 307 || status == 308;
    if (!is_redirection && !(uses_gate_credentials && (status == 401 || status == 403))) return answer;
    upstream_error error{
        .reason = is_redirection ? upstream_error_reason::redirected : upstream_error_reason::unauthorized,
        .text = "it answers " + std::to_string(status),
        .backend = backend.name};
    if (!is_redirection || access.has_query()) return error;
    const std::string location = access.without_secrets(answer.headers[http::field::location]);  // they may have a '#'
    const std::size_t end = std::min(location.find_first_of("?#"), location_bytes_max);
    if (!location.empty()) error.text += " with Location " + one_line(repaired_utf8(location.substr(0, end)));
    return error;
}

/// Adds the failed earlier attempts to the error.
upstream_error after(const std::optional<upstream_error>& before, upstream_error error, std::string& tried) {
    if (before) {
        tried.append(tried.empty() ? "" : ", ").append(before->backend).append(": ").append(name_of(before->reason));
        error.text += " (before that " + tried + ")";
    }
    return error;
}

void note_answer(shared_backend& backend, monotonic_clock::time_point began, unsigned status) {
    const auto lasted = backend.health.answered(status, began, monotonic_clock::now());
    if (lasted && backend.outage_logged.exchange(false))
        log::info("an address of the store is back",
                  {{"upstream", backend.name}, {"outage_seconds", std::chrono::duration<double>(*lasted).count()}});
}

void note_failure(shared_backend& backend, monotonic_clock::time_point began, const upstream_error& error) {
    if (!backend.health.failed(began, monotonic_clock::now()) || backend.is_only) return;
    const auto outages = backend.outages.count(1);
    if (!outages) return;
    backend.outage_logged = true;
    log::warn(
        "an address of the store is out",
        {{"upstream", backend.name}, {"outages", *outages}, {"reason", name_of(error.reason)}, {"err", error.text}});
}

}  // namespace

store_client::store_client(net::io_context& io, shared_store& shared)
    : io_(io), shared_(shared), slots_(std::make_shared<backend_slots>(io, shared)) {
    for (shared_backend& each : shared.backends) backends_.emplace_back(io, shared, each);
}

void store_client::maintain() {
    const auto now = clock::now();
    for (std::size_t i = 0; i < backends_.size(); ++i) {
        backends_[i].maintain();
        shared_backend& backend = shared_.backends[i];
        if (!backend.is_only && backend.health.take_probe(now, now + 2 * probe_limit))
            spawn(io_.get_executor(), probe(i), "looking at an address of the store failed");
    }
    slots_->serve_queue();
}

bool store_client::started() const noexcept {
    return std::ranges::any_of(backends_, [](const backend_client& each) { return each.started(); });
}

/// Probes an ejected backend, so that no sender's request has to.
net::awaitable<void> store_client::probe(std::size_t index) {
    const auto began = clock::now();
    const auto error = co_await backends_[index].probe(began + probe_limit);
    shared_backend& backend = shared_.backends[index];
    if (error)
        backend.health.failed(began, clock::now());
    else
        backend.health.accepts(clock::now());
    slots_->serve_queue();
}

net::awaitable<store_client::outcome> store_client::post(const upstream_request& request) {
    const auto limit = clock::now() + shared_.upstream.timeout;
    auto slot = slots_->take({}, limit);
    const store_backend& first = slot ? slot->backend().at : shared_.settings.backends.front();
    upstream_message message = make_message(shared_.upstream, first, request);
    if (shared_.access.put_into(message.http)) message.uses_gate_credentials = true;
    // We could not remove our secrets from a compressed answer.
    if (shared_.access.has_secrets()) message.http.erase(http::field::accept_encoding);
    return send(std::move(message), std::move(slot), limit);
}

net::awaitable<store_client::outcome> store_client::send(upstream_message message, std::optional<backend_slot> slot,
                                                         clock::time_point limit) {
    tried_backends tried;
    std::string failures;
    std::optional<upstream_error> before;
    for (std::size_t left = backends_.size();; --left) {
        if (!slot) {
            auto waited = co_await slots_->wait(tried, limit);
            if (!waited) co_return before ? std::move(*before) : busy(shared_, slots_->waiting_count());
            slot.emplace(std::move(*waited));
        }
        readdress(message, slot->backend().at);
        outcome got = co_await send_to(*slot, message, limit, left);
        if (got) {
            outcome judged =
                unless_our_fault(*std::move(got), slot->backend(), shared_.access, message.uses_gate_credentials);
            if (!judged) slot->backend().errors[judged.error().reason].add();
            co_return judged;
        }
        upstream_error error = after(before, got.error(), failures);
        if (!error.untouched || left == 1 || clock::now() >= limit) co_return error;
        before = std::move(error);
        tried.resize(backends_.size());
        tried[slot->index()] = true;
        slot.reset();
        if (auto next = slots_->take(tried, limit)) slot.emplace(std::move(*next));
    }
}

net::awaitable<store_client::outcome> store_client::send_to(const backend_slot& slot, const upstream_message& message,
                                                            clock::time_point limit, std::size_t backends_left) {
    const auto began = clock::now();
    const auto part = (limit - began) / static_cast<clock::rep>(backends_left);
    const exchange_limits limits{
        .connect = backends_left == 1 ? part : std::min<clock::duration>(part, connect_limit_of_several),
        .answer = limit};
    slot.backend().requests.add();
    outcome got = co_await backends_[slot.index()].send(message, limits);
    shared_.metrics.upstream_request_duration.observe(clock::now() - began);
    if (got) {
        note_answer(slot.backend(), began, got->status);
        co_return got;
    }
    const upstream_error error = got.error();
    slot.backend().errors[error.reason].add();
    // A timeout of a request that had waited for long is not the backend's fault.
    const bool had_time = clock::now() - slot.since() >= shared_.upstream.timeout / 2;
    if (error.reason != upstream_error_reason::timeout || had_time) note_failure(slot.backend(), began, error);
    co_return got;
}

}  // namespace seriesgate
