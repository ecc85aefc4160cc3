#include "config/effective.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <map>
#include <utility>

#include "config/variable_escape.hpp"
#include "config/yaml_text.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t shown_bytes_max = 100;

/// The member of that name; made, as an empty map, if there is none.
yaml_value& section(yaml_value& map, std::string_view name) {
    const auto found = std::ranges::find(map.members, name, &yaml_member::name);
    if (found != map.members.end()) return found->value;
    map.members.push_back(yaml_entry(name, yaml_map({})));
    return map.members.back().value;
}

void put(yaml_value& root, std::string_view name, yaml_value value) {
    yaml_value* map = &root;
    for (auto dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
        map = &section(*map, name.substr(0, dot));
        name.remove_prefix(dot + 1);
    }
    map->members.push_back(yaml_entry(name, std::move(value)));
}

/// Cut between two characters.
std::string cut(std::string line) {
    if (line.size() <= shown_bytes_max) return line;
    std::size_t end = 0;
    for (std::size_t next = 0; next <= shown_bytes_max;) {
        end = next;
        next += std::max<std::size_t>(utf8_size(std::string_view{line}.substr(next)), 1);
    }
    line.resize(end);
    return line += "...";
}

/// An entry of a list or a map, by what tells it apart: the name or the group that each of a list has at its head, its
/// name in a map; of a list of texts, the text.
struct part {
    std::string name;
    const yaml_value* value;
};

std::vector<part> parts_of(const yaml_value& value) {
    std::vector<part> found;
    for (const yaml_value& item : value.items)
        found.push_back({yaml_line(item.members.empty() ? item : item.members.front().value), &item});
    for (const yaml_member& member : value.members)
        found.push_back({yaml_line(yaml_scalar(member.name)), &member.value});
    return found;
}

std::map<std::string_view, const yaml_value*> by_name(const std::vector<part>& parts) {
    std::map<std::string_view, const yaml_value*> found;
    for (const part& each : parts) found.emplace(each.name, each.value);
    return found;
}

bool is_list_of_maps(const yaml_value& value) {
    return !value.items.empty() && value.items.front().kind == yaml_kind::map;
}

/// Single values below a key, such as those of `upstream.tls`.
bool is_map_of_texts(const yaml_value& value) {
    const auto is_text = [](const yaml_member& member) { return member.value.kind == yaml_kind::text; };
    return value.kind == yaml_kind::map && std::ranges::all_of(value.members, is_text);
}

/// Finds what differs between two values of a key. The names of parts are in brackets, those of members behind a dot.
class difference {
    std::vector<std::string> told_;

  public:
    void compare_key(const std::string& name, const yaml_value& before, const yaml_value& after) {
        const std::size_t told = told_.size();
        if (before.kind != after.kind || before.kind == yaml_kind::text)
            compare_values(name, or_unset(before), or_unset(after));
        else if (is_map_of_texts(before) && is_map_of_texts(after))
            compare_members(name, before, after);
        else
            compare_parts(name, before, after);
        if (told_.size() == told)
            told_.push_back(name + (before.kind == yaml_kind::list ? ": order changed" : " changed"));
    }
    std::vector<std::string> take() { return std::move(told_); }

  private:
    static yaml_value or_unset(const yaml_value& value) {
        return value.kind == yaml_kind::nothing ? yaml_scalar("unset") : value;
    }

    void compare_values(const std::string& name, const yaml_value& before, const yaml_value& after) {
        const std::string was = yaml_line(before);
        const std::string is = yaml_line(after);
        if (was == is) return;
        const bool differs_in_sight = cut(was) != cut(is);
        told_.push_back(differs_in_sight ? name + " " + cut(was) + " -> " + cut(is) : name + " changed");
    }

    void compare_parts(const std::string& name, const yaml_value& before, const yaml_value& after) {
        const std::vector<part> was = parts_of(before);
        const std::vector<part> is = parts_of(after);
        const auto found_before = by_name(was);
        const auto found_after = by_name(is);
        for (const part& each : was)
            if (!found_after.contains(each.name)) tell_part(name, each, "removed");
        for (const part& each : is) {
            const auto old = found_before.find(each.name);
            if (old == found_before.end())
                tell_part(name, each, "added");
            else if (each.value->kind == yaml_kind::map)
                compare_members(name + "[" + cut(each.name) + "]", *old->second, *each.value);
        }
    }

    void tell_part(const std::string& name, const part& of, std::string_view what) {
        const bool is_text = of.value->kind == yaml_kind::text;
        told_.push_back(
            (is_text ? name + ": " + cut(of.name) : name + "[" + cut(of.name) + "]").append(" ").append(what));
    }

    /// Some members may be left out.
    void compare_members(const std::string& name, const yaml_value& before, const yaml_value& after) {
        const yaml_value unset = yaml_scalar("unset");
        for (const yaml_member& member : before.members) {
            const auto now = std::ranges::find(after.members, member.name, &yaml_member::name);
            compare_member(name + "." + member.name, member.value, now == after.members.end() ? unset : now->value);
        }
        for (const yaml_member& member : after.members)
            if (std::ranges::count(before.members, member.name, &yaml_member::name) == 0)
                compare_member(name + "." + member.name, unset, member.value);
    }

    void compare_member(const std::string& name, const yaml_value& before, const yaml_value& after) {
        if (is_list_of_maps(before) || is_list_of_maps(after))
            compare_parts(name, before, after);
        else
            compare_values(name, before, after);
    }
};

}  // namespace

std::string effective_yaml(const config& settings) {
    yaml_value root = yaml_map({});
    for (const config_key& key : config_keys()) {
        yaml_value shown = key.access.show(settings);
        if (shown.kind != yaml_kind::nothing) put(root, key.name, std::move(shown));
    }
    escape_variables(root);
    return yaml_text(root);
}

std::vector<std::string> changes(const config& before, const config& after, key_effect of) {
    difference found;
    for (const config_key& key : config_keys())
        if (key.effect == of && key.same_as.empty() && !key.access.same(before, after))
            found.compare_key(std::string{key.name}, key.access.show(before), key.access.show(after));
    return found.take();
}

}  // namespace seriesgate
