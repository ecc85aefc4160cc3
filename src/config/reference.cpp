// What is made of the keys: the table of docs/configuration.md, the example file, the schema for editors, and the
// examples in errors.
#include <algorithm>
#include <cstddef>

#include "config/keys.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t columns_max = 120;
constexpr std::string_view section_name = "section";

/// Puts a key into the section that its dotted name says.
void add_key(type_description& to, const std::string& name, const key_description& about) {
    const auto dot = name.find('.');
    const std::string first = name.substr(0, dot);
    if (std::ranges::count(to.keys, first, &key_description::name) == 0)
        to.keys.push_back({first, "", "", {std::string{section_name}, "", "", value_form::fields, {}, {}}});
    key_description& here = *std::ranges::find(to.keys, first, &key_description::name);
    if (dot != std::string::npos) return add_key(here.type, name.substr(dot + 1), about);
    here = about;
    here.name = first;
}

/// The whole file.
const type_description& all_keys() {
    static const type_description all = [] {
        type_description made{std::string{section_name}, "", "", value_form::fields, {}, {}};
        for (const config_key& key : config_keys()) add_key(made, key.about.name, key.about);
        return made;
    }();
    return all;
}

// --- markdown

std::string in_code(const std::string& text) {
    return "`" + text + "`";
}

std::string table_row(const std::string& name, const key_description& about, const std::string& standard,
                      std::string_view effect) {
    const type_description& type = about.type;
    const std::string bounds = about.is_required ? "required" : type.bounds;
    // A bound that lists words says all of a type.
    const bool is_choice = type.schema.starts_with("\"enum\"") && !type.bounds.empty();
    const std::string kind = is_choice ? bounds : type.name + (bounds.empty() ? "" : ": " + bounds);
    return "| " + in_code(name) + " | " + kind + " | " + standard + " | " + std::string{effect} + " | " + about.help +
           " |\n";
}

/// Keys that stand in a map or in the items of a list.
void add_rows_below(std::string& out, const std::string& name, const type_description& type, std::string_view effect) {
    for (const key_description& each : type.keys) {
        out += table_row(name + "." + each.name, each, "", effect);
        if (!each.help.starts_with("As ")) add_rows_below(out, name + "." + each.name, each.type, effect);
    }
    const std::string mark = type.form == value_form::list ? "[]" : ".*";
    for (const type_description& item : type.items) add_rows_below(out, name + mark, item, effect);
}

std::string markdown() {
    const config defaults;
    std::string out = "| key | type and bounds | default | change | meaning |\n| --- | --- | --- | --- | --- |\n";
    for (const config_key& key : config_keys()) {
        const bool has_default = key.about.name != "upstream.url" && key.same_as.empty();
        const YAML::Node value = key.show(defaults);
        const std::string effect = key.effect == key_effect::at_reload ? "reload" : "restart";
        out += table_row(key.about.name, key.about, has_default ? in_code(yaml_line(value)) : "", effect);
        // What is as elsewhere is described there.
        if (key.about.help.find(", as `") == std::string::npos)
            add_rows_below(out, key.about.name, key.about.type, effect);
    }
    return out;
}

// --- the example file

constexpr std::string_view yaml_head =
    "# yaml-language-server: $schema=../docs/seriesgate.schema.json\n"
    "# seriesgate: every key with its default, made by seriesgate --print-reference=yaml. Delete what you do not "
    "change.\n"
    "# A key behind a '#' is an example. docs/configuration.md has types, bounds and advice. Check a file with:\n"
    "# seriesgate --config.file=FILE --check-config\n"
    "# ${NAME} in a value is an environment variable.\n";

void add_comment(std::string& out, const std::string& text, std::size_t indent) {
    const std::string start = std::string(indent, ' ') + "#";
    std::string line = start;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (line.size() + 1 + word.size() > columns_max) {
            out += line + "\n";
            line = start;
        }
        line += " " + word;
        begin = end + 1;
    }
    out += line + "\n";
}

std::string without_code_marks(std::string text) {
    std::erase(text, '`');
    return text;
}

