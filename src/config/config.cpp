#include "config/config.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "config/units.hpp"
#include "config/wording.hpp"
#include "config/yaml_entries.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t file_bytes_max = 1 << 20;

constexpr std::string_view body_key = "server.maxRequestBytes";
constexpr std::string_view decoded_key = "server.maxDecodedBytes";
constexpr std::string_view inflight_key = "server.maxInflightBytes";

std::string_view section_of(std::string_view key) noexcept {
    const auto dot = key.find('.');
    return dot == std::string_view::npos ? std::string_view{} : key.substr(0, dot);
}

// "upstream", "server": what stands before the dot in the table of keys.
std::vector<std::string_view> section_names() {
    std::vector<std::string_view> names;
    for (const config_key& key : config_keys()) {
        const auto section = section_of(key.name);
        if (!section.empty() && std::ranges::count(names, section) == 0) names.push_back(section);
    }
    return names;
}

const config_key* find_key(std::string_view name) noexcept {
    const auto found = std::ranges::find(config_keys(), name, &config_key::name);
    return found == config_keys().end() ? nullptr : &*found;
}

std::string unknown_key(std::string_view name, std::span<const std::string_view> sections) {
    std::vector<std::string_view> candidates{sections.begin(), sections.end()};
    for (const config_key& key : config_keys()) candidates.push_back(key.name);
    const auto meant = closest(name, candidates);
    return meant.empty() ? "unknown key" : "unknown key, did you mean '" + std::string{meant} + "'?";
}

// `upstream.url: x` at the top level: the dots are only our way to speak of a key.
std::string misplaced_key(std::string_view name) {
    const auto dot = name.find('.');
    return "must stand as '" + std::string{name.substr(dot + 1)} + ":' below '" + std::string{name.substr(0, dot)} +
           ":'";
}

// The words for a config_error without its message: where the value of a key came from.
struct origin {
    std::string where;
    std::string key;
};

// One load: the configuration as it grows, and where everything in it came from.
class loader {
  public:
    explicit loader(std::string_view file) : file_(printable(file, std::string_view::npos)) {}

    void read_text(std::string_view text);
    void read_flags(const overrides& flags);
    void check();
    void fail_file(std::string message);
    load_outcome take() { return std::move(outcome_); }

  private:
    void read_entry(const yaml_entry& entry);
    std::string wrong_kind(const yaml_entry& entry, bool section) const;
    void assign(const config_key& key, std::string_view text, const origin& from);
    void check_upstream();
    void check_sizes();
    void tell_at_first(std::initializer_list<std::pair<std::string_view, std::string>> places);
    void add_error(const origin& from, std::string message) {
        outcome_.errors.push_back({from.where, from.key, std::move(message)});
    }
    std::string at_line(std::size_t line) const { return line == 0 ? file_ : file_ + ":" + std::to_string(line); }

    std::string file_;
    std::vector<std::string_view> sections_ = section_names();
    std::map<std::string, std::size_t, std::less<>> lines_;  // of every key and section in the file
    std::map<std::string_view, origin> set_;                 // keys that have been given a good value
    std::set<std::string_view> bad_;                         // keys that have been given a bad one
    bool file_is_whole_ = true;                              // no part of it is unreadable, so what is absent is absent
    load_outcome outcome_;
};

void loader::fail_file(std::string message) {
    file_is_whole_ = false;
    add_error({file_, ""}, std::move(message));
}

void loader::read_text(std::string_view text) {
    if (text.size() > file_bytes_max) return fail_file("is larger than " + format_size(file_bytes_max));
    const yaml_entries yaml = read_yaml(text, sections_);
    for (const yaml_entry& entry : yaml.entries) read_entry(entry);
    for (const yaml_fault& fault : yaml.faults) {
        file_is_whole_ = false;
        add_error({at_line(fault.line), ""}, printable(fault.message, 200));
    }
}

void loader::read_entry(const yaml_entry& entry) {
    const std::string name = entry.key();
    const origin from{at_line(entry.line), name.empty() ? "''" : printable(name, 80)};
    const bool section = entry.section.empty() && std::ranges::count(sections_, name) != 0;
    const config_key* key = find_key(name);
    if (!section && key == nullptr) return add_error(from, unknown_key(name, sections_));
    if (key != nullptr && entry.section != section_of(name)) {
        bad_.insert(key->name);
        return add_error(from, misplaced_key(name));
    }
    if (const auto [first, fresh] = lines_.emplace(name, entry.line); !fresh) {
        return add_error(from, "is set twice, first on line " + std::to_string(first->second));
    }
    if (auto wrong = wrong_kind(entry, section); !wrong.empty()) {
        if (key != nullptr) bad_.insert(key->name);
        return add_error(from, std::move(wrong));
    }
    if (key != nullptr) assign(*key, entry.value, from);
}

