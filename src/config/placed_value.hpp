#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_error.hpp"
#include "config/yaml_tree.hpp"

/// Values of the file that know where they stand. Who reads one tells it what is wrong.
namespace seriesgate {

/// All errors and warnings of one load.
class error_report {
    struct entry {
        std::size_t line;
        config_error error;
    };
    struct entries {
        std::vector<entry> kept;
        std::size_t left_out = 0;
    };

    std::string file_;
    entries errors_;
    entries warnings_;

  public:
    /// An operator reads a page; a broken file of 1 MiB has hundreds of thousands.
    static constexpr std::size_t shown_max = 1000;

    /// @param file what errors call the file, printable; empty means there is none.
    explicit error_report(std::string file) : file_(std::move(file)) {}

    /// @param line of the file, 0 for the file as a whole.
    void add(std::size_t line, std::string key, std::string message);
    void add(config_error error);

    /// The same for what is doubtful, and allowed.
    void warn(std::size_t line, std::string key, std::string message);
    void warn(config_error doubt);

    [[nodiscard]] bool has_errors() const noexcept { return !errors_.kept.empty(); }
    [[nodiscard]] std::size_t error_count() const noexcept { return errors_.kept.size() + errors_.left_out; }

    /// Keys are read in the order of their table; their errors are told in the order of the file.
    void sort_by_line();

    /// What add() collected, with a last line for what is too much.
    std::vector<config_error> take_errors();
    /// What warn() did.
    std::vector<config_error> take_warnings();

  private:
    [[nodiscard]] std::string place(std::size_t line) const;
    std::vector<config_error> take(entries& from, std::string_view what) const;
};

/// How errors call what stands in a map and in a list: `tenants.overrides.team-a`, `limits[2]`.
std::string key_below(const std::string& key, std::string_view name);
std::string key_of_item(const std::string& key, std::size_t index);

struct named_value;

/// A value with its key, such as `limits[2].overrides[0].group`, and its line. Lives as long as the tree and the
/// report.
class placed_value {
    const yaml_value* value_;
    error_report* report_;
    std::string key_;
    std::size_t line_;

  public:
    placed_value(const yaml_value& value, error_report& report, std::string key, std::size_t line)
        : value_(&value), report_(&report), key_(std::move(key)), line_(line) {}

    [[nodiscard]] const yaml_value& value() const noexcept { return *value_; }
    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    [[nodiscard]] std::size_t line() const noexcept { return line_; }

    /// A value that came from the environment is not repeated, even if the message does.
    void fail(std::string message) const;
    /// Tells what is wrong with the key, whatever its value.
    void fail_key(std::string message) const { report_->add(line_, key_, std::move(message)); }
    void warn(std::string message) const { report_->warn(line_, key_, std::move(message)); }
    /// Tells something of a key that belongs into this map, whether or not it is there.
    void fail_below(std::string_view name, std::string message) const;
    void warn_below(std::string_view name, std::string message) const;
    /// "expected a list, got 'x'"
    void fail_kind(std::string_view expected) const;
    /// The same with an example of the key, if there is one.
    void fail_shape(std::string_view expected) const;

    /// The one value that stands here; nothing, and told, if it is anything else.
    [[nodiscard]] std::optional<std::string_view> text() const;
    /// The items of a list, none if nothing stands here. Told if it is anything else.
    [[nodiscard]] std::vector<placed_value> items() const;
    /// The members of a map whose names are the user's own, none if nothing stands here. Told if it is anything else;
    /// a name that comes twice is told and left out.
    [[nodiscard]] std::vector<named_value> members() const;

    [[nodiscard]] placed_value below(const yaml_member& member) const;

  private:
    [[nodiscard]] std::string wrong_kind(std::string_view expected) const;
    [[nodiscard]] std::string without_value(std::string_view message) const;
};

struct named_value {
    std::string name;
    placed_value value;
};

/// Hands the one value at a place to `assign`, a function from scalars.hpp with its other arguments bound.
/// @return whether all was well; if not, it has been told.
template <typename Assign>
bool read_scalar(const placed_value& at, const Assign& assign) {
    const auto text = at.text();
    if (!text) return false;
    std::string wrong = assign(*text);
    if (wrong.empty()) return true;
    at.fail(std::move(wrong));
    return false;
}

}  // namespace seriesgate