std::string example_file() {
    const config defaults;
    std::string out{yaml_head};
    std::string section;  // the one that is open, with a dot behind it
    for (const config_key& key : config_keys()) {
        const std::string& name = key.about.name;
        std::size_t indent = 0;
        std::string opened;
        for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
            const std::string upper = name.substr(0, dot + 1);
            if (!section.starts_with(upper)) {
                out.append(indent == 0 ? "\n" : "").append(indent, ' ');
                out += upper.substr(opened.size(), upper.size() - opened.size() - 1) + ":\n";
            }
            opened = upper;
            indent += 2;
        }
        if (opened.empty()) out += "\n";
        section = opened;
        const std::string last = name.substr(opened.size());
        add_comment(out, without_code_marks(key.about.help), indent);
        const YAML::Node standard = key.show(defaults);
        const std::string line = std::string(indent, ' ') + last + ": ";
        if (name == "upstream.url")
            out += line + key.about.example + "\n";
        else
            out += (key.differs_when_absent ? "#" : "") + line + yaml_line(standard) + "\n";
        const bool has_example = !key.about.example.empty() && key.about.example != yaml_line(standard);
        if (has_example && key.about.type.form != value_form::scalar) out += "#" + line + key.about.example + "\n";
    }
    return out;
}

// --- JSON schema

std::string schema_of(const type_description& type, const std::string& help, const std::string& indent);

/// @param indent before each key: in sections one stands on a line.
std::string properties_of(const std::vector<key_description>& keys, const std::string& indent) {
    std::string properties;
    std::string required;
    for (const key_description& each : keys) {
        properties +=
            (properties.empty() ? "" : ",") + indent + in_double_quotes(each.name) + ": " +
            schema_of(each.type, without_code_marks(each.help), each.type.name == section_name ? indent + "  " : " ");
        if (each.is_required) required += (required.empty() ? "" : ",") + in_double_quotes(each.name);
    }
    return R"("additionalProperties":false,)" + (required.empty() ? "" : "\"required\":[" + required + "],") +
           "\"properties\":{" + properties + "}";
}

std::string schema_of(const type_description& type, const std::string& help, const std::string& indent) {
    const std::string about = help.empty() ? "" : "\"description\":" + in_double_quotes(help) + ",";
    switch (type.form) {
        case value_form::scalar:
            return "{" + about + R"("anyOf":[{)" + type.schema + R"(},{"$ref":"#/$defs/variable"}]})";
        case value_form::list:
            return "{" + about + R"("type":["array","null"],"items":)" + schema_of(type.items.front(), "", " ") + "}";
        case value_form::names:
            return "{" + about + R"("type":["object","null"],"additionalProperties":)" +
                   schema_of(type.items.front(), "", " ") + "}";
        case value_form::fields:
            break;
    }
    return "{" + about + R"("type":["object","null"],)" + properties_of(type.keys, indent) + "}";
}

std::string json_schema() {
    return R"({
"$schema": "https://json-schema.org/draft/2020-12/schema",
"title": "seriesgate.yaml, made by seriesgate --print-reference=json-schema",
"$defs": {"variable":{"type":"string","pattern":"[$][{][A-Za-z_][A-Za-z0-9_]*[}]"}},
"type":["object","null"],)" +
           properties_of(all_keys().keys, "\n  ") + "\n}\n";
}

// --- examples in errors

/// Of a section that of its first key that has one.
std::string example_in(const key_description& of) {
    if (of.type.name != section_name) return of.example;
    for (const key_description& each : of.type.keys)
        if (const std::string inner = example_in(each); !inner.empty()) return "{" + each.name + ": " + inner + "}";
    return "";
}

}  // namespace

std::string print_reference(std::string_view form) {
    if (form == "markdown") return markdown();
    if (form == "yaml") return example_file();
    return form == "json-schema" ? json_schema() : "";
}

std::string example_of(std::string_view key) {
    const type_description* type = &all_keys();
    std::string example, text;
    while (!key.empty()) {
        const bool is_list = type->form == value_form::list;
        if (is_list || type->form == value_form::names) {
            type = &type->items.front();
            if (type->form != value_form::fields || example.empty()) return "";
            text =
                (is_list ? "- " : "") + example.substr(1, example.size() - 2);  // `[x]` and `{a: b}` without brackets
            key.remove_prefix(is_list ? key.find(']') + 1 : key.size());        // a name may hold dots
            continue;
        }
        if (key.starts_with('.')) key.remove_prefix(1);
        const std::string_view name = key.substr(0, key.find_first_of(".["));
        const auto found = std::ranges::find(type->keys, name, &key_description::name);
        if (found == type->keys.end()) return "";
        example = example_in(*found);
        text = example.empty() ? "" : found->name + ": " + example;
        type = &found->type;
        key.remove_prefix(name.size());
    }
    return text;
}

}  // namespace seriesgate
