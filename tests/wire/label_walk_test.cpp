// The labels of neighbours: what a series has in common with the one before it is not read again, and must count all
// the same. Both readers against the hash by the book, label for label.
#include "wire/label_walk.hpp"

#include <random>

#include "series/fingerprint.hpp"
#include "series/reference_fingerprint.hpp"
#include "support/catch.hpp"
#include "wire/label_hash_cache.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/wire_bytes_v2.hpp"
#include "wire/write_request.hpp"

namespace seriesgate::testing::label_walk_test {
namespace {

std::string request_v1(const std::vector<label_texts>& all) {
    std::string body;
    for (const auto& labels : all) {
        std::string payload;
        for (const auto& [name, value] : labels) payload += label(name, value);
        body += len_field(1, payload + sample(1));
    }
    return body;
}

/// Symbols in the order of their first use, or behind the series.
std::string request_v2(const std::vector<label_texts>& all, bool symbols_last) {
    std::vector<std::string> texts{""};
    const auto ref_of = [&texts](const std::string& text) {
        const auto found = std::find(texts.begin(), texts.end(), text);
        if (found != texts.end()) return static_cast<std::uint64_t>(found - texts.begin());
        texts.push_back(text);
        return static_cast<std::uint64_t>(texts.size() - 1);
    };
    std::string entries;
    for (const auto& labels : all) {
        std::string packed;
        for (const auto& [name, value] : labels) packed.append(varint(ref_of(name))).append(varint(ref_of(value)));
        entries += len_field(5, len_field(1, packed) + sample(1));
    }
    std::string table;
    for (const auto& text : texts) table += len_field(4, text);
    return symbols_last ? entries + table : table + entries;
}

/// Names of labels that tell no series apart.
const std::vector<std::string> ignored{"a", "b", "ab", "cba"};

/// In memory of exactly its size, so that a sanitizer sees one byte too many.
template <class Reader>
void check_hashes(Reader& reader, const std::string& text, const std::vector<label_texts>& all,
                  const std::vector<std::string>& without = {}) {
    const std::vector<char> bytes(text.begin(), text.end());
    reader.reset({bytes.data(), bytes.size()});
    for (const auto& labels : all) {
        const bool read = reader.next();
        CAPTURE(to_string(reader.error()));
        REQUIRE(read);
        label_texts counting = labels;
        std::erase_if(counting,
                      [&](const auto& each) { return std::ranges::find(without, each.first) != without.end(); });
        REQUIRE(reader.series().labels_hash == reference_labels_hash(counting));
        REQUIRE(reader.series().labels_hash + reader.series().ignored_hash == reference_labels_hash(labels));
    }
    REQUIRE_FALSE(reader.next());
    REQUIRE_FALSE(reader.failed());
}

void check_both(const std::vector<label_texts>& all) {
    static write_request_reader reader_v1;
    static write_request_v2_reader reader_v2;
    check_hashes(reader_v1, request_v1(all), all);
    check_hashes(reader_v2, request_v2(all, false), all);
    check_hashes(reader_v2, request_v2(all, true), all);

    const label_hasher ignoring{hash_key::known_to_all(), ignored};
    static label_hash_cache known{4'096};
    static write_request_reader apart_v1{ignoring};
    static write_request_reader recognising{ignoring, &known};
    static write_request_v2_reader apart_v2{ignoring};
    check_hashes(apart_v1, request_v1(all), all, ignored);
    for (int round = 0; round < 2; ++round) check_hashes(recognising, request_v1(all), all, ignored);
    check_hashes(apart_v2, request_v2(all, false), all, ignored);
    check_hashes(apart_v2, request_v2(all, true), all, ignored);
}

const label_texts one{{"__name__", "up"}, {"instance", "a:9100"}, {"job", "node"}, {"namespace", "shop"}};

/// One series after the other with some of the labels of the one before.
class label_drift {
    std::mt19937_64 random_;
    label_texts labels_;

  public:
    explicit label_drift(std::uint64_t seed) : random_(seed) {}

    label_texts next() {
        for (auto changes = below(4); changes > 0; --changes) change();
        if (labels_.size() > 14) labels_.resize(below(14));
        return labels_;
    }

  private:
    std::size_t below(std::size_t end) { return random_() % end; }
    std::string text(std::size_t size_max) {
        std::string out(1 + below(below(8) == 0 ? size_max : 6), '\0');
        for (char& byte : out) byte = static_cast<char>('a' + below(3));
        return out;
    }
    std::string value() { return below(12) == 0 ? "" : text(200); }
    void change() {
        if (labels_.empty() || below(3) == 0) {
            labels_.emplace(labels_.begin() + static_cast<std::ptrdiff_t>(below(labels_.size() + 1)), text(20),
                            value());
            if (below(4) != 0) std::sort(labels_.begin(), labels_.end());
            return;
        }
        const auto at = labels_.begin() + static_cast<std::ptrdiff_t>(below(labels_.size()));
        const std::size_t what = below(8);
        if (what == 0) labels_.erase(at);
        if (what == 1) at->first = text(20);
        if (what == 2) std::swap(*at, labels_.back());
        if (what == 3) std::sort(labels_.begin(), labels_.end());
        if (what == 4) labels_.insert(at, {labels_.front().first, value()});  // twice, mostly with the same name
        if (what > 4) at->second = value();
    }
};

TEST_CASE("more labels than are kept in mind count as well") {
    label_texts many;
    for (int i = 100; i < 100 + static_cast<int>(label_walk::remembered_max); ++i)
        many.emplace_back(std::string{"l"}.append(std::to_string(i)), "v");
    label_texts more = many;
    for (int i = 200; i < 240; ++i) {
        more.emplace_back(std::string{"l"}.append(std::to_string(i)), "v");
        check_both({many, more, one, more, many, more});
    }
}

TEST_CASE("what is the same is seen at every length and to the last byte of the body") {
    for (std::size_t size = 1; size < 150; ++size) {
        CAPTURE(size);
        const std::string text(size, 'x');
        std::string other = text;
        other.back() = 'y';
        std::string first = text;
        first.front() = 'y';
        check_both({{{"a", text}}, {{"a", text}}, {{"a", other}}, {{"a", first}}, {{"a", text}, {"b", text}}});
        check_both({{{text, "a"}}, {{text, "a"}}, {{other, "a"}}, {{first, "a"}}});
    }
}

TEST_CASE("neighbours drift apart, one change after the other") {
    const auto seed = GENERATE(range(1u, 9u));
    label_drift drift{seed};
    for (std::size_t round = 0; round < 150; ++round) {
        std::vector<label_texts> all(1 + round % 40);
        for (auto& labels : all) labels = drift.next();
        check_both(all);
    }
}

TEST_CASE("nothing of the request before is left") {
    write_request_v2_reader reader;
    check_hashes(reader, request_v2({{{"a", "b"}}}, false), {{{"a", "b"}}});
    // The same references, to other symbols.
    check_hashes(reader, request_v2({{{"a", "c"}}}, false), {{{"a", "c"}}});
}

TEST_CASE("bytes are compared up to the first that differs and no farther than asked for") {
    std::string a(300, 'x');
    const std::string room(common_bytes_room, 'r');
    for (std::size_t size = 0; size < 140; ++size) {
        CHECK(common_bytes((a + room).data(), (a + room).data(), size) == size);
        for (std::size_t at = 0; at < 140; at += 7) {
            std::string b = a;
            b[at] = 'y';
            CHECK(common_bytes((a + room).data(), (b + room).data(), size) == std::min(size, at));
        }
    }
}

}  // namespace
}  // namespace seriesgate::testing::label_walk_test
