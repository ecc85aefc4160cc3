/// The terminal that a person looks at.
#pragma once

#include <termios.h>

#include <string>

#include "top/frame.hpp"

namespace seriesgate::top {

/// Takes the terminal: the other screen, no cursor, keys as they are pressed. Gives it back as it was when it goes, on
/// whichever way. Threads: one at a time.
class screen {
    int keys_ = -1;  // the terminal opened anew: what is set for this descriptor is nobody else's
    termios before_{};
    bool is_taken_ = false;
    bool has_colours_;
    bool is_wiped_ = false;  // what stands there is not ours

  public:
    /// Whether there is one to take: stdout is a terminal that knows what to do with codes, and it is ours.
    static bool is_there();

    /// @param has_colours or bold and reverse alone. Throws std::system_error if the terminal is not to be had.
    explicit screen(bool has_colours);
    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;
    ~screen();

    /// To read keys from; does not block.
    [[nodiscard]] int keys() const noexcept { return keys_; }
    [[nodiscard]] screen_size size() const noexcept;

    /// In one write. If a signal comes in between, the rest is left out: the next frame is whole again.
    void show(const frame& shown);
    /// The next frame is drawn over nothing: the size has changed, or others have written.
    void forget() noexcept { is_wiped_ = false; }

    void take();
    void give_back() noexcept;
};

/// What show() writes: each line in its place, from the first column on, and nothing behind it.
std::string painted(const frame& shown, bool has_colours);

}  // namespace seriesgate::top
