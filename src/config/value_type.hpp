/// Types of values: how each is read, written and described. A key is declared once, with the type of its value; the
/// loader, --help, the example file, the reference and the JSON schema are made of these declarations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/config_node.hpp"

namespace seriesgate {

struct key_description;

enum class value_form : std::uint8_t {
    scalar,
    list,
    fields,  ///< a map of keys that we define
    names,   ///< a map whose names are the user's own
};

/// What people and editors are told of a type.
struct type_description {
    std::string name;    ///< as the reference calls it: "duration"
    std::string bounds;  ///< "`1ms` to `1h`"
    std::string schema;  ///< of a scalar: the members of its JSON schema
    value_form form = value_form::scalar;
    std::vector<key_description> keys;    ///< of a map with keys of ours
    std::vector<type_description> items;  ///< of a list, or of a map with names of the user's own: the one type in it
};

struct key_description {
    std::string name;     ///< dotted, where it stands in sections
    std::string help;     ///< one sentence
    std::string example;  ///< a value as it stands within { }; empty: none
    type_description type;
    bool is_required = false;
};

inline type_description described(std::string name, std::string bounds, std::string_view schema) {
    return {std::move(name), std::move(bounds), std::string{schema}, value_form::scalar, {}, {}};
}

template <typename T>
struct value_type {
    type_description about;
    /// Reads what stands there and tells what is wrong.
    /// @return of a scalar: whether nothing was; if not, the target is as it was.
    std::function<bool(const config_node& at, T& target)> read;
    /// What would have to stand in a file for this value; secrets are left out.
    std::function<YAML::Node(const T& value)> show;
    /// Of a scalar. @return what is wrong, or an empty string; then, and only then, it has written the target.
    std::function<std::string(std::string_view text, T& target)> assign{};
};

template <typename T, typename Assign, typename Show>
value_type<T> scalar_type(type_description about, Assign assign, Show show) {
    return {std::move(about),
            [assign](const config_node& at, T& target) {
                return read_scalar(at, [&](std::string_view text) { return assign(text, target); });
            },
            [show](const T& value) { return YAML::Node(std::string{show(value)}); }, assign};
}

/// For a value that may be left out: then nothing stands there.
template <typename T>
value_type<std::optional<T>> optional_of(const value_type<T>& any) {
    return {any.about,
            [any](const config_node& at, std::optional<T>& target) {
                T read{};
                if (!any.read(at, read)) return false;
                target = std::move(read);
                return true;
            },
            [any](const std::optional<T>& value) { return value ? any.show(*value) : YAML::Node{}; }};
}

/// The member at the end of a path: `in<&config::server, &server_config::threads>{}(settings)`.
template <auto... path>
struct in {
    template <class Root>
    constexpr auto& operator()(Root& root) const noexcept {
        return (root.*....*path);
    }
};

/// Where a value stands in its owner. Two functions, so that a field is compiled once for each type, not for each path.
template <typename Owner, typename T>
struct location {
    T& (*of)(Owner& owner);
    const T& (*of_const)(const Owner& owner);
};

/// One key of a map that becomes an Owner.
template <typename Owner>
struct field {
    key_description about;
    std::function<void(const config_node& at, Owner& target)> read;
    /// What would have to stand in a file; secrets are left out. Null where another key says it.
    std::function<YAML::Node(const Owner& from)> show;
    /// Of a scalar, see value_type.
    std::function<std::string(std::string_view text, Owner& target)> assign{};
    /// Whether two owners have the same there.
    std::function<bool(const Owner& one, const Owner& other)> same{};

    template <typename Path, typename T>
    field(std::string name, Path, const value_type<T>& type, std::string help, std::string example = "",
          bool is_required = false)
        : field({std::move(name), std::move(help), std::move(example), type.about, is_required}, type,
                location<Owner, T>{[](Owner& owner) -> T& { return Path{}(owner); },
                                   [](const Owner& owner) -> const T& { return Path{}(owner); }}) {}

