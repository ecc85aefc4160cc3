/// The whole gate: everything that a process of it is, but for its arguments and its exit status.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "admin/gate_counts.hpp"
#include "admin/pages.hpp"
#include "config/load.hpp"
#include "core/synchronization.hpp"
#include "http/connections.hpp"
#include "http/server.hpp"
#include "http/tls_handshakes.hpp"
#include "limit/limiter.hpp"
#include "net/event_loop.hpp"
#include "process/fleet_seat.hpp"
#include "process/gate_metrics.hpp"
#include "process/listeners.hpp"
#include "process/maintenance.hpp"
#include "process/persistence.hpp"
#include "process/reload.hpp"
#include "process/serving.hpp"
#include "process/shared_cardinality.hpp"
#include "process/supervision.hpp"
#include "process/takeover_server.hpp"
#include "process/web_access.hpp"

namespace seriesgate {

struct start {
    std::string_view config_file;  ///< where the settings are from; empty: from flags alone
    bool takes_over = false;       ///< the place of a gate that runs, if there is one
};

/// A gate from its start to its end. Members stand in the order in which they are made. Threads end first, in the
/// destructor; then everything goes in the opposite order, event loops before what their coroutines use.
///
/// Threads: the one that makes it, which is the front desk's.
class process {
    const config& settings_;
    const std::string config_file_;
    const thread_starter starter_;
    inherited_listeners place_;  // first: a gate that runs has the lock of state.dir
    const instance_identity installed_;
    const hash_key key_;
    gate_metrics metrics_;
    std::optional<fleet_seat> fleet_;
    const std::function<time_point()> now_;  // by which requests are decided
    series_limiter limiter_;
    shared_cardinality noted_;
    guarded<delivery_record> delivery_{};
    const descriptor_use other_descriptors_;
    connection_registry connections_;
    connection_registry admin_connections_;
    descriptor_relief relief_;
    access_control access_;
    serving_shared shared_;
    web_access web_;
    file_poller small_files_;
    reloader reload_;
    const page_sources figures_;
    persistence kept_;
    const std::unique_ptr<tls_files> certificates_;  // none: senders meet no TLS

    event_loop background_;  // maintenance, counting, markers: short steps that wait for no disk
    event_loop files_;       // configuration, certificates, passwords: what reads small files
    event_loop saving_;      // state: long steps, with rests between
    event_loop pages_;
    event_loop passwords_;
    event_loop handshakes_;

    const worker_threads workers_;
    serving_thread acceptor_;  // its thread is that of run()
    std::optional<handshakes> tls_;
    server senders_;
    std::optional<server> admin_server_;
    supervision manager_;
    net::signal_set signals_;
    net::signal_set reload_signals_;
    std::optional<marking> marks_;
    std::optional<running_workers> serving_;
    std::optional<fleet_stay> staying_in_fleet_;
    std::optional<takeover_server> next_;  // the gate that takes this one's place
    std::string not_taken_;                // why a gate that runs has not left its place
    bool is_over_ = false;

  public:
    /// Opens what it needs, and loads its state. Throws std::runtime_error with one readable line if it cannot start.
    /// @param settings outlives this.
    /// @param read_again reads the configuration anew, for a reload.
    /// @param starter has the event loops run, but for the front desk's.
    process(const config& settings, const start& how, std::function<load_outcome()> read_again,
            thread_starter starter = start_thread);
    process(const process&) = delete;
    process& operator=(const process&) = delete;
    ~process();

    /// Serves until SIGTERM or SIGINT, then drains and saves, or until another process has its place.
    /// Throws std::runtime_error with one readable line if it cannot take the place of another.
    void run();

    /// What run() begins with, for who runs the front desk's event loop by himself.
    void begin();
    [[nodiscard]] net::io_context& acceptor() noexcept { return acceptor_.self.io; }
    /// As SIGTERM.
    void drain();
    /// As SIGHUP.
    void reload();
    /// As /-/ready answers.
    [[nodiscard]] bool is_ready() const noexcept { return shared_.http.life.stage() == lifecycle_state::ready; }
    /// Whether it has drained and saved, or given its place away.
    [[nodiscard]] bool is_over() const noexcept { return is_over_; }
    /// "127.0.0.1:9201": where senders connect.
    [[nodiscard]] std::string address() const { return senders_.address(); }

  private:
    [[nodiscard]] page_sources page_figures();
    [[nodiscard]] load_outcome read_all(const std::function<load_outcome()>& read_again);
    [[nodiscard]] std::vector<file_check> file_checks();
    std::optional<server> make_admin_server();
    void start_loops();
    void open_to_senders();
    void accept();
    void offer_place();
    net::awaitable<void> tell_rests();
    net::awaitable<void> drain_on_signal();
    net::awaitable<void> reload_on_signal();
    net::awaitable<void> drain_and_end(std::string_view why);
    net::awaitable<void> end();
    void spawn_end();
};

}  // namespace seriesgate
