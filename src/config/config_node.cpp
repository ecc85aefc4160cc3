#include "config/config_node.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "config/units.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

/// Of a list or names: what was to stand there may be a comment.
constexpr auto nothing_there = "has nothing below it, so it is empty";

/// Credentials, and where a URL may hold some: `basicAuth: me:secret`.
bool may_be_shown(std::string_view key, std::string_view text) noexcept {
    return !key.ends_with(".basicAuth") && key.find(".headers") == std::string_view::npos &&
           text.find("://") == std::string::npos;
}

/// Whether a message has a part of a text in quotes.
bool quotes_part_of(std::string_view message, std::string_view text) noexcept {
    for (auto open = message.find('\''); open != std::string_view::npos; open = message.find('\'', open + 1)) {
        const auto quoted = message.substr(open + 1, message.find('\'', open + 1) - open - 1);
        if (!quoted.empty() && text.find(quoted) != std::string_view::npos) return true;
    }
    return false;
}

bool is_below(std::string_view name, std::string_view section) noexcept {
    return section.empty() ||
           (name.size() > section.size() && name.starts_with(section) && name[section.size()] == '.');
}

struct file_closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

// Opening a pipe that nobody writes to would wait for ever; so it is an empty file. One with a writer is read to its
// end.
std::FILE* open_file(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return nullptr;
    ::fcntl(descriptor, F_SETFL, O_RDONLY);
    std::FILE* const file = ::fdopen(descriptor, "rb");
    if (file == nullptr) ::close(descriptor);
    return file;
}

file_fault fault_of_errno() {
    const int why = errno;
    return {"cannot be read: " + std::generic_category().message(why), why == ENOENT};
}

}  // namespace

