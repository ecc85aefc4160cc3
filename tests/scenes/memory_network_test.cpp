/// The network in memory does what the kernel's does.
#include "simulation/memory_network.hpp"

#include <boost/asio/socket_base.hpp>
#include <sstream>
#include <thread>

#include "net/socket.hpp"
#include "simulation/virtual_time.hpp"
#include "support/catch.hpp"
#include "support/loopback.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Two ends of a connection, and what came of each step.
class pair {
    std::function<void(stream_socket&)> reset_;
    std::function<void()> settle_;

  public:
    stream_socket near;
    stream_socket far;
    std::vector<std::string> outcomes{};

    pair(stream_socket one, stream_socket other, std::function<void(stream_socket&)> reset,
         std::function<void()> settle)
        : reset_(std::move(reset)), settle_(std::move(settle)), near(std::move(one)), far(std::move(other)) {}

    /// Steps such as "write far abc", with commas between.
    void play(const std::string& script) {
        std::istringstream steps{script};
        for (std::string step; std::getline(steps, step, ',');) {
            std::istringstream words{step};
            std::string verb, which, text;
            words >> verb >> which >> text;
            stream_socket& at = which == "near" ? near : far;
            const std::map<std::string_view, std::function<void()>> known{{"look", [&] { look(at); }},
                                                                          {"read", [&] { read(at); }},
                                                                          {"write", [&] { write(at, text); }},
                                                                          {"end", [&] { at.shutdown_sending(); }},
                                                                          {"shut", [&] { at.handle().shut_down(); }},
                                                                          {"close",
                                                                           [&] {
                                                                               at.close_quietly();
                                                                               settle_();
                                                                           }},
                                                                          {"reset",
                                                                           [&] {
                                                                               reset_(at);
                                                                               settle_();
                                                                           }},
                                                                          {"fill", [&] { fill(at); }},
                                                                          {"drain", [&] { drain(at); }}};
            known.at(verb)();
        }
    }

  private:
    void read(stream_socket& at) {
        settle_();
        char room[64];
        error_code error;
        const std::size_t bytes = at.read_at_once(net::mutable_buffer{room, sizeof room}, error);
        outcomes.push_back("read " + (error ? error.message() : std::string{room, bytes}));
    }
    void write(stream_socket& at, std::string_view text) {
        error_code error;
        const std::size_t bytes = at.write_at_once(net::const_buffer{text.data(), text.size()}, error);
        outcomes.push_back("write " + (error ? error.message() : std::to_string(bytes)));
        settle_();
    }
    void look(stream_socket& at) {
        settle_();
        outcomes.push_back(std::string{"quiet "} + (at.is_quiet() ? "yes" : "no") + ", ended " +
                           (at.peer_has_ended() ? "yes" : "no"));
    }
    /// Until there is no room.
    void fill(stream_socket& at) {
        const std::string much(64 * 1024, 'x');
        error_code error;
        for (int i = 0; i < 10000 && !error; ++i) {
            (void)at.write_at_once(net::buffer(much), error);
            if (i % 100 == 0) settle_();
        }
        outcomes.push_back("fill " + error.message());
    }
    void drain(stream_socket& at) {
        std::string room(64 * 1024, '\0');
        error_code error;
        while (!error) {
            settle_();
            (void)at.read_at_once(net::buffer(room), error);
        }
        outcomes.push_back("drain " + error.message());
    }
};

std::vector<std::string> with_kernel(const std::string& script) {
    net::io_context io{1};
    loopback_pair made = connect_loopback(io);
    const auto reset = [](stream_socket& at) {
        at.set_option(net::socket_base::linger{true, 0});
        at.close();
    };
    const auto settle = [] { std::this_thread::sleep_for(1ms); };  // the loopback device delivers
    pair ends{std::move(made.near), std::move(made.far), reset, settle};
    ends.play(script);
    return ends.outcomes;
}

std::vector<std::string> in_memory(const std::string& script) {
    virtual_time time;
    memory_network network;
    net::io_context io{1};
    time.add(network.loop());
    time.add(io);
    const auto to = tcp_endpoint(net::ip::make_address("10.0.0.1"), 80);
    const auto listens = network.listen(to);
    std::shared_ptr<transport> came;
    listens->accept(io.get_executor(),
                    [&](error_code, std::shared_ptr<transport> end, const transport::endpoint&) { came = end; });
    stream_socket near{io};
    near.virtual_end()->connect(to, {[](error_code) {}, io.get_executor(), erased_handler::no_count{}});
    time.run_ready();
    const auto reset = [](stream_socket& at) { static_cast<memory_end*>(at.virtual_end())->reset(); };
    pair ends{std::move(near), stream_socket{io, came}, reset, [&time] { time.run_ready(); }};
    came.reset();
    ends.play(script);
    time.remove_all();
    return ends.outcomes;
}

const std::map<std::string, std::string> scripts{
    {"bytes, then nothing", "look near, write far abc, look near, read near, read near, look near"},
    {"an end, after bytes",
     "write far abc, end far, look near, read near, read near, write near x, read far, write far y"},
    {"a close", "close far, look near, write near x, write near x, read near"},
    {"a close with something unread", "write near x, close far, look near, read near, read near, write near x"},
    {"a reset, met by a reader", "reset far, look near, read near, read near, write near x"},
    {"a reset, met by a writer", "reset far, write near x, write near x, read near"},
    {"a full connection, and room again", "fill near, drain far, write near x, read far"},
    {"a connection that was shut down by its handle", "shut near, read near, write near x, read far"},
};

}  // namespace

TEST_CASE("connections in memory behave as the kernel's") {
    for (const auto& [name, script] : scripts) {
        INFO(name);
        CHECK(in_memory(script) == with_kernel(script));
    }
}
