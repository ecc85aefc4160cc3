/// The whole gate as one object, without arguments and exit status.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "admin/delivery_record.hpp"
#include "admin/pages.hpp"
#include "config/command_line.hpp"
#include "config/load.hpp"
#include "core/synchronization.hpp"
#include "http/connections.hpp"
#include "http/handshakes.hpp"
#include "http/server.hpp"
#include "limit/limiter.hpp"
#include "net/event_loop.hpp"
#include "process/fleet_runtime.hpp"
#include "process/gate_metrics.hpp"
#include "process/maintenance.hpp"
#include "process/persistence.hpp"
#include "process/reload.hpp"
#include "process/serving.hpp"
#include "process/startup_steps.hpp"
#include "process/supervision.hpp"
#include "process/takeover_server.hpp"
#include "process/warm_start.hpp"
#include "process/web_access.hpp"

namespace seriesgate {

/// A gate from its start to its end. Members are in the order of creation. The destructor ends all threads; then
/// members go in reverse order, event loops before what their coroutines use.
/// Threads: the one that creates it becomes the acceptor thread.
class process {
    const config& settings_;
    const std::string config_file_;
    const std::filesystem::file_time_type config_written_;  // just after it was read
    const thread_starter starter_;
    inherited_listeners inherited_;  // first: a running gate holds the lock of state.dir
    const instance_identity installed_;
    const hash_key key_;
    gate_metrics metrics_;
    std::optional<fleet_runtime> fleet_;
    const std::function<time_point()> now_;  // the clock that decides about requests
    series_limiter limiter_;
    shared_cardinality cardinality_;
    guarded<delivery_record> delivery_{};
    const descriptor_use other_descriptors_;
    connection_registry connections_;
    connection_registry admin_connections_;
    descriptor_relief relief_;
    access_control access_;
    warm_series warm_series_;
    serving_shared shared_;
    web_access web_;
    file_poller small_files_;
    reloader reload_;
    const page_sources figures_;
    persistence persistence_;
    const std::unique_ptr<tls_files> certificates_;  // null without TLS

    event_loop warming_loop_;     // the warm start
    event_loop background_loop_;  // maintenance, counting, markers: short steps without disk waits
    event_loop files_loop_;       // configuration, certificates, passwords: small files
    event_loop saving_loop_;      // state: long steps with rests
    event_loop pages_loop_;
    event_loop passwords_loop_;
    event_loop handshakes_loop_;

    const worker_threads workers_;
    serving_thread acceptor_;               // on the thread of run()
    std::optional<handshakes> handshakes_;  // with TLS or server.proxyProtocol
    server sender_server_;
    std::optional<server> admin_server_;
    supervision manager_;
    net::signal_set signals_;
    net::signal_set reload_signals_;
    std::optional<marking> markers_;
    std::optional<warm_start> warm_start_;  // unless the gate knows series already
    std::optional<running_workers> serving_;
    std::optional<takeover_server> takeover_server_;  // set once this gate can be taken over
    std::string takeover_fault_;                      // why this gate's takeover failed
    bool is_over_ = false;
    bool is_in_other_place_ = inherited_.before.has_value();  // the running gate's, whose name in the fleet it has

  public:
    /// Opens listeners and files, and loads the state. Throws std::runtime_error with one readable line.
    /// @param settings outlives this. @param asked says where they are from, and how to start.
    /// @param read_again reads the configuration for a reload.
    /// @param starter starts the threads of all event loops, except the acceptor thread.
    process(const config& settings, const command_line& asked, std::function<load_outcome()> read_again,
            thread_starter starter = start_thread);
    ~process();

    /// Serves until SIGTERM or SIGINT, then drains and saves; or until another process has taken over.
    /// Throws std::runtime_error with one readable line if this gate's takeover fails.
    void run();

    /// The first part of run(), for a caller that runs the acceptor's event loop itself.
    void begin();
    [[nodiscard]] net::io_context& acceptor() noexcept { return acceptor_.thread.io; }
    void drain();   ///< like SIGTERM
    void reload();  ///< like SIGHUP
    [[nodiscard]] bool is_ready() const noexcept { return shared_.http.life.stage() == lifecycle_state::ready; }
    /// Whether the gate has drained and saved, or was taken over.
    [[nodiscard]] bool is_over() const noexcept { return is_over_; }
    /// The sender address, such as "127.0.0.1:9201".
    [[nodiscard]] std::string address() const { return sender_server_.address(); }

  private:
    void prepare_warm_start(bool is_asked_for);
    [[nodiscard]] page_sources page_figures();
    [[nodiscard]] std::vector<file_check> file_checks();
    [[nodiscard]] serving_parts parts();
    void start_loops();
    net::awaitable<void> get_ready();
    void open_to_senders();
    void accept();
    void offer_place();
    net::awaitable<void> log_rests();
    net::awaitable<void> drain_on_signal();
    net::awaitable<void> reload_on_signal();
    net::awaitable<void> drain_and_end(std::string_view why);
    net::awaitable<void> end();
    void spawn_end();
};

}  // namespace seriesgate
