/// The same summary twice: of all tenants together, and of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/state_stream.hpp"
#include "series/fingerprint.hpp"
#include "talkers/space_saving.hpp"

namespace seriesgate {

/// A name that a thousand tenants have a few series of is at the top of all, and of none of them.
///
/// Series that come one after the other mostly share their job, metric and sender: then nothing is hashed.
/// Threads: one at a time.
class talker_table {
    space_saving in_all_;
    space_saving by_tenant_;

    struct named {
        std::string tenant{}, value{}, detail{};
        std::uint64_t in_all = 0, by_tenant = 0;  // keys
        bool is_set = false;

        [[nodiscard]] bool is(const talker_name& name) const noexcept {
            return is_set && value == name.value && tenant == name.tenant && detail == name.detail;
        }
    };
    named last_{};

  public:
    /// @param counters_max of each of the two.
    explicit talker_table(std::size_t counters_max) : in_all_(counters_max), by_tenant_(counters_max) {}

    void add(const talker_name& name, const hash_key& hash, std::uint64_t series, time_point now) {
        if (!last_.is(name)) remember(name, hash);
        in_all_.add(last_.in_all, {.value = name.value, .detail = name.detail}, series, now);
        by_tenant_.add(last_.by_tenant, name, series, now);
    }

    /// Their tenants are empty.
    [[nodiscard]] const space_saving& in_all() const noexcept { return in_all_; }
    [[nodiscard]] const space_saving& by_tenant() const noexcept { return by_tenant_; }

    void merge(const talker_table& other) {
        in_all_.merge(other.in_all_);
        by_tenant_.merge(other.by_tenant_);
    }
    void clear() noexcept {
        in_all_.clear();
        by_tenant_.clear();
    }
    void save(state_encoder& out) const {
        in_all_.save(out);
        by_tenant_.save(out);
    }
    void load(state_decoder& in) {
        in_all_.load(in);
        by_tenant_.load(in);
    }

  private:
    /// Hashes are keyed: nobody can work out which names share one.
    void remember(const talker_name& name, const hash_key& hash) {
        last_.tenant = name.tenant;
        last_.value = name.value;
        last_.detail = name.detail;
        last_.in_all = hash(name.value) + hash(name.detail) * 0x9E37'79B9'7F4A'7C15;
        last_.by_tenant = last_.in_all + hash(name.tenant) * 0xC2B2'AE3D'27D4'EB4F;
        last_.is_set = true;
    }
};

}  // namespace seriesgate
