#include "config/yaml_entries.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>

namespace seriesgate {
namespace {

std::size_t line_of(const YAML::Mark& mark) noexcept {
    return mark.is_null() ? 0 : static_cast<std::size_t>(mark.line) + 1;
}

yaml_kind kind_of(const YAML::Node& node) {
    switch (node.Type()) {
        case YAML::NodeType::Scalar:
            return yaml_kind::text;
        case YAML::NodeType::Sequence:
            return yaml_kind::list;
        case YAML::NodeType::Map:
            return yaml_kind::map;
        case YAML::NodeType::Null:
        case YAML::NodeType::Undefined:
            break;
    }
    return yaml_kind::nothing;
}

void read_map(const YAML::Node& map, const std::string& prefix, std::span<const std::string_view> sections,
              yaml_entries& out) {
    for (const auto& pair : map) {
        const YAML::Node& key = pair.first;
        const YAML::Node& value = pair.second;
        if (!key.IsScalar()) {
            out.faults.push_back({line_of(key.Mark()), "a key must be plain text"});
            continue;
        }
        std::string name = prefix + key.Scalar();
        const yaml_kind kind = kind_of(value);
        const bool descend = kind == yaml_kind::map && prefix.empty() && std::ranges::count(sections, name) != 0;
        out.entries.push_back({name, kind == yaml_kind::text ? value.Scalar() : "", kind, line_of(key.Mark())});
        if (descend) read_map(value, name + ".", sections, out);
    }
}

void read_documents(const std::vector<YAML::Node>& documents, std::span<const std::string_view> sections,
                    yaml_entries& out) {
    if (documents.empty()) return;
    if (documents.size() > 1) {
        out.faults.push_back({line_of(documents[1].Mark()), "only one YAML document is allowed in a file"});
    }
    const YAML::Node& root = documents.front();
    switch (kind_of(root)) {
        case yaml_kind::map:
            read_map(root, "", sections, out);
            break;
        case yaml_kind::nothing:
            break;
        case yaml_kind::text:
        case yaml_kind::list:
            out.faults.push_back({line_of(root.Mark()), "expected lines of 'key: value' at the top level"});
            break;
    }
}

// The one mistake that this configuration invites: `url: discard:` without quotes.
std::string explain(const YAML::Exception& error) {
    std::string message = "not valid YAML: " + error.msg;
    if (error.msg == YAML::ErrorMsg::MAP_VALUE) message += " (a value that ends in ':' needs quotes, \"discard:\")";
    return message;
}

}  // namespace

yaml_entries read_yaml(std::string_view text, std::span<const std::string_view> sections) {
    yaml_entries out;
    try {
        read_documents(YAML::LoadAll(std::string{text}), sections, out);
    } catch (const YAML::Exception& error) {
        out.faults.push_back({line_of(error.mark), explain(error)});
    } catch (const std::exception& error) {
        out.faults.push_back({0, std::string{"not valid YAML: "} + error.what()});
    }
    return out;
}

}  // namespace seriesgate
