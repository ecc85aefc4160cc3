#include "config/yaml.hpp"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <array>
#include <exception>
#include <sstream>
#include <utility>

#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::string_view not_yaml = "not valid YAML: ";
constexpr std::size_t line_columns_max = 100;
constexpr std::size_t indent_step = 2;

/// What the parser's words mostly mean in a configuration.
struct meaning {
    std::string_view words;
    std::string_view cause;
};

const std::array<meaning, 9> meanings{{
    {YAML::ErrorMsg::MAP_VALUE,
     "illegal map value: a value that holds ': ' or ends in ':' needs quotes, such as \"discard:\"; or the line is "
     "indented too far"},
    {YAML::ErrorMsg::END_OF_MAP,
     "the line does not go on with the map above it: compare its indentation; a value that begins with a quote or a "
     "bracket ends where that closes"},
    {YAML::ErrorMsg::END_OF_SEQ,
     "the line does not go on with the list above it: compare its indentation; an item that begins with a quote or a "
     "bracket ends where that closes"},
    {YAML::ErrorMsg::END_OF_MAP_FLOW, "a { is not closed before this, or a value within needs quotes, as ${NAME} does"},
    {YAML::ErrorMsg::END_OF_SEQ_FLOW,
     "a [ is not closed before this, or a value within needs quotes, as a selector does"},
    {YAML::ErrorMsg::FLOW_END,
     "a ] or } that nothing opens, or a quote that closes too early: ' in single quotes is ''"},
    {YAML::ErrorMsg::UNKNOWN_TOKEN, "a value that begins with @, ` or % needs quotes"},
    {YAML::ErrorMsg::UNKNOWN_ANCHOR, "a value that begins with * needs quotes, unless an anchor (&) has that name"},
    {YAML::ErrorMsg::TAB_IN_INDENTATION, "a tab indents this line; YAML takes only spaces for that"},
}};

std::string_view line_at(std::string_view text, std::size_t line) noexcept {
    for (; line > 1; --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    return text.substr(0, text.find('\n'));
}

bool is_indented_by_tab(std::string_view line) noexcept {
    const auto first = line.find_first_not_of(" \t\r");
    return first != std::string_view::npos && line.substr(0, first).find('\t') != std::string_view::npos;
}

yaml_fault fault_of(const YAML::Exception& error, std::string_view text) {
    const std::string start{not_yaml};
    if (text.find('\0') != std::string_view::npos) return {0, start + "the file holds null bytes and is no text"};
    const std::size_t line = line_of(error.mark);
    if (line != 0 && !text.empty() && is_indented_by_tab(line_at(text, line)))
        return {line, start + std::string{meanings.back().cause}};
    const std::string_view words = error.msg;
    // yaml-cpp 0.8 appends the anchor's name, which may be a password.
    const auto known = std::ranges::find_if(meanings, [&](const meaning& of) { return words.starts_with(of.words); });
    const std::string what{known == meanings.end() ? words : known->cause};
    if (line == 0) return {0, start + what};
    return {line, "column " + std::to_string(error.mark.column + 1) + ": " + start + what};
}

/// Sees where documents and scalars start, and nothing else.
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

std::size_t line_of_last_scalar(const std::string& text) {
    std::istringstream stream{text};
    YAML::Parser parser{stream};
    start_finder found;
    parser.HandleNextDocument(found);
    return found.scalar_line;
}

/// YAML::Load reads the first document and ignores the rest, be it a second document or a stray bracket. YAML::LoadAll
/// is no way out: up to yaml-cpp 0.8.0 it never ends on a stray ',' (jbeder/yaml-cpp#1319). Up to that version the end
/// of the text also closes a quote, but the begin of a document does not: so one is begun behind the text.
void check_end(const std::string& text, std::vector<yaml_fault>& faults) {
    const bool is_utf8 = text.find('\0') == std::string::npos;  // other encodings have zeros
    const std::size_t end_line = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 2;
    std::istringstream stream{is_utf8 ? text + "\n---\n" : text};
    start_finder document;
    try {
        YAML::Parser parser{stream};
        if (!parser.HandleNextDocument(document) || !parser.HandleNextDocument(document)) return;
    } catch (const YAML::Exception& error) {
        if (!is_utf8 || line_of(error.mark) != end_line) throw;
        faults.push_back(
            {line_of_last_scalar(text), std::string{not_yaml} + "a quote that opens here is never closed"});
        return;
    }
    if (document.line != end_line)
        faults.push_back({document.line,
                          "expected the end of the file: a line that is indented less than the first one, or begins "
                          "with ---, starts a second YAML document"});
}

void check_root(yaml_document& read) {
    if (read.root.IsMap() || read.root.IsNull()) return;
    std::string message = "expected lines of 'key: value' at the top level";
    if (read.root.IsScalar()) message += ", with a colon and a space behind the key";
    read.faults.push_back({line_of(read.root.Mark()), std::move(message)});
    read.root.reset();
}

/// What no YAML reader takes for anything else, in lists and maps with brackets either.
bool is_plain(std::string_view text) {
    constexpr std::string_view signs = ".:-+@%";
    const auto begins = [](char c) { return is_identifier_character(c) || c == '/'; };
    const auto fits = [&](char c) { return begins(c) || signs.find(c) != std::string_view::npos; };
    return !text.empty() && !equal_ignoring_case(text, "null") && begins(text.front()) && text.back() != ':' &&
           std::ranges::all_of(text, fits);
}

/// In single quotes, or in double ones where control characters or the mark that begins a file have to be escaped.
std::string in_yaml_quotes(std::string_view text) {
    std::string plain = "'";
    std::string escaped = "\"";
    bool needs_escape = false;
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);  // 0: a stray byte, for which YAML has no escape
        const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
        text.remove_prefix(character.size());
        plain.append(character == "'" ? "''" : character);
        if (size != 0 && (is_control_character(character) || character == "\ufeff")) {
            needs_escape = true;
            append_code(escaped, character);
        } else {
            escaped.append(character == "\"" || character == "\\" ? "\\" : "").append(character);
        }
    }
    return needs_escape ? escaped + '"' : plain + "'";
}

