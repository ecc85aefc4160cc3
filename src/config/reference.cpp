// What is made of the keys: the table of docs/configuration.md, the example file, the schema for editors, and the
// examples in errors.
#include <algorithm>
#include <cstddef>

#include "config/keys.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t columns_max = 120;

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

std::string schema_of(const type_description& type, const std::string& help);

/// One key a line.
std::string properties_of(const std::vector<key_description>& keys, const std::string& indent) {
    std::string properties;
    std::string required;
    for (const key_description& each : keys) {
        properties += (properties.empty() ? "" : ",") + indent + in_double_quotes(each.name) + ": " +
                      schema_of(each.type, without_code_marks(each.help));
        if (each.is_required) required += (required.empty() ? "" : ",") + in_double_quotes(each.name);
    }
    return R"("additionalProperties":false,)" + (required.empty() ? "" : "\"required\":[" + required + "],") +
           "\"properties\":{" + properties + "}";
}

std::string schema_of(const type_description& type, const std::string& help) {
    const std::string about = help.empty() ? "" : "\"description\":" + in_double_quotes(help) + ",";
    switch (type.form) {
        case value_form::scalar:
            return "{" + about + R"("anyOf":[{)" + type.schema + R"(},{"$ref":"#/$defs/variable"}]})";
        case value_form::list:
            return "{" + about + R"("type":["array","null"],"items":)" + schema_of(type.items.front(), "") + "}";
        case value_form::names:
            return "{" + about + R"("type":["object","null"],"additionalProperties":)" +
                   schema_of(type.items.front(), "") + "}";
        case value_form::fields:
            break;
    }
    return "{" + about + R"("type":["object","null"],)" + properties_of(type.keys, " ") + "}";
}

/// The keys whose names begin so, each with the rest of its name: those of a section become one of these.
std::string section_schema(const std::string& section, std::size_t depth) {
    const std::string indent = "\n" + std::string(2 * depth, ' ');
    std::vector<std::string> seen;
    std::string properties;
    for (const config_key& key : config_keys()) {
        if (!key.about.name.starts_with(section)) continue;
        const std::string rest = key.about.name.substr(section.size());
        const std::string name = rest.substr(0, rest.find('.'));
        if (std::ranges::count(seen, name) != 0) continue;
        seen.push_back(name);
        properties += (properties.empty() ? "" : ",") + indent + in_double_quotes(name) + ": ";
        properties += name == rest ? schema_of(key.about.type, without_code_marks(key.about.help))
                                   : "{" + section_schema(section + name + ".", depth + 1) + "}";
    }
    return R"("type":["object","null"],"additionalProperties":false,"properties":{)" + properties + "}";
}

std::string json_schema() {
    return R"({
"$schema": "https://json-schema.org/draft/2020-12/schema",
"title": "seriesgate.yaml, made by seriesgate --print-reference=json-schema",
"$defs": {"variable":{"type":"string","pattern":"[$][{][A-Za-z_][A-Za-z0-9_]*[}]"}},
)" + section_schema("", 1) +
           "\n}\n";
}

// --- examples in errors

struct named_example {
    std::string key;  ///< without the numbers of items; `*` is a name of the user's own
    std::string text;
};

/// `{a: b}` as `a: b`, `[x, y]` as `x, y`.
std::string inside(const std::string& example) {
    return example.substr(1, example.size() - 2);
}

void add_examples(std::vector<named_example>& to, const std::string& key, const key_description& about) {
    const std::string name = about.name.substr(about.name.rfind('.') + 1);
    if (!about.example.empty()) to.push_back({key, name + ": " + about.example});
    const type_description& type = about.type;
    for (const key_description& each : type.keys) add_examples(to, key + "." + each.name, each);
    if (type.items.empty() || about.example.empty()) return;
    const bool is_list = type.form == value_form::list;
    const std::string below = key + (is_list ? "[]" : ".*");
    if (type.items.front().form == value_form::fields)
        to.push_back({below, (is_list ? "- " : "") + inside(about.example)});
    for (const key_description& each : type.items.front().keys) add_examples(to, below + "." + each.name, each);
}

/// The first key in a section that has an example is that of the section.
std::vector<named_example> make_examples() {
    std::vector<named_example> all;
    for (const config_key& key : config_keys()) {
        const std::string& name = key.about.name;
        if (!key.about.example.empty()) {
            std::string text = name.substr(name.rfind('.') + 1) + ": " + key.about.example;
            for (auto dot = name.rfind('.'); dot != std::string::npos; dot = name.rfind('.', dot - 1)) {
                const std::string section = name.substr(0, dot);
                text = section.substr(section.rfind('.') + 1) + ": {" + text + "}";
                if (std::ranges::find(all, section, &named_example::key) == all.end()) all.push_back({section, text});
            }
        }
        add_examples(all, name, key.about);
    }
    return all;
}

/// `limits[2].overrides[0]` as `limits[].overrides[]`.
std::string without_numbers(std::string_view key) {
    std::string pattern;
    for (const char c : key)
        if (c < '0' || c > '9' || !pattern.ends_with('[')) pattern += c;
    return pattern;
}

}  // namespace

std::string print_reference(std::string_view form) {
    if (form == "markdown") return markdown();
    if (form == "yaml") return example_file();
    return form == "json-schema" ? json_schema() : "";
}

std::string example_of(std::string_view key) {
    static const std::vector<named_example> examples = make_examples();
    constexpr std::string_view of_tenant = "tenants.overrides.";
    const std::string pattern = key.starts_with(of_tenant) ? std::string{of_tenant} + "*" : without_numbers(key);
    const auto found = std::ranges::find(examples, pattern, &named_example::key);
    return found == examples.end() ? std::string{} : found->text;
}

}  // namespace seriesgate
