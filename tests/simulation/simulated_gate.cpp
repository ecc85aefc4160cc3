/// A gate on a network in memory, by a clock that stands still: another process plays its senders and its stores, and
/// says when the time goes on. tests/e2e/simulated.py has the other side.
///
/// Commands come on stdin and each has one answer on stdout. A command is a line, `VERB ARGUMENT... BYTES`, and so many
/// bytes; an answer is `OUTCOME NANOSECONDS GATE LOG BYTES`, what the gate has logged since, and so many bytes.
/// NANOSECONDS is the monotonic time; GATE is `none`, `runs` or `ended`.
///
///   begin SEED SECONDS       a world without a gate; the time of day, since 1970
///   start                    a gate; the bytes are its arguments, each with a NUL, and behind an empty one
///                            NAME=VALUE of environment variables
///   signal NAME              TERM, HUP or KILL
///   connect ID FROM TO       a connection from an address to an address and port
///   listen ID AT
///   send ID                  the bytes; says how many were taken
///   receive ID MAX           bytes, or `wait`, `end`, `reset`
///   shut ID | close ID | reset ID
///   unconfirmed ID 0|1       whether the kernel would say that bytes of the other end have not been confirmed
///   run NANOSECONDS          until something has happened, or to this time; says what: lines `KIND ID [ID]`
///   clock SECONDS            the time of day leaps; `stop SECONDS`: and stands still
///   name HOST ADDRESS,... | no_name HOST | silent_name HOST
///   black_hole AT | no_black_hole AT
#include <fmt/format.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "net/socket.hpp"
#include "process/startup_steps.hpp"
#include "simulation/simulation.hpp"

namespace seriesgate::testing {
namespace {

class world {
    using id = unsigned;
    struct end {
        std::shared_ptr<transport> self;
        bool is_waiting_to_read = false, is_waiting_to_write = false;
    };

    simulation within_;
    std::map<id, end> ends_;
    std::map<id, std::shared_ptr<transport_listener>> listeners_;
    id next_accepted_ = 1u << 20;
    std::string events_;
    std::vector<std::string> variables_;
    std::size_t log_shown_ = 0;
    std::string gate_ = "none";

  public:
    world(std::uint64_t seed, std::chrono::sys_seconds begins) : within_(seed, begins) {}
    ~world() {
        forget_variables();
        if (within_.has_gate()) within_.kill_gate();
        ends_.clear();
        for (auto& [_, each] : listeners_) each->close();
        listeners_.clear();
        within_.time.run_ready();  // what is told of them
    }

    /// @return the outcome
    std::string perform(const std::string& verb, std::istringstream& arguments, const std::string& bytes,
                        std::string& answer) {
        if (verb == "start") return start(bytes, answer);
        if (verb == "signal") return signal(next(arguments));
        if (verb == "run") return run(number(arguments), answer);
        const auto seconds = [&] { return std::chrono::sys_seconds{std::chrono::seconds{number(arguments)}}; };
        if (verb == "clock")
            within_.time.set_time_of_day(seconds());
        else if (verb == "stop")
            within_.time.stop_time_of_day(seconds());
        else if (verb == "black_hole")
            within_.network.black_holes.insert(next(arguments));
        else if (verb == "no_black_hole")
            within_.network.black_holes.erase(next(arguments));
        else if (verb.ends_with("name"))
            set_name(verb, arguments);
        else
            return perform_at(static_cast<id>(number(arguments)), verb, arguments, bytes, answer);
        return "ok";
    }

    std::string head(std::string_view outcome, std::size_t bytes) {
        const auto now = within_.time.monotonic().time_since_epoch().count();
        return fmt::format("{} {} {} {} {}\n", outcome, now, gate_, within_.said.size() - log_shown_, bytes);
    }
    std::string take_log() {
        const std::string fresh = within_.said.substr(log_shown_);
        log_shown_ = within_.said.size();
        return fresh;
    }

