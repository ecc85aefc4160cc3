/// `seriesgate top` from its start to its end.
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

// The figures in a terminal, for as long as somebody looks.

namespace seriesgate::top {

/// One thread: the gate, keys and signals are waited for together, so that a gate that does not answer delays no key.
class live_view {
    net::io_context& io_;
    const options& asked_;
    gate_client& gate_;
    screen& screen_;
    net::posix::stream_descriptor keys_;
    net::signal_set signals_;
    async_timer pause_;
    bool asks_at_once_ = false;  // what was asked last is not what is wanted now
    key_reader reader_;
    view seen_;
    moment at_;
    std::size_t page_ = 1;

  public:
    /// All must outlive it, and it the io_context's last run.
    live_view(net::io_context& io, const options& asked, gate_client& gate, screen& on);
    ~live_view();

    /// Until somebody ends it, or the terminal has gone.
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

/// Live in the terminal, or once as plain text if that is asked for or there is none.
/// @return the exit status: 0, or 1 if the gate could not be asked for a report, which stderr then says.
/// Throws std::exception with one line for what is wrong with files, or the terminal.
int run(const options& asked);

}  // namespace seriesgate::top
