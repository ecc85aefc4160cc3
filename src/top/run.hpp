/// `seriesgate top`: its command line, and the live view or one report in the user's terminal.
#pragma once

#include <termios.h>

#include <chrono>
#include <string>

#include "top/frame.hpp"
#include "top/subcommand.hpp"

namespace seriesgate::top {

/// The gate is asked at `admin.listen` if that is set.
struct options : client_options {
    std::chrono::milliseconds interval{2000};
    bool once = false;
};

parsed_subcommand<options> parse_command_line(int argc, const char* const* argv);

/// Takes the terminal: alternate screen, no cursor, unbuffered keys. The destructor restores it in any case. Threads:
/// one at a time.
class screen {
    int keys_ = -1;  // the terminal reopened, so that our settings affect no other descriptor
    termios before_{};
    bool is_taken_ = false;
    bool has_colours_;
    bool is_wiped_ = false;  // the screen shows text of others

  public:
    /// Whether stdout is our terminal and understands control sequences.
    static bool is_there();

    /// @param has_colours otherwise bold and reverse only. Throws std::system_error if the terminal cannot be taken.
    explicit screen(bool has_colours);
    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;
    ~screen();

    /// For reading keys; never blocks.
    [[nodiscard]] int keys() const noexcept { return keys_; }
    [[nodiscard]] screen_size size() const noexcept;

    /// Writes the frame at once. After an interrupted write the next frame is complete again.
    void show(const frame& shown);
    /// Clears the screen before the next frame: the size has changed, or others have written.
    void forget() noexcept { is_wiped_ = false; }

    void take();
    void give_back() noexcept;
};

/// The output of show(): each line from the first column on, and nothing after it.
std::string painted(const frame& shown, bool has_colours);

/// Runs the live view, or prints one report if asked to or without a terminal. @return the exit status: 0, or 1 if no
/// figures for a report could be had; stderr then has the reason. Throws std::exception with one line for errors of
/// files or the terminal.
int run(const options& asked);

}  // namespace seriesgate::top