    template <typename T>
    field(key_description of, const value_type<T>& type, location<Owner, T> value)
        : about(std::move(of)),
          read([value, type](const config_node& at, Owner& target) { type.read(at, value.of(target)); }),
          show([value, type](const Owner& from) { return type.show(value.of_const(from)); }),
          same([value](const Owner& one, const Owner& other) { return value.of_const(one) == value.of_const(other); }) {
        if (type.assign)
            assign = [value, type](std::string_view text, Owner& target) {
                return type.assign(text, value.of(target));
            };
    }

    /// One that is read in its own way, such as by what the fields before it say.
    template <typename T>
    field(std::string name, const value_type<T>& type, decltype(read) read_into, decltype(show) show_from,
          std::string help, std::string example = "")
        : about{std::move(name), std::move(help), std::move(example), type.about},
          read(std::move(read_into)),
          show(std::move(show_from)) {}
};

template <typename Owner>
using fields = std::vector<field<Owner>>;

/// See read_map.
template <typename Owner>
void read_fields(const config_node& map, const fields<Owner>& table, Owner& target) {
    std::vector<map_key> keys;
    for (const auto& each : table)
        keys.push_back({each.about.name, [&each, &target](const config_node& at) { each.read(at, target); },
                        each.about.is_required});
    read_map(map, keys);
}

/// The way back. What is empty is left out.
template <typename Owner>
YAML::Node show_fields(const fields<Owner>& table, const Owner& from) {
    YAML::Node map{YAML::NodeType::Map};
    for (const auto& each : table) {
        const YAML::Node value = each.show(from);
        const bool is_empty = value.IsNull() || (value.IsScalar() ? value.Scalar().empty() : value.size() == 0);
        if (!is_empty) map.force_insert(each.about.name, value);
    }
    return map;
}

template <typename Owner>
type_description description_of(const fields<Owner>& table) {
    type_description about{"map", "", "", value_form::fields, {}, {}};
    for (const auto& each : table) about.keys.push_back(each.about);
    return about;
}

/// @param check tells what is wrong with the map as a whole; may be null.
template <typename Owner>
value_type<Owner> map_type(const fields<Owner>& table,
                           void (*check)(const config_node& at, const Owner& read) = nullptr) {
    return {description_of(table),
            [table, check](const config_node& at, Owner& target) {
                read_fields(at, table, target);
                if (check != nullptr) check(at, target);
                return true;
            },
            [table](const Owner& from) { return show_fields(table, from); }};
}

/// What stands in a list or behind the user's own names.
inline type_description description_of_many(value_form form, std::string name, std::string bounds,
                                            type_description item) {
    return {std::move(name), std::move(bounds), "", form, {}, {std::move(item)}};
}

template <typename Container, typename Show>
YAML::Node show_list(const Container& values, const Show& show) {
    YAML::Node list{YAML::NodeType::Sequence};
    for (const auto& each : values) list.push_back(show(each));
    return list;
}

template <typename T>
using sameness = std::function<bool(const T& one, const T& other)>;

/// A list of single values.
/// @param name as the reference calls it, such as "list of URLs".
/// @param are_same whether one is there already, which is an error; null: values may come twice.
template <typename Container, typename T = typename Container::value_type>
value_type<Container> list_type(std::string name, const value_type<T>& item, std::size_t count_max,
                                sameness<std::type_identity_t<T>> are_same = std::equal_to<T>{}) {
    const auto read = [item, count_max, are_same](const config_node& at, Container& target) {
        std::vector<std::pair<T, std::string>> seen;  // and where
        for (const config_node& each : at.items(count_max)) {
            T value{};
            if (!item.read(each, value)) continue;
            const auto first =
                std::ranges::find_if(seen, [&](const auto& other) { return are_same && are_same(other.first, value); });
            if (first == seen.end())
                seen.emplace_back(std::move(value), each.key());
            else
                each.fail("is there already, as " + first->second);
        }
        target.clear();
        for (auto& [value, key] : seen) target.insert(target.end(), std::move(value));
        return true;
    };
    const std::string bounds = "up to " + std::to_string(count_max) + (are_same ? ", each once" : "");
    return {description_of_many(value_form::list, std::move(name), bounds, item.about), read,
            [item](const Container& values) { return show_list(values, item.show); }};
}

}  // namespace seriesgate
