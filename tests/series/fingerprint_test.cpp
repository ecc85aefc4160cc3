#include "series/fingerprint.hpp"

#include <random>
#include <unordered_set>

#include "series/reference_fingerprint.hpp"
#include "support/catch.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/write_request.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate::testing::fingerprint_test {
namespace {

/// Fingerprint of the one series in a request that is given as bytes.
std::uint64_t fingerprint_of_request(const std::string& text, const tenant_key& tenant = {}) {
    // Memory of exactly its size, so that a sanitizer sees one byte too many.
    const std::vector<char> bytes(text.begin(), text.end());
    write_request_reader reader{{bytes.data(), bytes.size()}};
    REQUIRE(reader.next());
    const auto value = seriesgate::fingerprint_of(reader.series().labels_hash, tenant);
    REQUIRE_FALSE(reader.next());
    REQUIRE_FALSE(reader.failed());
    return value;
}

std::string request_of(const label_texts& labels) {
    std::string payload;
    for (const auto& [name, value] : labels) payload += label(name, value);
    return len_field(1, payload);
}

std::uint64_t fingerprint_of(const label_texts& labels, const tenant_key& tenant = {}) {
    return fingerprint_of_request(request_of(labels), tenant);
}

/// Whether the labels, as they stand and in every order, hash to what the book says.
void check_by_the_book(label_texts labels) {
    const auto expected = reference_fingerprint(labels, {});
    std::sort(labels.begin(), labels.end());
    do {
        CHECK(fingerprint_of(labels) == expected);
    } while (std::next_permutation(labels.begin(), labels.end()));
}

/// Distinct series of recorded requests: by fingerprint and by canonical text.
struct distinct_series {
    std::unordered_set<std::uint64_t> fingerprints;
    std::set<std::string> texts;
};

template <class Reader = write_request_reader>
distinct_series collect_folder(const std::string& folder) {
    distinct_series distinct;
    std::vector<label_view> views;
    for (const std::string& path : recorded_files(folder)) {
        const std::string body = decoded_file(path);
        Reader reader{body};
        while (reader.next()) {
            label_texts labels;
            reader.labels(reader.series().record, views);
            for (const label_view& label : views) labels.emplace_back(label.name, label.value);
            distinct.fingerprints.insert(seriesgate::fingerprint_of(reader.series().labels_hash, {}));
            distinct.texts.insert(canonical_text(labels));
        }
        REQUIRE_FALSE(reader.failed());
    }
    return distinct;
}

using labels = std::vector<label_view>;

/// What the series of one classic histogram have in common.
histogram_family family_of(const labels& of, const tenant_key& tenant = {}, std::vector<std::string> ignored = {}) {
    return label_hasher{hash_key::known_to_all(), std::move(ignored)}.family(of, tenant);
}

const histogram_family none{};
const histogram_family latency = family_of({{"__name__", "latency_count"}, {"pod", "a"}});

TEST_CASE("a fingerprint does not depend on how the labels are written") {
    const auto expected = fingerprint_of({{"__name__", "up"}, {"job", "a"}});
    const std::string name = label("__name__", "up");
    const std::string job = label("job", "a");
    const std::string name_field = len_field(1, "job");
    const std::string value_field = len_field(2, "a");
    for (const std::string& written :
         {series({sample(1), name, job}), series({name, sample(1), job, exemplar()}), series({job, sample(1), name}),
          series({name, len_field(1, value_field + name_field)}),
          series({name, len_field(1, len_field(1, "x") + value_field + name_field)}),
          series({name, padded_len_field(1, name_field + value_field, 5)}),
          series({name, len_field(1, padded_len_field(1, "job", 3) + value_field)}),
          series({name, len_field(1, name_field + value_field + varint_field(9, 1))}),
          series({varint_field(9, 1), name, varint_field(9, 1), job})})
        CHECK(fingerprint_of_request(written) == expected);
}

TEST_CASE("label sets that only look alike have different fingerprints") {
    const std::vector<label_texts> all_different{
        {{"a", "b"}, {"c", "d"}},
        {{"a", "bc=d"}},
        {{"a", "b,c=d"}},
        {{"a", "b\",c=\"d"}},
        {{"ab", ""}, {"c", "d"}},
        {{"a", "bc"}, {"d", "e"}},
        {{"a", "b"}, {"cd", "e"}},
        {{"ab", "c"}, {"d", "e"}},
        {{"a", "b"}, {"c", "de"}},
        {{"a", "b\x0a\x06\x0a\x01"s + "c\x12\x01" + "d"}},
        {{"a", "B"}, {"c", "d"}},
        {{"a", "b"}, {"c", "d "}},
        {{"a", "b\0"s}, {"c", "d"}},
        {{"a\0"s, "b"}, {"c", "d"}},
        {{"a", "b"}},
        {{"b", "a"}},
        {{"__name__", "a"}},
        {{"a", "a"}},
        {},
    };
    std::set<std::uint64_t> fingerprints;
    for (const auto& labels : all_different) fingerprints.insert(fingerprint_of(labels));
    CHECK(fingerprints.size() == all_different.size());
}

TEST_CASE("equal labels of two tenants are two series") {
    const label_texts labels{{"__name__", "up"}, {"job", "a"}};
    const label_texts unsorted{{"job", "a"}, {"__name__", "up"}};
    std::set<std::uint64_t> fingerprints;
    for (const char* const name : {"", "a", "b", "team-with-a-longer-name"}) {
        CAPTURE(name);
        const tenant_key tenant = tenant_key_of(name, hash_key::known_to_all());
        CHECK(fingerprint_of(labels, tenant) == reference_fingerprint(labels, tenant));
        CHECK(fingerprint_of(unsorted, tenant) == reference_fingerprint(labels, tenant));
        fingerprints.insert(fingerprint_of(labels, tenant));
        fingerprints.insert(fingerprint_of({}, tenant));
    }
    CHECK(fingerprints.size() == 8);
}

TEST_CASE("a short last label at the very end of the body is compared without reading on") {
    for (const std::string last : {"b", "bb", "bbb", "bbbb", "bbbbb", "bbbbbb", "bbbbbbb", "bbbbbbbb"}) {
        CAPTURE(last);
        check_by_the_book({{"a", "1"}, {last, "2"}});
        check_by_the_book({{last, "2"}});
        check_by_the_book({{"c", "1"}, {last, "2"}});
    }
}

TEST_CASE("labels of one name twice keep their order: stores differ in what they make of them") {
    const auto one = fingerprint_of({{"a", "1"}, {"a", "2"}, {"b", "3"}});
    CHECK(fingerprint_of({{"a", "2"}, {"a", "1"}, {"b", "3"}}) != one);
    CHECK(fingerprint_of({{"b", "3"}, {"a", "1"}, {"a", "2"}}) == one);
}

TEST_CASE("random label sets hash as by the book, in order and shuffled") {
    std::mt19937_64 random{6};
    const auto text = [&random](std::size_t size_max, std::size_t size_min, unsigned alphabet) {
        std::string out(size_min + random() % (size_max - size_min + 1), '\0');
        for (char& byte : out) byte = static_cast<char>(alphabet == 256 ? random() : 'a' + random() % alphabet);
        return out;
    };
    write_request_reader reader;  // one for all: nothing may be left over from the series before
    for (int round = 0; round < 20000; ++round) {
        label_texts labels;
        const unsigned alphabet = std::vector<unsigned>{1, 2, 26, 256}[random() % 4];
        for (auto count = random() % 8; count > 0; --count)
            labels.emplace_back(text(random() % 16 == 0 ? 200 : 12, 1, alphabet),
                                text(random() % 16 == 0 ? 300 : 6, 0, 256));
        const tenant_key tenant = random() % 2 == 0 ? tenant_key{} : numbered_tenant(random());
        if (random() % 2 == 0) {
            std::stable_sort(labels.begin(), labels.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
        }
        const std::string body = request_of(labels);
        const std::vector<char> bytes(body.begin(), body.end());
        reader.reset({bytes.data(), bytes.size()});
        REQUIRE(reader.next());
        REQUIRE(seriesgate::fingerprint_of(reader.series().labels_hash, tenant) ==
                reference_fingerprint(labels, tenant));
    }
}

TEST_CASE("random label sets hash by the book in remote write 2, whatever their order and lengths") {
    std::mt19937_64 random{5};
    write_request_v2_reader reader;
    for (int round = 0; round < 5000; ++round) {
        label_texts labels;
        std::string body;
        std::string refs;
        for (auto count = random() % 12; count > 0; --count) {
            auto& [name, value] = labels.emplace_back(std::string(1 + random() % 20, 'n'), "");
            for (char& byte : name) byte = static_cast<char>('a' + random() % 3);
            value.assign(random() % (random() % 8 == 0 ? 20000 : 30), static_cast<char>(random()));
        }
        if (random() % 2 == 0) std::sort(labels.begin(), labels.end());
        for (std::size_t i = 0; i < labels.size(); ++i) {
            body.append(len_field(4, labels[i].first)).append(len_field(4, labels[i].second));
            refs.append(varint(2 * i)).append(varint(2 * i + 1));
        }
        body.append(len_field(5, len_field(1, refs)));
        const std::vector<char> bytes(body.begin(), body.end());
        reader.reset({bytes.data(), bytes.size()});
        REQUIRE(reader.next());
        REQUIRE(seriesgate::fingerprint_of(reader.series().labels_hash, numbered_tenant(9)) ==
                reference_fingerprint(labels, numbered_tenant(9)));
    }
}

TEST_CASE("a grid of labels has no two fingerprints that are equal, and every bit of them is as often 0 as 1") {
    // Sums of the same few addends: where a weak hash of a label would show.
    constexpr int side = 300;
    label_hasher hasher{hash_key::known_to_all()};
    std::vector<std::uint64_t> fingerprints;
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
            const std::string pod = std::to_string(i);
            const std::string path = std::to_string(j);
            const std::vector<label_view> labels{{"__name__", "up"}, {"path", path}, {"pod", pod}};
            fingerprints.push_back(seriesgate::fingerprint_of(hasher(labels), {}));
        }
    for (int bit = 0; bit < 64; ++bit) {
        CAPTURE(bit);
        const auto ones = std::count_if(fingerprints.begin(), fingerprints.end(),
                                        [bit](std::uint64_t each) { return (each >> bit & 1) != 0; });
        CHECK(std::abs(ones - side * side / 2) < 5 * side / 2);  // five standard deviations
    }
    std::sort(fingerprints.begin(), fingerprints.end());
    CHECK(std::unique(fingerprints.begin(), fingerprints.end()) == fingerprints.end());
}

TEST_CASE("there is no label whose value does not count, and no value that hides its name") {
    // Texts made for it: XXH3-64 of the first is 0x9e3779b185ebca87, of the second 0. With a product of the hashes of
    // name and value, which this was for a day, each of them would let any number of series through as one.
    const std::string name =
        "ancaaaaaaaaaaaaabjnmabbbbbbbbbbbcli0dcccccccccccdulladddddddddddeetsaeeeeeeeeeeefa0wcfffffffffffgqmqdggggggggg"
        "gghdiwahhhhhhhhhhh";
    const std::string value =
        "aphaaaaaaaaaaaaabo5ebbbbbbbbbbbbc2b4acccccccccccdckebddddddddddde2mebeeeeeeeeeeefuv2bfffffffffffgdfqbggggggggg"
        "gghi1kchhhhhhhhhhh";
    REQUIRE(XXH3_64bits(name.data(), name.size()) == 0x9e3779b185ebca87);
    REQUIRE(XXH3_64bits(value.data(), value.size()) == 0);
    CHECK(fingerprint_of({{name, "1"}}) != fingerprint_of({{name, "2"}}));
    CHECK(fingerprint_of({{name, "1"}}) != fingerprint_of({}));
    CHECK(fingerprint_of({{"a", value}}) != fingerprint_of({{"b", value}}));
    CHECK(fingerprint_of({{"a", value}}) != fingerprint_of({}));
}

TEST_CASE("recorded series have as many fingerprints as label sets, and the same in remote write 2") {
    const distinct_series first = collect_folder("prometheus-3.5-v1");
    const distinct_series second = collect_folder<write_request_v2_reader>("prometheus-3.5-v2");
    CHECK(second.fingerprints.size() == 31817);
    CHECK(second.texts.size() == 31817);
    CHECK((second.fingerprints == first.fingerprints));
    CHECK((second.texts == first.texts));

    const distinct_series histograms_1 = collect_folder("native-histograms-v1");
    const distinct_series histograms_2 = collect_folder<write_request_v2_reader>("native-histograms-v2");
    CHECK(histograms_2.fingerprints.size() == 1096);
    CHECK(histograms_2.texts.size() == 1096);
    CHECK((histograms_2.fingerprints == histograms_1.fingerprints));
    CHECK((histograms_2.texts == histograms_1.texts));
}

TEST_CASE("buckets, sum and count of one label set are a family") {
    CHECK(latency);
    CHECK(latency.is_total);
    CHECK(family_of({{"__name__", "latency_sum"}, {"pod", "a"}}) == latency);
    for (const char* bound : {"0.5", "+Inf"}) {
        const auto bucket = family_of({{"__name__", "latency_bucket"}, {"le", bound}, {"pod", "a"}});
        CHECK(bucket.fingerprint == latency.fingerprint);
        CHECK_FALSE(bucket.is_total);
    }
}

TEST_CASE("another label, name or tenant is another family") {
    CHECK(family_of({{"__name__", "latency_count"}, {"pod", "b"}}) != latency);
    CHECK(family_of({{"__name__", "latency_count"}}) != latency);
    CHECK(family_of({{"__name__", "latencies_count"}, {"pod", "a"}}) != latency);
    CHECK(family_of({{"__name__", "latency_count_count"}, {"pod", "a"}}) != latency);
    CHECK(family_of({{"__name__", "latency_count"}, {"pod", "a"}}, tenant_key_of("t", hash_key::known_to_all())) !=
          latency);
}

TEST_CASE("order, empty values and ignored labels do not matter") {
    CHECK(family_of({{"pod", "a"}, {"__name__", "latency_count"}}) == latency);
    CHECK(family_of({{"__name__", "latency_count"}, {"job", ""}, {"pod", "a"}}) == latency);
    CHECK(family_of({{"__name__", "latency_sum"}, {"pod", "a"}, {"replica", "1"}}, {}, {"replica"}) == latency);
    CHECK(family_of({{"__name__", "latency_sum"}, {"le", ""}, {"pod", "a"}}) == latency);
}

TEST_CASE("a label that has the metric's name as its value is left alone") {
    const std::string text = "latency_sum";  // as in remote write 2, where both are the same symbol
    CHECK(family_of({{"__name__", text}, {"metric", text}}) ==
          family_of({{"__name__", "latency_count"}, {"metric", text}}));
}

TEST_CASE("other names are part of nothing") {
    for (const char* name : {"latency", "latency_buckets", "latencycount", "latency_created", "_sum", "_count", ""})
        CHECK(family_of({{"__name__", name}, {"le", "1"}}) == none);
    for (const labels& of : {labels{{"__name__", "latency_bucket"}, {"pod", "a"}},
                             {{"__name__", "latency_bucket"}, {"le", ""}},
                             {{"__name__", "_bucket"}, {"le", "1"}},
                             {{"pod", "a_count"}},
                             {}})
        CHECK(family_of(of) == none);
}

TEST_CASE("a family is never taken for the series with the same labels") {
    CHECK(latency.fingerprint != reference_fingerprint({{"__name__", "latency"}, {"pod", "a"}}, {}));
}

}  // namespace
}  // namespace seriesgate::testing::fingerprint_test