  private:
    /// What is about one connection or listener.
    std::string perform_at(id which, const std::string& verb, std::istringstream& arguments, const std::string& bytes,
                           std::string& answer) {
        if (verb == "connect") {
            const std::string from = next(arguments);
            return connect(which, from, next(arguments));
        }
        if (verb == "listen") return listen(which, next(arguments));
        if (verb == "close" && listeners_.contains(which)) {
            listeners_[which]->close();
            listeners_.erase(which);
            return "ok";
        }
        const auto found = ends_.find(which);
        if (found == ends_.end()) return "closed";
        if (verb == "send") return send(which, found->second, bytes);
        if (verb == "receive") return receive(which, found->second, number(arguments), answer);
        if (verb == "shut") found->second.self->shutdown_send();
        if (verb == "unconfirmed") memory_of(found->second).unconfirmed = number(arguments) != 0;
        if (verb == "reset") memory_of(found->second).reset();
        if (verb == "reset" || verb == "close") ends_.erase(found);
        return "ok";
    }

    static std::string next(std::istringstream& arguments) {
        std::string made;
        arguments >> made;
        return made;
    }
    static std::int64_t number(std::istringstream& arguments) {
        std::int64_t made = 0;
        arguments >> made;
        return made;
    }
    static memory_end& memory_of(const end& one) { return static_cast<memory_end&>(*one.self); }

    void tell(const char* kind, id which) { events_ += fmt::format("{} {}\n", kind, which); }

    void forget_variables() {
        for (const std::string& each : variables_) ::unsetenv(each.c_str());
        variables_.clear();
    }

    std::string start(const std::string& bytes, std::string& answer) {
        std::vector<std::string> arguments{"seriesgate"};
        forget_variables();
        bool are_variables = false;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::string one = bytes.c_str() + at;
            at += one.size() + 1;
            if (one.empty()) {
                are_variables = true;
            } else if (are_variables) {
                variables_.push_back(one.substr(0, one.find('=')));
                ::setenv(variables_.back().c_str(), one.c_str() + variables_.back().size() + 1, 1);
            } else {
                arguments.push_back(one);
            }
        }
        std::vector<const char*> pointers;
        for (const std::string& each : arguments) pointers.push_back(each.c_str());
        const auto asked = std::make_shared<const command_line>(
            parse_command_line(static_cast<int>(pointers.size()), pointers.data()));
        auto loaded = std::make_unique<load_outcome>();
        if (asked->error.empty()) *loaded = read_settings(*asked, false);
        for (const config_error& each : loaded->errors) answer += each.text() + "\n";
        gate_ = "ended";
        if (!asked->error.empty()) answer = "seriesgate: " + asked->error + "\n";
        if (!answer.empty()) return "1";
        try {
            within_.start_gate(std::move(loaded), *asked, [asked] { return read_settings(*asked, true); });
        } catch (const std::exception& error) {
            log::error("cannot serve", {{"err", error.what()}});
            within_.kill_gate();
            return "2";
        }
        gate_ = "runs";
        return "ok";
    }

    std::string signal(const std::string& name) {
        if (!within_.has_gate()) return "ended";
        if (name == "TERM") within_.gate().drain();
        if (name == "HUP") within_.gate().reload();
        if (name == "KILL") end_gate();
        return "ok";
    }

    void end_gate() {
        within_.kill_gate();
        gate_ = "ended";
    }

    std::string run(std::int64_t until, std::string& answer) {
        const auto happened = [this] { return !events_.empty() || (within_.has_gate() && within_.gate().is_over()); };
        const virtual_time::time_point end{virtual_time::duration{until}};
        within_.time.run_until(happened, std::max(end - within_.time.monotonic(), virtual_time::duration::zero()));
        if (within_.has_gate() && within_.gate().is_over()) end_gate();
        answer = std::exchange(events_, {});
        return "ok";
    }

    std::string connect(id which, const std::string& from, const std::string& to) {
        within_.network.connect_from(from);
        end& one = ends_[which];
        one.self = within_.network.make_transport();
        within_.network.connect_from(std::string{memory_network::gate_address});
        one.self->connect(endpoint_of(to),
                          handler([this, which](error_code error) { tell(error ? "refused" : "connected", which); }));
        return "ok";
    }