/// The members of a map or the items of a list, a line or lines each. @param is_top the maps in it are sections.
void append_lines(std::string& out, const YAML::Node& of, std::size_t indent, bool is_top) {
    for (const auto& each : of) {
        const YAML::Node& value = of.IsMap() ? each.second : each;
        const bool is_section = is_top && value.IsMap() && value.size() != 0;
        const std::string line = is_section ? "" : yaml_line(value);
        const bool is_one_line = !is_section && (value.IsScalar() || indent + line.size() <= line_columns_max);
        const std::size_t start = out.size() + indent;
        if (of.IsMap())
            out.append(indent, ' ').append(yaml_scalar(each.first.Scalar())).append(is_one_line ? ": " : ":\n");
        if (of.IsSequence() && is_one_line) out.append(indent, ' ').append("- ");
        if (is_one_line)
            out.append(line).append("\n");
        else
            append_lines(out, value, indent + indent_step, false);
        if (of.IsSequence()) out[start] = '-';
    }
}

}  // namespace

std::size_t line_of(const YAML::Mark& mark) noexcept {
    return mark.is_null() ? 0 : static_cast<std::size_t>(mark.line) + 1;
}

yaml_document read_yaml(std::string_view text) {
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    yaml_document read;
    try {
        const std::string copy{text};
        read.root = YAML::Load(copy);
        check_root(read);
        check_end(copy, read.faults);
    } catch (const YAML::Exception& error) {
        read = {{}, {fault_of(error, text)}};
    } catch (const std::exception& error) {
        read = {{}, {{0, std::string{not_yaml} + error.what()}}};
    }
    return read;
}

std::string yaml_scalar(std::string_view text) {
    return is_plain(text) ? std::string{text} : in_yaml_quotes(text);
}

std::string yaml_line(const YAML::Node& value) {
    if (value.IsScalar()) return yaml_scalar(value.Scalar());
    if (!value.IsMap() && !value.IsSequence()) return "null";
    std::string out;
    for (const auto& each : value) {
        out += out.empty() ? "" : ", ";
        out += value.IsMap() ? yaml_scalar(each.first.Scalar()) + ": " + yaml_line(each.second) : yaml_line(each);
    }
    return value.IsMap() ? "{" + out + "}" : "[" + out + "]";
}

std::string yaml_text(const YAML::Node& map) {
    std::string out;
    append_lines(out, map, 0, true);
    return out;
}

}  // namespace seriesgate