result<std::string, file_fault> read_config_file(const std::string& path, file_kind kind) {
    const std::unique_ptr<std::FILE, file_closer> file{open_file(path)};
    struct stat about {};
    if (!file || ::fstat(::fileno(file.get()), &about) != 0) return fault_of_errno();
    if (kind == file_kind::regular && !S_ISREG(about.st_mode))
        return file_fault{"is not a regular file: what comes from a pipe or a device cannot be read again", false};
    std::string text(config_file_bytes_max + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    text.shrink_to_fit();
    if (std::ferror(file.get()) != 0) return fault_of_errno();
    return text;
}

std::optional<YAML::Node> read_root(std::string_view text, config_report& report) {
    if (text.size() > config_file_bytes_max) {
        report.add(0, "", "is larger than " + format_size(config_file_bytes_max));
        return std::nullopt;
    }
    const yaml_document yaml = read_yaml(text);
    for (const yaml_fault& fault : yaml.faults) report.add(fault.line, "", printable(fault.message, 300));
    return yaml.faults.empty() ? std::optional{yaml.root} : std::nullopt;
}

config_node::config_node(YAML::Node node, config_reading& of, std::string key, std::size_t line)
    : node_(std::move(node)), of_(&of), key_(std::move(key)), line_(line) {
    if (!node_.IsScalar()) return;
    filled_.text = node_.Scalar();
    if (of_->variables && has_variables(filled_.text)) fill_variables();
}

void config_node::fill_variables() {
    const bool was_full = of_->variables->is_full();
    auto filled = of_->variables->fill(filled_.text);
    is_unknown_ = !filled;
    if (filled)
        filled_ = *std::move(filled);
    else if (!of_->variables->is_full())
        fail_key(filled.error());
    else if (!was_full)
        of_->report.add(0, "", filled.error());
}

/// What a message says besides the value is kept where that says nothing of it.
std::string config_node::without_value(std::string_view message) const {
    const std::string quoted = in_quotes(filled_.text) + " ";
    std::string names;
    for (const std::string& name : variables()) names += (names.empty() ? "${" : ", ${") + name + "}";
    if (message.starts_with(quoted)) message.remove_prefix(quoted.size());
    message = message.substr(0, message.find(": write "));
    constexpr std::array<std::string_view, 5> words{"is ", "has ", "must ", "needs ", "expected "};
    const bool is_ours = std::ranges::any_of(words, [&](std::string_view word) { return message.starts_with(word); });
    const bool is_safe = is_ours && !quotes_part_of(message, filled_.text);
    return "with " + names + " filled in: " + (is_safe ? std::string{message} : "is not valid here");
}

void config_node::fail(const std::string& message) const {
    if (!is_unknown_) fail_key(variables().empty() ? message : without_value(message));
}

void config_node::fail_below(std::string_view name, std::string message) const {
    of_->report.add(line_, key_below(key_, name), std::move(message));
}

void config_node::fail_kind(std::string_view expected) const {
    if (is_null()) return fail("has no value");
    const bool is_shown = variables().empty() && may_be_shown(key_, filled_.text);
    const std::string got = is_scalar() ? (is_shown ? in_quotes(filled_.text) : "one value")
                            : is_list() ? "a list"
                                        : "keys and values";
    const std::string example = of_->example_of == nullptr ? "" : of_->example_of(key_);
    fail("expected " + std::string{expected} + ", got " + got + (example.empty() ? "" : "; for example: " + example));
}

std::optional<std::string_view> config_node::text() const {
    if (is_unknown_) return std::nullopt;
    if (is_scalar()) return filled_.text;
    fail_kind("one value");
    return std::nullopt;
}

bool config_node::take_node() const {
    if (of_->nodes_left == 0) return false;
    if (--of_->nodes_left == 0) of_->report.add(0, "", "is too large once its aliases are written out");
    return of_->nodes_left != 0;
}

std::vector<config_node> config_node::items(std::size_t count_max) const {
    std::vector<config_node> items;
    if (!is_list() && !is_null()) fail_kind("a list");
    if (is_null()) warn(nothing_there);
    if (!is_list()) return items;
    if (node_.size() > count_max)
        fail("has " + std::to_string(node_.size()) + " items, at most " + std::to_string(count_max) + " are possible");
    std::size_t line = line_;
    for (const auto& item : node_) {
        if (items.size() == count_max || !take_node()) break;
        if (!item.IsNull())
            line = line_of(item.Mark());  // where nothing stands, yaml-cpp names the line of what follows
        const std::string key = key_of_item(key_, items.size());
        items.emplace_back(item, *of_, key, line);
        of_->report.set_by_line(key, line, !items.back().variables().empty());
    }
    return items;
}

std::vector<named_node> config_node::all_members() const {
    std::vector<named_node> members;
    if (!is_map() && !is_null()) fail_kind("keys below it");
    if (!is_map()) return members;
    for (const auto& pair : node_) {
        const YAML::Node& name = pair.first;
        const std::size_t line = line_of(name.Mark());
        if (!take_node()) break;
        if (!name.IsScalar())
            of_->report.add(line, "", "a key must be plain text");
        else if (name.Scalar() == "<<" && name.Tag() == "?")  // without quotes; else it may be a tenant
            of_->report.add(line, "", "merge keys (<<) are not supported");
        else
            members.push_back({name.Scalar(), {pair.second, *of_, key_below(key_, name.Scalar()), line}});
    }
    return members;
}

bool config_node::is_first(const std::string& name, lines_of_names& lines) const {
    const auto [first, fresh] = lines.emplace(name, line_);
    if (fresh)
        of_->report.set_by_line(key_, line_, !variables().empty());
    else
        fail_key("is set twice, first on line " + std::to_string(first->second));
    return fresh;
}

std::vector<named_node> config_node::members() const {
    std::vector<named_node> members;
    lines_of_names lines;
    if (is_null()) warn(nothing_there);
    for (named_node& member : all_members()) {
        if (of_->variables && has_variables(member.name))
            member.value.warn("is taken as it stands: variables are filled in in values, not in keys");
        if (member.value.is_first(member.name, lines)) members.push_back(std::move(member));
    }
    return members;
}

/// Finds the keys of a table in a map and its sections.
class key_matcher {
    const std::vector<map_key>& table_;
    std::vector<std::string> sections_;  ///< what stands before the dots: "upstream", "tenants", "tenants.default"
    config_node::lines_of_names lines_;
    std::vector<std::optional<config_node>> found_;

  public:
    explicit key_matcher(const std::vector<map_key>& table) : table_(table), found_(table.size()) {
        for (const map_key& key : table)
            for (auto dot = key.name.find('.'); dot != std::string::npos; dot = key.name.find('.', dot + 1))
                if (const auto section = key.name.substr(0, dot); std::ranges::count(sections_, section) == 0)
                    sections_.push_back(section);
    }

    void read(const config_node& map) {
        match(map, "");
        for (std::size_t i = 0; i < table_.size(); ++i) {
            if (found_[i])
                table_[i].read(*found_[i]);
            else if (table_[i].is_required && (map.is_map() || map.is_null()))
                map.fail_below(table_[i].name, "is required");
        }
    }

  private:
    /// @param section of the names that is read now, empty for the map as a whole.
    void match(const config_node& map, const std::string& section) {
        for (named_node& member : map.all_members())
            match_member(member, section.empty() ? member.name : section + "." + member.name, section);
    }

    void match_member(named_node& member, const std::string& path, const std::string& section) {
        const bool is_section = std::ranges::count(sections_, path) != 0;
        const auto key = std::ranges::find(table_, path, &map_key::name);
        config_node& at = member.value;
        if (!is_section && key == table_.end()) return at.fail_key(unknown_key(member, section));
        // `upstream.url: x` at the top level: the dots are only our way to speak of a key.
        if (const auto dot = member.name.rfind('.'); dot != std::string::npos)
            return at.fail_key("must stand as " + in_quotes(member.name.substr(dot + 1) + ":") + " in the section " +
                               in_quotes(path.substr(0, path.rfind('.')) + ":"));
        const bool fresh = at.is_first(path, lines_);
        if (is_section)
            match(at, path);
        else if (fresh)
            found_[static_cast<std::size_t>(key - table_.begin())].emplace(std::move(at));
    }

    /// The keys of the same section come first, for the likely one is among them.
    [[nodiscard]] std::string unknown_key(const named_node& member, const std::string& section) const {
        std::vector<std::string_view> candidates{sections_.begin(), sections_.end()};
        for (const map_key& key : table_) candidates.push_back(key.name);
        const auto others = std::stable_partition(candidates.begin(), candidates.end(),
                                                  [&](std::string_view each) { return is_below(each, section); });
        auto meant = closest(member.name, {candidates.begin(), others});
        if (meant.empty()) {
            meant = closest(member.name, candidates);
            // In another section only the same name is meant.
            const auto last = meant.substr(meant.rfind('.') + 1);
            if (!section.empty() && folded(last) != folded(member.name)) meant = {};
        }
        if (!meant.empty()) return "unknown key, did you mean " + in_quotes(meant) + "?";
        // `tenants: {team-a: {...}}`
        const std::string sibling = section + ".overrides";
        if (section.empty() || std::ranges::count(table_, sibling, &map_key::name) == 0 || member.value.is_list())
            return "unknown key";
        return "unknown key; the limits of a tenant stand as " + in_quotes(sibling + "." + member.name);
    }
};

void read_map(const config_node& map, const std::vector<map_key>& table) {
    key_matcher{table}.read(map);
}

}  // namespace seriesgate