std::string loader::wrong_kind(const yaml_entry& entry, bool section) const {
    switch (entry.kind) {
        case yaml_kind::text:
            return section ? "expected keys below it, got " + in_quotes(entry.value) : "";
        case yaml_kind::nothing:
            return section ? "" : "has no value";  // a section whose keys are all commented out is fine
        case yaml_kind::list:
            return section ? "expected keys below it, got a list" : "expected one value, got a list";
        case yaml_kind::map:
            return section ? "" : "expected one value, got keys and values";
    }
    return "";
}

void loader::assign(const config_key& key, std::string_view text, const origin& from) {
    auto wrong = key.assign(text, outcome_.value);
    if (wrong.empty()) {
        set_[key.name] = from;
    } else {
        bad_.insert(key.name);
        add_error(from, std::move(wrong));
    }
}

void loader::read_flags(const overrides& flags) {
    for (const override_value& flag : flags) {
        const origin from{"--" + printable(flag.key, 80), ""};
        if (const config_key* key = find_key(flag.key)) {
            assign(*key, flag.value, from);
        } else {
            add_error(from, "unknown flag");
        }
    }
}

void loader::check() {
    check_upstream();
    check_sizes();
}

void loader::check_upstream() {
    if (set_.contains("upstream.url") || bad_.contains("upstream.url") || !file_is_whole_) return;
    const auto section = lines_.find("upstream");
    const std::string where = section == lines_.end() ? file_ : at_line(section->second);
    add_error({where, "upstream.url"},
              "is required, in the file or as --upstream.url=URL: http://host:port/path, or discard: to only count");
}

// Sizes that are good each by itself but not together. Told at a key that the user wrote: the defaults are in order.
void loader::check_sizes() {
    for (const auto key : {body_key, decoded_key, inflight_key}) {
        if (bad_.contains(key)) return;
    }
    const server_config& server = outcome_.value.server;
    const std::uint64_t request_max = server.body_bytes_max + server.decoded_bytes_max;
    const std::string body = format_size(server.body_bytes_max);
    const std::string decoded = format_size(server.decoded_bytes_max);
    const std::string inflight = format_size(server.inflight_bytes_max);
    const std::string request = format_size(request_max);
    if (server.body_bytes_max > server.decoded_bytes_max) {
        tell_at_first({{decoded_key, "must be at least server.maxRequestBytes, which is " + body},
                       {body_key, "must be at most server.maxDecodedBytes, which is " + decoded}});
    } else if (request_max > server.inflight_bytes_max) {
        // A request within its own bounds has to fit, or its sender is told "503, come again" for ever.
        const std::string why = "a large request is told to come again for ever";
        const std::string makes = " makes " + request + ", more than server.maxInflightBytes, which is " + inflight;
        tell_at_first({{inflight_key, "must be at least server.maxRequestBytes plus server.maxDecodedBytes, which is " +
                                          request + ", or " + why},
                       {decoded_key, "with server.maxRequestBytes" + makes + "; " + why},
                       {body_key, "with server.maxDecodedBytes" + makes + "; " + why}});
    }
}

// Of several places where one thing could be told, the first that the user wrote.
void loader::tell_at_first(std::initializer_list<std::pair<std::string_view, std::string>> places) {
    for (const auto& [key, message] : places) {
        if (const auto from = set_.find(key); from != set_.end()) return add_error(from->second, message);
    }
}

struct file_closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

// Up to one byte more than allowed, so that the loader sees what is too large.
std::optional<std::string> read_file(const std::string& path, std::error_code& error) {
    const std::unique_ptr<std::FILE, file_closer> file{std::fopen(path.c_str(), "rb")};
    if (file) {
        std::string text(file_bytes_max + 1, '\0');
        text.resize(std::fread(text.data(), 1, text.size(), file.get()));
        if (std::ferror(file.get()) == 0) return text;
    }
    error.assign(errno, std::generic_category());
    return std::nullopt;
}

}  // namespace

std::string config_error::text() const {
    std::string line = where;
    for (const std::string& part : {key, message}) {
        if (!line.empty() && !part.empty()) line += ": ";
        line += part;
    }
    return line;
}

load_outcome load_config(const std::optional<std::string>& file, const overrides& flags) {
    if (!file) return load_config_text("", "", flags);
    std::error_code error;
    if (const auto text = read_file(*file, error)) return load_config_text(*text, *file, flags);
    loader load{*file};
    load.fail_file("cannot be read: " + error.message());
    load.read_flags(flags);
    load.check();
    return load.take();
}

load_outcome load_config_text(std::string_view text, std::string_view name, const overrides& flags) {
    loader load{name};
    load.read_text(text);
    load.read_flags(flags);
    load.check();
    return load.take();
}

}  // namespace seriesgate
