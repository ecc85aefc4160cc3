/// What is wrong with a configuration, where, and in what words.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate {

enum class severity : std::uint8_t {
    error,
    warning,  ///< allowed, but surely a mistake
};

struct config_error {
    std::string where;  ///< `FILE:LINE`, `FILE` when no line applies, `--flag`, or empty
    std::string key;    ///< dotted, such as `upstream.timeout`; empty for a flag and for the file as a whole
    std::string message;
    severity is = severity::error;

    /// `FILE:LINE: KEY: MESSAGE` on one line, without what is empty. A warning says so: `FILE:LINE: warning: KEY: ...`.
    std::string text() const;
};

/// All errors and warnings of one load, and where each key was set.
class config_report {
    struct origin {
        std::uint32_t line;
        bool is_flag;  ///< else the key stands in the file
        bool has_variables;
    };
    struct entry {
        std::size_t line;
        config_error error;
    };
    struct entries {
        std::vector<entry> kept;
        std::size_t left_out = 0;
    };

    std::string file_;
    boost::unordered_flat_map<std::string, origin> origins_;  // a large file has 50,000 keys
    entries errors_;
    entries warnings_;

  public:
    /// An operator reads a page; a broken file of 1 MiB has hundreds of thousands of errors.
    static constexpr std::size_t shown_max = 1000;

    /// @param file what errors call the file, printable; empty means there is none.
    explicit config_report(std::string file) : file_(std::move(file)) {}

    /// @param line of the file, 0 for the file as a whole.
    void add(std::size_t line, std::string key, std::string message, severity is = severity::error);
    void add_flag(const std::string& flag, std::string message, severity is = severity::error);
    /// Adds a message at the first of these keys that is set. Without any it is not told.
    void add_at(const std::vector<std::string>& keys, const std::string& message, severity is = severity::error);
    void warn_at(const std::vector<std::string>& keys, const std::string& message) {
        add_at(keys, message, severity::warning);
    }

    void set_by_line(const std::string& key, std::size_t line, bool has_variables = false);
    void set_by_flag(const std::string& key);
    [[nodiscard]] bool is_set(std::string_view key) const { return origins_.contains(std::string{key}); }
    /// Whether the key's value holds an environment variable, so that messages do not repeat it.
    [[nodiscard]] bool has_variables(std::string_view key) const;
    [[nodiscard]] std::size_t line_of(std::string_view key) const;

    [[nodiscard]] bool has_errors() const noexcept { return !errors_.kept.empty(); }
    /// Whether the key, a key below it, or what it stands in has an error.
    [[nodiscard]] bool has_errors(std::string_view key) const;

    /// Keys are read in the order of their table; their errors are told in the order of the file.
    void sort_by_line();

    /// With a last line for those beyond the bound.
    std::vector<config_error> take_errors() { return take(errors_, "more error"); }
    std::vector<config_error> take_warnings() { return take(warnings_, "more warning"); }

  private:
    void push(std::size_t line, config_error error);
    std::vector<config_error> take(entries& from, std::string_view noun) const;
};

/// How errors call what stands in a map and in a list: `tenants.overrides.team-a`, `limits[2]`.
std::string key_below(const std::string& key, std::string_view name);
std::string key_of_item(const std::string& key, std::size_t index);
/// The flag that sets a key, with its dashes.
std::string flag_of(std::string_view key);

// --- How messages speak of what the user wrote.

/// Fit for one line of a log: control characters become '?', what is longer than `shown_max` bytes is cut, and URLs
/// lose their secrets (see secret_text.hpp).
std::string printable(std::string_view text, std::size_t shown_max);

/// A value or a name in single quotes, printable, cut after 80 bytes.
std::string in_quotes(std::string_view text);

std::string in_lower_case(std::string_view text);

/// As names are compared: without case, '-' and '_'.
std::string folded(std::string_view name);

/// The candidate that was probably meant; empty if none is near. Case, '-' and '_' do not count, and neither does what
/// stands before the last dot, so that `timeout` finds `upstream.timeout`.
std::string_view closest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace seriesgate
