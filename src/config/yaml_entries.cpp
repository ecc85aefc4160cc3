#include "config/yaml_entries.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>
#include <sstream>

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

void read_map(const YAML::Node& map, const std::string& section, std::span<const std::string_view> sections,
              yaml_entries& out) {
    for (const auto& pair : map) {
        const YAML::Node& key = pair.first;
        const YAML::Node& value = pair.second;
        if (!key.IsScalar()) {
            out.faults.push_back({line_of(key.Mark()), "a key must be plain text"});
            continue;
        }
        const std::string& name = key.Scalar();
        const yaml_kind kind = kind_of(value);
        out.entries.push_back(
            {section, name, kind == yaml_kind::text ? value.Scalar() : "", kind, line_of(key.Mark())});
        const bool is_section = section.empty() && std::ranges::count(sections, name) != 0;
        if (is_section && kind == yaml_kind::map) read_map(value, name, sections, out);
    }
}

void read_document(const YAML::Node& root, std::span<const std::string_view> sections, yaml_entries& out) {
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

// Sees where the current document starts, and nothing else.
class start_finder : public YAML::EventHandler {
  public:
    std::size_t line = 0;

    void OnDocumentStart(const YAML::Mark& mark) override { line = line_of(mark); }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
};

// YAML::Load reads the first document and ignores what follows, be it a second document or a stray bracket.
// YAML::LoadAll is no way out: up to yaml-cpp 0.8.0 it never ends on a stray ',' (jbeder/yaml-cpp#1319).
void check_end(const std::string& text, yaml_entries& out) {
    std::istringstream stream{text};
    YAML::Parser parser{stream};
    start_finder document;
    if (!parser.HandleNextDocument(document) || !parser.HandleNextDocument(document)) return;
    out.faults.push_back({document.line, "expected the end of the file: only one YAML document is allowed"});
}

// The one mistake that this configuration invites: `url: discard:` without quotes.
std::string explain(const YAML::Exception& error) {
    std::string message = "not valid YAML: " + error.msg;
    if (error.msg == YAML::ErrorMsg::MAP_VALUE)
        message += " (one that holds ': ' or ends in ':' needs quotes, such as \"discard:\")";
    return message;
}

}  // namespace

yaml_entries read_yaml(std::string_view text, std::span<const std::string_view> sections) {
    yaml_entries out;
    try {
        const std::string copy{text};
        read_document(YAML::Load(copy), sections, out);
        check_end(copy, out);
    } catch (const YAML::Exception& error) {
        out.faults.push_back({line_of(error.mark), explain(error)});
    } catch (const std::exception& error) {
        out.faults.push_back({0, std::string{"not valid YAML: "} + error.what()});
    }
    return out;
}

}  // namespace seriesgate
