/// Reads configuration files: values know their key and their line, and report errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config_error.hpp"
#include "config/environment.hpp"
#include "config/yaml.hpp"
#include "core/result.hpp"

namespace seriesgate {

inline constexpr std::size_t config_file_bytes_max = 1 << 20;

struct file_fault {
    std::string message;  ///< what goes behind the file's name or key
    bool is_gone = false;

    file_fault() = default;
    /// Takes both: from a text alone it would be mistaken for one.
    file_fault(std::string what, bool gone) : message(std::move(what)), is_gone(gone) {}
};

enum class file_kind : std::uint8_t {
    any,
    regular,  ///< it is read again while the gate runs: a pipe or a terminal would be empty then
};

/// A file's text; of a longer one just a byte more than allowed, so that the reader sees that.
result<std::string, file_fault> read_config_file(const std::string& path, file_kind kind);

/// Parses the text of a configuration. Reports what keeps it from being keys and values.
/// @return the root; nothing if the text could not be read as a whole.
std::optional<YAML::Node> read_root(std::string_view text, config_report& report);

/// One file while it is read: where errors go, and bounds on what a short text may become.
struct config_reading {
    config_report& report;
    /// Fills `${NAME}` in; nothing: it stands for itself.
    std::optional<variable_filler> variables{};
    /// An example of a key with its value, empty if there is none; null: no key has one.
    std::string (*example_of)(std::string_view key) = nullptr;

    /// A short text with aliases stands for many values, and for itself. No text of 1 MiB without aliases gets there.
    std::size_t nodes_left = 400'000;
};

struct named_node;

/// Lives as long as the reading. Threads: one at a time.
class config_node {
    YAML::Node node_;
    config_reading* of_;
    std::string key_;
    std::size_t line_;
    filled_text filled_{};     ///< of a scalar
    bool is_unknown_ = false;  ///< the value is unknown, and the error is reported

  public:
    /// Fills variables in, see variable_filler.
    config_node(YAML::Node node, config_reading& of, std::string key, std::size_t line);

    config_node(const config_node&) = default;
    config_node(config_node&&) = default;
    /// Not assigned: what is assigned to a YAML::Node goes into the document.
    config_node& operator=(const config_node&) = delete;
    ~config_node() = default;

    [[nodiscard]] const std::string& key() const noexcept { return key_; }
    [[nodiscard]] std::size_t line() const noexcept { return line_; }
    [[nodiscard]] bool is_null() const { return node_.IsNull(); }
    [[nodiscard]] bool is_scalar() const { return node_.IsScalar(); }
    [[nodiscard]] bool is_list() const { return node_.IsSequence(); }
    [[nodiscard]] bool is_map() const { return node_.IsMap(); }
    [[nodiscard]] const std::vector<std::string>& variables() const noexcept { return filled_.variables; }
    [[nodiscard]] config_report& report() const noexcept { return of_->report; }

    /// Reports what is wrong with the value. One that came from the environment is not repeated, even if the message
    /// does.
    void fail(const std::string& message) const;
    /// Reports what is wrong with the key, whatever its value.
    void fail_key(std::string message) const { of_->report.add(line_, key_, std::move(message)); }
    void warn(std::string message) const { of_->report.add(line_, key_, std::move(message), severity::warning); }
    /// Reports an error of a key that belongs into this map, whether or not it is there.
    void fail_below(std::string_view name, std::string message) const;
    /// "expected a list, got 'x'; for example: ..."
    void fail_kind(std::string_view expected) const;

    /// The scalar; nothing if it is unknown or something else, which is reported.
    [[nodiscard]] std::optional<std::string_view> text() const;
    /// The items of a list of at most so many; none, with a warning, if nothing stands here. Reports a longer list, or
    /// anything else.
    [[nodiscard]] std::vector<config_node> items(std::size_t count_max) const;
    /// The members of a map whose names are the user's own; none, with a warning, if nothing stands here. Reports
    /// anything else. A name that comes twice is reported and left out.
    [[nodiscard]] std::vector<named_node> members() const;

  private:
    friend class key_matcher;
    using lines_of_names = std::map<std::string, std::size_t, std::less<>>;
    void fill_variables();
    [[nodiscard]] std::string without_value(std::string_view message) const;
    [[nodiscard]] bool take_node() const;
    /// All members that are scalars by name, duplicates included. Reports anything but a map or nothing.
    [[nodiscard]] std::vector<named_node> all_members() const;
    /// Whether the name has not been set before: then the report notes where this is; else that is an error.
    bool is_first(const std::string& name, lines_of_names& lines) const;
};

struct named_node {
    std::string name;
    config_node value;
};

/// One key of a map, and what reads its value.
struct map_key {
    std::string name;  ///< a dotted one, `upstream.timeout`, stands as `timeout` in the section `upstream`
    std::function<void(const config_node& value)> read;
    bool is_required = false;
};

/// Reads a map by a table of its keys, in the order of the table, so that one may rely on those above it. Reports
/// unknown keys and the likely ones, keys that come twice, required ones that are missing, and a section that is
/// something else.
void read_map(const config_node& map, const std::vector<map_key>& table);

/// Hands the one value at a node to `assign`, which returns what is wrong, or an empty string.
/// @return whether all was well; if not, the error is reported.
template <typename Assign>
bool read_scalar(const config_node& at, const Assign& assign) {
    const auto text = at.text();
    if (!text) return false;
    const std::string wrong = assign(*text);
    if (!wrong.empty()) at.fail(wrong);
    return wrong.empty();
}

}  // namespace seriesgate
