/// What two gates say to each other while one takes the other's place, and where they meet.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "config/config.hpp"

namespace seriesgate {

/// The unix socket at which a gate that runs can be asked for its place: server.takeoverSocket, or `takeover` in
/// state.dir. Empty: nowhere.
[[nodiscard]] std::string takeover_path(const config& settings);

/// The words, in their order. Each is a message of message_socket; the new gate begins, and any end of the connection
/// before `serve` leaves the running gate in its place.
///
///     new gate                                the gate that runs
///     seriesgate takeover 1
///                                             socket NAME [file]      with one socket each: those that listen
///                                             that is all
///     go                                      accepts nobody any more, and finishes what it has begun
///                                             wait                    about once a second, as long as that takes
///                                             connections NAME        with those that lie between two requests
///     got                                     after each of them
///                                             yours                   all is saved, the lock of state.dir is free
///     ready                                   has loaded all of it
///                                             serve                   from here on there is no way back
namespace takeover {

inline constexpr std::string_view hello = "seriesgate takeover 1";
inline constexpr std::string_view socket = "socket ";
inline constexpr std::string_view with_file = " file";  ///< the socket has one, for the new gate to remove
inline constexpr std::string_view that_is_all = "that is all";
inline constexpr std::string_view go = "go";
inline constexpr std::string_view wait = "wait";
inline constexpr std::string_view connections = "connections ";
inline constexpr std::string_view got = "got";
inline constexpr std::string_view yours = "yours";
inline constexpr std::string_view ready = "ready";
inline constexpr std::string_view serve = "serve";
inline constexpr std::string_view no = "no ";  ///< instead of anything, with why not

/// What each waits for the other's next message, where that has nothing to do for it.
inline constexpr std::chrono::seconds answer_limit{5};
/// From `yours` to `ready`: the state of 100 million series takes some ten seconds to load.
inline constexpr std::chrono::seconds load_limit{60};
/// For the last save, beyond server.drainTimeout.
inline constexpr std::chrono::seconds save_limit{60};
/// The longest silence of a gate that says `wait`.
inline constexpr std::chrono::seconds silence_limit{10};
inline constexpr std::chrono::seconds wait_interval{1};

}  // namespace takeover
}  // namespace seriesgate