    std::string listen(id which, const std::string& at) try {
        listeners_[which] = within_.network.listen(endpoint_of(at));
        accept(which);
        return endpoint_text(listeners_[which]->local_endpoint());
    } catch (const boost::system::system_error& error) {
        listeners_.erase(which);
        return "in_use";
    }

    void accept(id which) {
        const auto by = listeners_.find(which);
        if (by == listeners_.end()) return;
        by->second->accept(
            within_.peers.get_executor(),
            [this, which](error_code error, const std::shared_ptr<transport>& one, const transport::endpoint& peer) {
                if (error) return;
                const id made = next_accepted_++;
                ends_[made].self = one;
                events_ += fmt::format("came {} {} {}\n", which, made, endpoint_text(peer));
                accept(which);
            });
    }

    /// What has come for one that is closed is of no interest.
    template <class Told>
    erased_handler handler(Told told) {
        return erased_handler{[told](error_code error) { told(error); }, within_.peers.get_executor(),
                              erased_handler::no_count{}};
    }

    static std::string fault_name(const error_code& error) {
        return error == net::error::connection_reset ? "reset" : error == net::error::broken_pipe ? "broken" : "closed";
    }

    std::string send(id which, end& one, const std::string& bytes) {
        std::size_t taken = 0;
        while (taken < bytes.size()) {
            error_code error;
            const std::size_t more = one.self->write_now(std::string_view{bytes}.substr(taken), error);
            taken += more;
            if (!error) continue;
            if (error != net::error::would_block) return taken == 0 ? fault_name(error) : std::to_string(taken);
            if (!std::exchange(one.is_waiting_to_write, true))
                one.self->write_some("", erased_handler{[this, which](error_code, std::size_t) {
                                                            if (ends_.contains(which))
                                                                ends_[which].is_waiting_to_write = false;
                                                            tell("writable", which);
                                                        },
                                                        within_.peers.get_executor()});
            break;
        }
        return std::to_string(taken);
    }

    std::string receive(id which, end& one, std::int64_t most, std::string& answer) {
        answer.resize(static_cast<std::size_t>(most));
        error_code error;
        answer.resize(one.self->read_now(net::buffer(answer), error));
        if (!error) return "ok";
        if (error == net::error::eof) return "end";
        if (error != net::error::would_block) return fault_name(error);
        if (!std::exchange(one.is_waiting_to_read, true))
            one.self->wait_readable(handler([this, which](error_code) {
                if (ends_.contains(which)) ends_[which].is_waiting_to_read = false;
                tell("readable", which);
            }));
        return "wait";
    }

    void set_name(const std::string& verb, std::istringstream& arguments) {
        memory_network::name& one = within_.network.names[next(arguments)];
        one = {};
        if (verb == "silent_name") one.is_silent = true;
        if (verb == "no_name") one.error = net::error::host_not_found;
        std::istringstream addresses{next(arguments)};
        for (std::string each; std::getline(addresses, each, ',');) one.addresses.push_back(each);
    }
};

int serve() {
    std::unique_ptr<world> now;
    for (std::string line; std::getline(std::cin, line);) {
        const std::size_t space = line.rfind(' ');
        std::string bytes(std::strtoull(line.c_str() + space + 1, nullptr, 10), '\0');
        std::cin.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        std::istringstream arguments{line.substr(0, space)};
        std::string verb, answer, outcome = "ok";
        arguments >> verb;
        if (verb == "begin") {
            std::int64_t seed = 0, seconds = 0;
            arguments >> seed >> seconds;
            now.reset();
            ::malloc_trim(0);  // a test may bound what its gate takes
            now = std::make_unique<world>(static_cast<std::uint64_t>(seed),
                                          std::chrono::sys_seconds{std::chrono::seconds{seconds}});
        } else {
            outcome = now->perform(verb, arguments, bytes, answer);
        }
        const std::string head = now->head(outcome, answer.size());
        std::cout << head << now->take_log() << answer << std::flush;
    }
    return 0;
}

}  // namespace
}  // namespace seriesgate::testing

int main() {
    std::ios::sync_with_stdio(false);
    return seriesgate::testing::serve();
}
