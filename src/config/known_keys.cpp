#include "config/known_keys.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "config/decimals.hpp"
#include "config/habits.hpp"
#include "config/wording.hpp"

namespace seriesgate {
namespace {

bool is_below(std::string_view name, std::string_view section) noexcept {
    return name.size() > section.size() && name.starts_with(section) && name[section.size()] == '.';
}

// What stands before the dots in a table of keys: "upstream", "tenants", "tenants.default".
std::vector<std::string_view> sections_of(std::span<const std::string_view> names) {
    std::vector<std::string_view> sections;
    for (const std::string_view name : names) {
        for (auto dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
            const auto section = name.substr(0, dot);
            if (std::ranges::count(sections, section) == 0) sections.push_back(section);
        }
    }
    return sections;
}

// `upstream.url: x` at the top level: the dots are only our way to speak of a key.
std::string misplaced_key(std::string_view name) {
    auto dot = name.rfind('.');
    std::string message = "must stand as " + in_quotes(std::string{name.substr(dot + 1)} + ":");
    while (dot != std::string_view::npos) {
        name = name.substr(0, dot);
        dot = name.rfind('.');
        message += " below " + in_quotes(std::string{name.substr(dot + 1)} + ":");
    }
    return message;
}

class key_matcher {
    std::span<const std::string_view> names_;
    std::vector<std::string_view> sections_;
    known_keys found_;

  public:
    explicit key_matcher(std::span<const std::string_view> names) : names_(names), sections_(sections_of(names)) {
        found_.keys.resize(names.size());
    }

    // @param section what is to be read now, empty for the map as a whole.
    void match(const placed_value& map, const std::string& section) {
        if (map.value().kind != yaml_kind::map && map.value().kind != yaml_kind::nothing) {
            map.fail_shape("keys below it");
            set_faulty(section);
        }
        for (const yaml_member& member : map.value().members) {
            const std::string path = section.empty() ? member.name : section + "." + member.name;
            match_member(map.below(member), member.name, path, section);
        }
    }

    known_keys take() { return std::move(found_); }

  private:
    void match_member(placed_value at, std::string_view name, const std::string& path, std::string_view section) {
        const bool is_section = std::ranges::count(sections_, path) != 0;
        const auto index = static_cast<std::size_t>(std::ranges::find(names_, path) - names_.begin());
        if (!is_section && index == names_.size()) return at.fail_key(unknown_key(at, name, path, section));
        if (name.find('.') != std::string_view::npos) {
            set_faulty(path);
            return at.fail_key(misplaced_key(name));
        }
        if (const auto [first, fresh] = found_.lines.emplace(path, at.line()); !fresh) {
            at.fail_key("is set twice, first on line " + std::to_string(first->second));
            if (!is_section) return;
        }
        if (is_section) {
            match(at, path);
        } else {
            found_.keys[index].value = std::move(at);
        }
    }

    std::string unknown_key(const placed_value& at, std::string_view name, std::string_view path,
                            std::string_view section) const {
        if (const auto refusal = refusal_of_habit(name); !refusal.empty())
            return std::string{"unknown key: "}.append(refusal);
        const auto meant = key_meant(name, path, section);
        if (!meant.empty()) return "unknown key, did you mean " + in_quotes(meant) + "?";
        if (is_digits(name)) return "unknown key; within { } a number is written without commas";
        // `tenants: {team-a: {...}}`
        const std::string overrides = std::string{section} + ".overrides";
        const bool has_overrides = !section.empty() && std::ranges::count(names_, overrides) != 0;
        if (!has_overrides || at.value().kind == yaml_kind::list) return "unknown key";
        return "unknown key; the limits of a tenant stand as " + in_quotes(overrides + "." + std::string{name});
    }

    // The keys of the same section come first, for the likely one is among them.
    std::string_view key_meant(std::string_view name, std::string_view path, std::string_view section) const {
        std::vector<std::string_view> candidates{sections_.begin(), sections_.end()};
        candidates.insert(candidates.end(), names_.begin(), names_.end());
        for (const std::string_view theirs : {path, name}) {
            const auto ours = key_for_habit(theirs);
            if (std::ranges::count(candidates, ours) != 0) return ours;
        }
        const auto others = std::stable_partition(candidates.begin(), candidates.end(),
                                                  [&](std::string_view each) { return is_below(each, section); });
        const auto near = closest(name, {candidates.begin(), others});
        return near.empty() ? closest(name, candidates) : near;
    }

    void set_faulty(std::string_view path) {
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (path.empty() || names_[i] == path || is_below(names_[i], path)) found_.keys[i].faulty = true;
        }
    }
};

}  // namespace

known_keys match_keys(const placed_value& map, std::span<const std::string_view> names) {
    key_matcher matcher{names};
    matcher.match(map, "");
    known_keys found = matcher.take();
    assert(found.keys.size() == names.size());
    return found;
}

}  // namespace seriesgate
