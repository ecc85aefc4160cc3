#include "http/passwords.hpp"

#include <crypt.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <span>

#include "base/random.hpp"

namespace seriesgate {

bool same_digest(const digest& one, const digest& other) noexcept {
    return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

digest_key::digest_key() {
    fill_random(std::as_writable_bytes(std::span{key_}));
}

digest digest_key::of(std::initializer_list<std::string_view> texts) const {
    std::string whole;
    for (const std::string_view each : texts) {
        const std::uint64_t size = each.size();
        for (unsigned shift = 0; shift < 64; shift += 8) whole += static_cast<char>(size >> shift & 0xff);
        whole += each;
    }
    digest made;
    unsigned size = 0;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(whole.data());
    const auto* const done =
        HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), bytes, whole.size(), made.data(), &size);
    OPENSSL_cleanse(whole.data(), whole.size());
    if (done == nullptr || size != made.size()) throw std::bad_alloc{};  // no other error is possible
    return made;
}

namespace {

/// Erases the state of a check: it contains the password.
struct cleanser {
    void operator()(crypt_data* used) const noexcept {
        OPENSSL_cleanse(used, sizeof *used);
        delete used;
    }
};

}  // namespace

bool bcrypt_matches(const std::string& password, const std::string& hash) {
    const std::unique_ptr<crypt_data, cleanser> room{new crypt_data{}};
    // Not crypt_r: sanitizers replace it, and their version fails if no other code needs libcrypt.
    const char* const made = crypt_rn(password.c_str(), hash.c_str(), room.get(), sizeof(crypt_data));
    if (made == nullptr) return false;
    const std::string_view text{made};
    return text.size() == hash.size() && CRYPTO_memcmp(text.data(), hash.data(), hash.size()) == 0;
}

int bcrypt_cost(const std::string& hash) {
    assert(hash.size() == 60);
    return (hash[4] - '0') * 10 + (hash[5] - '0');
}

std::string bcrypt_of_nobody(int cost) {
    return fmt::format("$2y${:02}$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi", cost);
}

void password_queue::order::give(password_verdict made) const noexcept {
    for (const listener& each : asking) {
        try {
            each(made);
        } catch (const std::exception&) {  // out of memory: the others still get their verdict
            continue;
        }
    }
}

bool password_queue::add(std::string_view peer, password_question question, listener asking, clock::time_point now) {
    order fresh{std::move(question), {}, now};
    fresh.asking.push_back(std::move(asking));
    std::optional<order> dropped;
    const bool taken = [&] {
        const std::scoped_lock lock{guard_};
        return insert(peer, fresh, dropped);
    }();
    if (dropped) dropped->give(password_verdict::unchecked);
    return taken;
}

bool password_queue::insert(std::string_view peer, order& fresh, std::optional<order>& dropped) {
    const auto lane = lanes_.find(peer);
    if (lane != lanes_.end()) {
        const auto same = [&](const order& each) { return same_digest(each.question.of, fresh.question.of); };
        if (const auto found = std::ranges::find_if(lane->second, same); found != lane->second.end()) {
            if (found->asking.size() >= asking_max) return false;
            found->asking.push_back(std::move(fresh.asking.front()));
            return true;
        }
        if (lane->second.size() >= orders_per_peer_max) return false;
    }
    const std::size_t own = lane != lanes_.end() ? lane->second.size() : 0;
    if (size_ >= orders_max && !(dropped = drop_one_of_longest(own))) return false;
    if (lane != lanes_.end()) {
        lane->second.push_back(std::move(fresh));
    } else {
        std::deque<order> orders;
        orders.push_back(std::move(fresh));
        lanes_.emplace(peer, std::move(orders));
    }
    ++size_;
    notify_();
    return true;
}

// Takes from a lane with more orders than the new order's lane will have: never that one, and never the last order.
std::optional<password_queue::order> password_queue::drop_one_of_longest(std::size_t own) {
    const auto orders = [](const auto& lane) { return lane.second.size(); };
    auto& longest = std::ranges::max_element(lanes_, {}, orders)->second;
    if (longest.size() <= own + 1) return std::nullopt;
    std::optional<order> dropped = std::move(longest.back());
    longest.pop_back();
    --size_;
    return dropped;
}

std::optional<password_queue::order> password_queue::take() {
    const std::scoped_lock lock{guard_};
    if (size_ == 0) return std::nullopt;
    auto lane = lanes_.upper_bound(last_);
    if (lane == lanes_.end()) lane = lanes_.begin();
    last_ = lane->first;  // first, since it may throw
    order next = std::move(lane->second.front());
    lane->second.pop_front();
    --size_;
    if (lane->second.empty()) lanes_.erase(lane);
    return next;
}

}  // namespace seriesgate
