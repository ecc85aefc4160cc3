#include "config/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>
#include <sstream>

#include "config/yaml_mistakes.hpp"

namespace seriesgate {
namespace {

// What the values may come to, in bytes of text and a few for each. No text of 1 MiB gets there without aliases.
constexpr std::size_t tree_bytes_max = 4 << 20;
constexpr std::size_t bytes_per_value = 4;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

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

class tree_reader {
    std::size_t bytes_left_ = tree_bytes_max;
    std::vector<yaml_fault>& faults_;

  public:
    explicit tree_reader(std::vector<yaml_fault>& faults) : faults_(faults) {}

    yaml_value read(const YAML::Node& node, std::size_t depth) {
        yaml_value value{.kind = kind_of(node), .line = 0, .text = {}, .items = {}, .members = {}};
        // Where nothing stands, yaml-cpp names the line of what comes next.
        if (value.kind != yaml_kind::nothing) value.line = line_of(node.Mark());
        if (value.kind == yaml_kind::text) value.text = node.Scalar();
        if (!spend(value.text.size() + bytes_per_value)) return value;
        if (value.kind == yaml_kind::list && depth < yaml_depth_max) read_items(node, depth, value.items);
        if (value.kind == yaml_kind::map && depth < yaml_depth_max) read_members(node, depth, value.members);
        return value;
    }

    bool is_cut() const noexcept { return bytes_left_ == 0; }

  private:
    bool spend(std::size_t bytes) noexcept {
        bytes_left_ -= std::min(bytes, bytes_left_);
        return !is_cut();
    }

    void read_items(const YAML::Node& list, std::size_t depth, std::vector<yaml_value>& items) {
        for (const auto& item : list) {
            if (is_cut()) return;
            items.push_back(read(item, depth + 1));
        }
    }

    void read_members(const YAML::Node& map, std::size_t depth, std::vector<yaml_member>& members) {
        for (const auto& pair : map) {
            const YAML::Node& name = pair.first;
            if (is_cut()) return;
            if (!name.IsScalar()) {
                faults_.push_back({line_of(name.Mark()), "a key must be plain text"});
            } else if (name.Scalar() == "<<" && name.Tag() == "?") {  // without quotes; else it would be a tenant
                faults_.push_back({line_of(name.Mark()), "merge keys (<<) are not supported"});
            } else if (spend(name.Scalar().size())) {
                members.push_back({name.Scalar(), line_of(name.Mark()), read(pair.second, depth + 1)});
            }
        }
    }
};

void read_document(const YAML::Node& document, std::string_view text, yaml_tree& out) {
    tree_reader reader{out.faults};
    out.root = reader.read(document, 0);
    if (reader.is_cut()) out.faults.push_back({0, "is too large once its aliases are written out"});
    if (out.root.kind == yaml_kind::text || out.root.kind == yaml_kind::list) {
        const auto missing = out.root.kind == yaml_kind::text ? missing_in_line(text) : "";
        out.faults.push_back({out.root.line, "expected lines of 'key: value' at the top level" +
                                                 (missing.empty() ? "" : "; " + missing)});
        out.root = {};
    }
}

// Sees where the current document and the last scalar start, and nothing else.
class start_finder : public YAML::EventHandler {
  public:
    std::size_t line = 0;
    std::size_t scalar_line = 0;

    void OnDocumentStart(const YAML::Mark& mark) override { line = line_of(mark); }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string&) override {
        scalar_line = line_of(mark);
    }
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
};

// Up to yaml-cpp 0.8.0 a quote that is still open where the text ends in a new line is closed there, and the rest of
// the file is its value. Where a document begins, it is an error; so one is begun behind the text.
struct own_end {
    std::string_view text;
    std::size_t line;

    // Not for other encodings than UTF-8.
    explicit own_end(std::string_view before)
        : text(before.find('\0') == std::string_view::npos ? "\n---\n" : ""),
          line(text.empty() ? 0 : static_cast<std::size_t>(std::ranges::count(before, '\n')) + 2) {}
};

std::size_t line_of_last_scalar(const std::string& text) {
    std::istringstream stream{text};
    YAML::Parser parser{stream};
    start_finder found;
    parser.HandleNextDocument(found);
    return found.scalar_line;
}

// YAML::Load reads the first document and ignores what follows, be it a second document or a stray bracket.
// YAML::LoadAll is no way out: up to yaml-cpp 0.8.0 it never ends on a stray ',' (jbeder/yaml-cpp#1319).
void check_documents(const std::string& text, const own_end& end, yaml_tree& out) {
    std::istringstream stream{text + std::string{end.text}};
    YAML::Parser parser{stream};
    start_finder document;
    if (!parser.HandleNextDocument(document) || !parser.HandleNextDocument(document)) return;
    if (document.line == end.line) return;
    if (const auto why = unindented_line(text, document.line); !why.empty())
        out.faults.push_back({document.line, why});
    else
        out.faults.push_back({document.line, "expected the end of the file: only one YAML document is allowed"});
}

void check_end(const std::string& text, yaml_tree& out) {
    const own_end end{text};
    try {
        check_documents(text, end, out);
    } catch (const YAML::Exception& error) {
        if (end.line == 0 || line_of(error.mark) != end.line) throw;
        out = {{}, {unclosed_quote(text, line_of_last_scalar(text))}};
    }
}

// What yaml-cpp says, and the one mistake that this configuration invites: `url: discard:` without quotes.
yaml_fault fault_of(const YAML::Exception& error, std::string_view text) {
    std::string message = error.msg;
    if (error.msg == YAML::ErrorMsg::MAP_VALUE)
        message += " (one that holds ': ' or ends in ':' needs quotes, such as \"discard:\")";
    return explain_fault(text, {line_of(error.mark), message});
}

}  // namespace

yaml_tree read_yaml(std::string_view text) {
    yaml_tree out;
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    try {
        const std::string copy{text};
        read_document(YAML::Load(copy), text, out);
        check_end(copy, out);
    } catch (const YAML::Exception& error) {
        out.faults.push_back(fault_of(error, text));
    } catch (const std::exception& error) {
        out.faults.push_back({0, std::string{"not valid YAML: "} + error.what()});
    }
    return out;
}

}  // namespace seriesgate
