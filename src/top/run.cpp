#include "top/run.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "system/clock.hpp"
#include "top/asking.hpp"
#include "top/client.hpp"
#include "top/frame.hpp"
#include "top/live.hpp"
#include "top/screen.hpp"

namespace seriesgate::top {
namespace {

/// Of each list in a report.
constexpr std::size_t report_lines_max = 10;
/// Where no terminal says how wide it is.
constexpr std::size_t report_columns = 120;
constexpr std::size_t report_columns_min = 40;

/// Source: no-color.org.
bool wants_colours() {
    const char* const no = std::getenv("NO_COLOR");
    return no == nullptr || *no == '\0';
}

std::size_t columns_of_report() {
    winsize said{};
    if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &said) != 0 || said.ws_col == 0)
        return report_columns;
    return std::max<std::size_t>(said.ws_col, report_columns_min);
}

/// Stops the io_context: what time limits are left nobody waits for.
net::awaitable<void> ask_once(net::io_context& io, gate_client& gate, moment& into) {
    const question asked;
    auto got = co_await ask(gate, asked, report_lines_max);
    if (got)
        into.known = *std::move(got);
    else
        into.fault = got.error();
    io.stop();
}

int report(net::io_context& io, const options& asked, gate_client& gate) {
    moment at{.url = asked.url};
    net::co_spawn(io, ask_once(io, gate, at), net::detached);
    io.run();
    at.now = std::chrono::floor<std::chrono::seconds>(wall_clock::now());
    if (!at.fault.empty()) {
        fmt::print(stderr, "seriesgate top: {}: {}\n", fit_to_be_seen(asked.url), fit_to_be_seen(at.fault));
        return 1;
    }
    std::string text;
    for (const line& each : make_report(at, columns_of_report())) text += each.text() + "\n";
    const bool is_out = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    return is_out ? 0 : 1;
}

}  // namespace

int run(const options& asked) {
    net::io_context io{1};
    gate_client gate{io, asked};
    if (asked.once || !screen::is_there()) return report(io, asked, gate);
    screen on{wants_colours()};
    live_view{io, asked, gate, on}.run();
    return 0;
}

}  // namespace seriesgate::top
