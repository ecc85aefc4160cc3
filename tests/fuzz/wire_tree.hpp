/// A request of either version as a tree of fields that can be bent out of shape: reordered, padded, given wrong types
/// and lengths.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/bytes.hpp"
#include "remote_write_v1.pb.h"
#include "remote_write_v2.pb.h"
#include "wire/field_cursor.hpp"
#include "wire/write_request.hpp"

namespace seriesgate::testing {

using random_source = std::mt19937_64;

/// Below `bound`; unlike the standard's distributions the same with every library.
inline std::uint64_t below(random_source& random, std::uint64_t bound) {
    return random() % bound;
}
inline bool one_in(random_source& random, std::uint64_t chances) {
    return below(random, chances) == 0;
}

inline std::string some_bytes(random_source& random, std::size_t size_max) {
    std::string out(below(random, size_max + 1), '\0');
    for (char& byte : out) byte = static_cast<char>(random());
    return out;
}

/// What a tree is of.
enum class message_kind { request, request_v2 };

using message_type = google::protobuf::Descriptor;

struct wire_field {
    std::uint64_t tag = 0;
    std::size_t tag_bytes = 1;              ///< padded to this many
    std::size_t length_bytes = 1;           ///< likewise, of a length-delimited field
    std::int64_t length_lie = 0;            ///< added to the true length
    std::string bytes;                      ///< the value, unless it is a message
    const message_type* message = nullptr;  ///< that the value is, if it is one
    std::vector<wire_field> fields;         ///< of the message
};

using wire_tree = std::vector<wire_field>;

/// @return nothing for bytes that are not fields all the way down.
inline std::optional<wire_tree> parse_tree(bytes_view message, const message_type& type) {
    wire_tree tree;
    field_cursor cursor{message};
    while (cursor.next()) {
        wire_field& field = tree.emplace_back();
        field.tag = cursor.tag();
        if ((field.tag & 7) != 2) {
            const char* const value = cursor.position();
            cursor.skip_unknown(0);
            if (!cursor.failed()) field.bytes.assign(value, cursor.position());
            continue;
        }
        const bytes_view payload = cursor.read_bytes();
        const auto* known = type.FindFieldByNumber(static_cast<int>(cursor.tag() >> 3));
        const message_type* inner = known == nullptr ? nullptr : known->message_type();
        if (auto children = inner == nullptr ? std::nullopt : parse_tree(payload, *inner)) {
            field.message = inner;
            field.fields = std::move(*children);
        } else {
            field.bytes = payload;
        }
    }
    if (cursor.failed()) return std::nullopt;
    return tree;
}

inline std::optional<wire_tree> parse_tree(bytes_view message, message_kind kind) {
    return parse_tree(message, kind == message_kind::request ? *prometheus::WriteRequest::descriptor()
                                                             : *io::prometheus::write::v2::Request::descriptor());
}

inline void append_padded_varint(std::string& out, std::uint64_t value, std::size_t size) {
    const auto start = out.size();
    append_varint(out, value);
    while (out.size() - start < size) {
        out.back() = static_cast<char>(out.back() | 0x80);
        out.push_back('\0');
    }
}

inline std::string to_bytes(const wire_tree& tree) {
    std::string out;
    for (const wire_field& field : tree) {
        append_padded_varint(out, field.tag, field.tag_bytes);
        const std::string value = field.message == nullptr ? field.bytes : to_bytes(field.fields);
        if ((field.tag & 7) == 2)
            append_padded_varint(out, value.size() + static_cast<std::uint64_t>(field.length_lie), field.length_bytes);
        out += value;
    }
    return out;
}

/// A field as a newer sender, a vendor or an attacker might add one.
inline wire_field foreign_field(random_source& random) {
    const std::uint32_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 9, 13, 15, 16, 17, 63, 64, 1000, (1u << 29) - 1};
    wire_field field;
    const auto number = numbers[below(random, std::size(numbers))];
    const unsigned types[] = {0, 1, 2, 2, 5, 3, 6};
    const auto type = types[below(random, one_in(random, 8) ? 7 : 5)];
    field.tag = std::uint64_t{number} << 3 | type;
    switch (type) {
        case 0:
            append_padded_varint(field.bytes, random() >> below(random, 64), below(random, 11));
            break;
        case 1:
            field.bytes.assign(8, static_cast<char>(random()));
            break;
        case 2:
            field.bytes = some_bytes(random, 12);
            break;
        case 5:
            field.bytes.assign(4, static_cast<char>(random()));
            break;
        case 3:
            append_varint(field.bytes, std::uint64_t{number} << 3 | 4);
            break;
        default:
            break;
    }
    return field;
}

