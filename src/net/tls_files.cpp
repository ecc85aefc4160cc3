#include "net/tls_files.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "net/openssl.hpp"

namespace seriesgate {
namespace {

using clock = wall_clock;
using namespace std::chrono_literals;

constexpr auto expiry_is_near = 7 * 24h;
constexpr auto expiry_interval = 24h;

/// "2026-01-01T10:00:00Z"; empty for nothing.
std::string text_of(std::optional<clock::time_point> moment) {
    if (!moment) return {};
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(*moment)));
}

/// Replaces the setting's name by the file's path: the user knows files, not our names.
std::string with_path(std::string_view part, std::string_view told, const std::string& path) {
    if (told.substr(0, part.size()) != part || path.empty()) return {};
    return path + std::string{told.substr(part.size())};
}

}  // namespace

tls_files::tls_files(no_context_yet, tls_settings settings, const tls_file_names& names)
    : settings_(std::move(settings)),
      certificates_(names.certificates),
      key_(names.key),
      authorities_(names.authorities) {}

result<std::unique_ptr<tls_files>, std::string> tls_files::load(tls_settings settings, const tls_file_names& names) {
    auto made = std::make_unique<tls_files>(no_context_yet{}, std::move(settings), names);
    for (debounced_file* const each : {&made->certificates_, &made->key_, &made->authorities_})
        if (!each->path().empty()) each->load();
    if (std::string fault = made->read({}); !fault.empty()) return fault;
    auto first = made->make();
    if (!first) return first.error();
    made->untaken_ = false;
    made->current_ = *std::move(first);
    return made;
}

std::shared_ptr<const tls_context> tls_files::current() const {
    const std::scoped_lock held{lock_};
    return current_;
}

void tls_files::refresh(const file_look& look, clock::time_point date) {
    if (std::string fault = read(look); !fault.empty()) {
        warn_of(std::move(fault));
    } else if (untaken_ || !fault_.empty()) {
        if (auto made = make())
            take(*std::move(made));
        else
            warn_of(made.error());
    }
    warn_of_expiry(date);  // of those in force, also while new ones are bad
}

/// A file reports a change only once, so untaken_ remembers it until a context exists.
std::string tls_files::read(const file_look& look) {
    for (const auto& [file, text] :
         {std::pair{&certificates_, &settings_.certificates}, std::pair{&key_, &settings_.key},
          std::pair{&authorities_, &settings_.authorities}}) {
        if (file->path().empty()) continue;
        untaken_ = file->refresh(look) || untaken_;
        if (!file->fault().empty()) return file->fault();
        *text = file->text();
    }
    return {};
}

result<std::shared_ptr<const tls_context>, std::string> tls_files::make() const {
    auto made = make_tls_context(settings_);
    if (made) return made;
    const std::string& fault = made.error();
    for (const std::string& named :
         {with_path("certificate", fault, certificates_.path()), with_path("key", fault, key_.path()),
          with_path("authorities", fault, authorities_.path())})
        if (!named.empty()) return named;
    if (certificates_.path().empty()) return fault;
    return certificates_.path() + " and " + key_.path() + ": " + fault;
}

void tls_files::take(std::shared_ptr<const tls_context> made) {
    fault_.clear();
    fault_told_ = false;
    expiry_told_ = {};
    log::info("TLS files taken", {{"certificate", made->subject},
                                  {"not_after", text_of(made->not_after)},
                                  {"file", certificates_.path().empty() ? authorities_.path() : certificates_.path()}});
    untaken_ = false;
    const std::scoped_lock held{lock_};
    current_.swap(made);
}

void tls_files::warn_of(std::string fault) {
    if (fault_ != fault) {
        fault_ = std::move(fault);
        fault_told_ = false;
    } else if (!fault_told_) {
        fault_told_ = true;
        log::warn("TLS files not taken, the last good ones stay", {{"err", fault_}});
    }
}

void tls_files::warn_of_expiry(clock::time_point now) {
    const auto context = current();
    const auto ends = context->not_after;
    if (!ends || *ends - now > expiry_is_near || now - expiry_told_ < expiry_interval) return;
    expiry_told_ = now;
    log::warn("a TLS certificate expires soon, or has",
              {{"certificate", context->subject}, {"not_after", text_of(ends)}, {"file", certificates_.path()}});
}

}  // namespace seriesgate
