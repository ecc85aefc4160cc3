/// Runs `seriesgate top`: the live view, or one report.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>

#include "net/asio.hpp"
#include "net/async.hpp"
#include "top/client.hpp"
#include "top/frame.hpp"
#include "top/options.hpp"
#include "top/screen.hpp"
#include "top/view.hpp"

// --- The live view.

namespace seriesgate::top {

/// Waits for the gate, keys and signals on one thread, so that a silent gate delays no key.
class live_view {
    net::io_context& io_;
    const options& asked_;
    gate_client& gate_;
    screen& screen_;
    net::posix::stream_descriptor keys_;
    net::signal_set signals_;
    async_timer pause_;
    bool asks_at_once_ = false;  // the last request is outdated
    key_reader reader_;
    view seen_;
    moment at_;
    std::size_t page_ = 1;

  public:
    /// The arguments must outlive it; it must outlive the io_context's last run.
    live_view(net::io_context& io, const options& asked, gate_client& gate, screen& on);
    ~live_view();

    /// Returns when the user quits, or the terminal has gone.
    void run();

  private:
    net::awaitable<void> keep_asking();
    net::awaitable<void> read_keys();
    net::awaitable<void> heed_signals();
    void draw();
    void ask_at_once();
    void suspend();
    void fulfil(wish wanted);
};

}  // namespace seriesgate::top

namespace seriesgate::top {

/// Runs the live view, or prints one report if asked to or without a terminal. @return the exit status: 0, or 1 if no
/// figures for a report could be had; stderr then has the reason. Throws std::exception with one line for errors of
/// files or the terminal.
int run(const options& asked);

}  // namespace seriesgate::top