/// All lists of fields in the tree, the tree itself included.
inline void collect_lists(wire_tree& tree, std::vector<wire_tree*>& lists) {
    lists.push_back(&tree);
    for (wire_field& field : tree)
        if (field.message != nullptr) collect_lists(field.fields, lists);
}

/// Changes one field so that careless parsers may disagree about it.
inline void bend(wire_field& field, random_source& random) {
    const bool is_message = field.message != nullptr;
    switch (below(random, 10)) {
        case 0:
        case 1:
            field.length_bytes = 1 + below(random, 6);
            break;
        case 2:
            field.length_bytes = 6 + below(random, 6);
            break;
        case 3:
            field.tag_bytes = 1 + below(random, 11);
            break;
        case 4:
            field.tag |= std::uint64_t{1} << (32 + below(random, 32));
            break;
        case 5:
            field.tag = (field.tag & ~std::uint64_t{7}) | below(random, 8);
            break;
        case 6:
            field.tag = (below(random, 18) << 3) | (field.tag & 7);
            break;
        case 7:
            field.length_lie = static_cast<std::int64_t>(below(random, 7)) - 3;
            break;
        case 8:
            if (!is_message) field.bytes = some_bytes(random, 20);
            break;
        default:
            if (is_message) {
                field.fields.clear();
            } else if ((field.tag & 7) == 1) {
                field.bytes = std::string{"\x02\0\0\0\0\0\xf0\x7f", 8};  // the stale marker
            } else if ((field.tag & 7) == 2) {
                field.bytes.clear();
            }
    }
}

/// Makes one change somewhere in the tree.
inline void mutate(wire_tree& tree, random_source& random) {
    std::vector<wire_tree*> lists;
    collect_lists(tree, lists);
    wire_tree& list = *lists[below(random, lists.size())];
    const auto place = [&](const wire_tree& in) { return static_cast<std::ptrdiff_t>(below(random, in.size() + 1)); };
    if (list.empty() || one_in(random, 4)) {
        list.insert(list.begin() + place(list), foreign_field(random));
        return;
    }
    const auto at = static_cast<std::ptrdiff_t>(below(random, list.size()));
    switch (below(random, 6)) {
        case 0:
            std::swap(list[static_cast<std::size_t>(at)], list[below(random, list.size())]);
            break;
        case 1: {  // a copy, mostly into the same message
            const wire_field copy = list[static_cast<std::size_t>(at)];
            wire_tree& target = one_in(random, 4) ? *lists[below(random, lists.size())] : list;
            target.insert(target.begin() + place(target), copy);
            break;
        }
        case 2:
            list.erase(list.begin() + at);
            break;
        default:
            bend(list[static_cast<std::size_t>(at)], random);
    }
}

/// Changes bytes without regard to what they mean. @param other another request, to take pieces of.
inline void mutate_bytes(std::string& body, bytes_view other, random_source& random) {
    if (body.empty()) body = some_bytes(random, 4);
    if (body.empty()) return;
    const auto at = below(random, body.size());
    switch (below(random, 7)) {
        case 0:
            body[at] = static_cast<char>(body[at] ^ (1 << below(random, 8)));
            break;
        case 1:
            body[at] = static_cast<char>(random());
            break;
        case 2:
            body.resize(at);
            break;
        case 3:
            body.erase(at, 1 + below(random, 8));
            break;
        case 4:
            body.insert(at, some_bytes(random, 8));
            break;
        case 5:
            body.insert(at, body.substr(below(random, body.size()), below(random, 64)));
            break;
        default:
            if (!other.empty()) body.insert(at, other.substr(below(random, other.size()), below(random, 64)));
    }
}

}  // namespace seriesgate::testing
