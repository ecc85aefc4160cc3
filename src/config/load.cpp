#include "config/load.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "config/keys.hpp"
#include "config/known_keys.hpp"
#include "config/units.hpp"
#include "config/wording.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t file_bytes_max = 1 << 20;

constexpr std::string_view body_key = "server.maxRequestBytes";
constexpr std::string_view decoded_key = "server.maxDecodedBytes";
constexpr std::string_view inflight_key = "server.maxInflightBytes";

const config_key* find_key(std::string_view name) noexcept {
    const auto found = std::ranges::find(config_keys(), name, &config_key::name);
    return found == config_keys().end() ? nullptr : &*found;
}

// Where the good value of a key came from, so that more can be told of it: a line, or else a flag.
struct origin {
    std::size_t line;
    std::string flag;
};

// One load: the configuration as it grows, and where everything in it came from.
class loader {
  public:
    explicit loader(std::string_view file) : report_(printable(file, std::string_view::npos)) {}

    void read_text(std::string_view text);
    void read_flags(const overrides& flags);
    void check();
    void fail_file(std::string message);
    load_outcome take() { return {std::move(value_), report_.take()}; }

  private:
    void read_key(const config_key& key, const known_key& found);
    void check_upstream();
    void check_sizes();
    void tell_at_first(std::initializer_list<std::pair<std::string_view, std::string>> places);

    error_report report_;
    std::map<std::string_view, origin> set_;  // keys of one value that have been given a good one
    std::set<std::string_view> bad_;          // keys that have been given a bad one
    std::size_t upstream_line_ = 0;           // of the section
    bool file_is_whole_ = true;               // no part of it is unreadable, so what is absent is absent
    config value_;
};

void loader::fail_file(std::string message) {
    file_is_whole_ = false;
    report_.add(0, "", std::move(message));
}

void loader::read_text(std::string_view text) {
    if (text.size() > file_bytes_max) return fail_file("is larger than " + format_size(file_bytes_max));
    const yaml_tree yaml = read_yaml(text);
    for (const yaml_fault& fault : yaml.faults) {
        file_is_whole_ = false;
        report_.add(fault.line, "", printable(fault.message, 200));
    }
    std::vector<std::string_view> names;
    for (const config_key& key : config_keys()) names.push_back(key.name);
    const known_keys known = match_keys({yaml.root, report_, "", 0}, names);
    for (std::size_t i = 0; i < names.size(); ++i) read_key(config_keys()[i], known.keys[i]);
    if (const auto section = known.lines.find("upstream"); section != known.lines.end()) {
        upstream_line_ = section->second;
    }
    report_.sort_by_line();
}

void loader::read_key(const config_key& key, const known_key& found) {
    assert((key.access.read == nullptr) != (key.access.assign == nullptr));
    if (found.faulty) bad_.insert(key.name);
    if (!found.value) return;
    if (key.access.read != nullptr) return key.access.read(*found.value, value_);
    if (read_scalar(*found.value, [&](std::string_view text) { return key.access.assign(text, value_); })) {
        set_[key.name] = {found.value->line(), ""};
    } else {
        bad_.insert(key.name);
    }
}

void loader::read_flags(const overrides& flags) {
    for (const override_value& flag : flags) {
        const std::string shown = "--" + printable(flag.key, 80);
        const config_key* key = find_key(flag.key);
        const bool known = key != nullptr && key->access.assign != nullptr;
        std::string wrong = known ? key->access.assign(flag.value, value_) : "unknown flag";
        if (wrong.empty()) {
            set_[key->name] = {0, shown};
        } else {
            if (known) bad_.insert(key->name);
            report_.add({shown, "", std::move(wrong)});
        }
    }
}

void loader::check() {
    check_upstream();
    check_sizes();
}

void loader::check_upstream() {
    if (set_.contains("upstream.url") || bad_.contains("upstream.url") || !file_is_whole_) return;
    report_.add(upstream_line_, "upstream.url",
                "is required, in the file or as --upstream.url=URL: http://host:port/path, or discard: to only count");
}

// Sizes that are good each by itself but not together. Told at a key that the user wrote: the defaults are in order.
void loader::check_sizes() {
    for (const auto key : {body_key, decoded_key, inflight_key}) {
        if (bad_.contains(key)) return;
    }
    const server_config& server = value_.server;
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
        const auto from = set_.find(key);
        if (from == set_.end()) continue;
        if (from->second.flag.empty()) return report_.add(from->second.line, std::string{key}, message);
        return report_.add({from->second.flag, "", message});
    }
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
    return ::fdopen(descriptor, "rb");
}

// Up to one byte more than allowed, so that the loader sees what is too large.
std::optional<std::string> read_file(const std::string& path, std::error_code& error) {
    const std::unique_ptr<std::FILE, file_closer> file{open_file(path)};
    if (file) {
        std::string text(file_bytes_max + 1, '\0');
        text.resize(std::fread(text.data(), 1, text.size(), file.get()));
        if (std::ferror(file.get()) == 0) return text;
    }
    error.assign(errno, std::generic_category());
    return std::nullopt;
}

}  // namespace

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
