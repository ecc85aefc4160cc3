#include "series/query_answer.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <cstdint>
#include <utility>
#include <vector>

namespace seriesgate {
namespace {

namespace json = boost::json;

constexpr std::size_t message_bytes_max = 4'096;
/// Stores have a few dozens.
constexpr std::size_t labels_max = 4'096;

/// The events of Boost.JSON's parser. Only a few places of the document matter: /status, /error, /warnings/*,
/// /isPartial, /data/* and /data/result/*/metric.
class handler {
    // Names of this interface are Boost.JSON's.
  public:
    static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_key_size = query_answer::text_bytes_max;
    static constexpr std::size_t max_string_size = query_answer::text_bytes_max;

    query_answer::take_series series;
    query_answer::take_text text;
    std::string error, warning;
    bool is_success = false;
    bool is_too_long = false;

    bool on_document_begin(json::error_code&) {
        texts_.reserve(query_answer::text_bytes_max);
        return true;
    }
    bool on_document_end(json::error_code&) { return true; }

    bool on_object_begin(json::error_code&) {
        if (depth_ == metric_depth && is_at("data", "result", "metric")) {
            is_in_metric_ = true;
            labels_.clear();
            texts_.clear();
        }
        return descend();
    }
    bool on_object_end(std::size_t, json::error_code&) {
        --depth_;
        if (depth_ == metric_depth && std::exchange(is_in_metric_, false)) give_series();
        return true;
    }
    bool on_array_begin(json::error_code&) { return descend(); }
    bool on_array_end(std::size_t, json::error_code&) {
        --depth_;
        return true;
    }

    bool on_key_part(json::string_view part, std::size_t, json::error_code&) { return collect(part); }
    bool on_key(json::string_view part, std::size_t, json::error_code& failed) {
        if (!collect(part)) return fail(failed);
        if (is_label())
            label_name_ = keep(collected_);
        else if (depth_ <= keys_max)
            keys_[depth_ - 1] = collected_;
        collected_.clear();
        return true;
    }
    bool on_string_part(json::string_view part, std::size_t, json::error_code&) { return collect(part); }
    bool on_string(json::string_view part, std::size_t, json::error_code& failed) {
        if (!collect(part)) return fail(failed);
        take_string();
        collected_.clear();
        return !is_too_long || fail(failed);
    }
    bool on_bool(bool value, json::error_code&) {
        if (value && depth_ == 1 && keys_[0] == "isPartial" && warning.empty()) warning = "the answer is partial";
        return true;
    }

    bool on_number_part(json::string_view, json::error_code&) { return true; }
    bool on_int64(std::int64_t, json::string_view, json::error_code&) { return true; }
    bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return true; }
    bool on_double(double, json::string_view, json::error_code&) { return true; }
    bool on_null(json::error_code&) { return true; }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }

  private:
    /// {data: {result: [{metric: {` : the objects and arrays around a label.
    static constexpr std::size_t metric_depth = 4;
    static constexpr std::size_t keys_max = 4;

    bool descend() {
        if (++depth_ <= keys_max) keys_[depth_ - 1].clear();
        return true;
    }
    /// An array has an empty key.
    [[nodiscard]] bool is_at(std::string_view first, std::string_view second, std::string_view fourth) const {
        return keys_[0] == first && keys_[1] == second && keys_[2].empty() && keys_[3] == fourth;
    }
    [[nodiscard]] bool is_label() const { return is_in_metric_ && depth_ == metric_depth + 1; }

    bool collect(json::string_view part) {
        if (collected_.size() + part.size() > query_answer::text_bytes_max) is_too_long = true;
        if (!is_too_long) collected_.append(part.data(), part.size());
        return true;
    }
    bool fail(json::error_code& failed) {
        failed = json::make_error_code(json::error::string_too_large);
        return false;
    }
    /// A copy in texts_.
    std::string_view keep(std::string_view one) {
        const std::size_t at = texts_.size();
        is_too_long = is_too_long || at + one.size() > query_answer::text_bytes_max;
        if (!is_too_long) texts_.append(one);
        return std::string_view{texts_}.substr(at);
    }

    void take_string() {
        if (is_label()) {
            labels_.push_back({label_name_, keep(collected_)});
            is_too_long = is_too_long || labels_.size() > labels_max;
        } else if (depth_ == 1) {
            if (keys_[0] == "status") is_success = collected_ == "success";
            if (keys_[0] == "error" || (keys_[0] == "errorType" && error.empty())) error = message();
        } else if (depth_ == 2 && keys_[1].empty()) {
            if (keys_[0] == "warnings" && warning.empty()) warning = message();
            if (keys_[0] == "data" && text) text(collected_);
        }
    }

    [[nodiscard]] std::string message() const { return collected_.substr(0, message_bytes_max); }

    /// An empty value is no label. Two labels of one name do not occur in a store; such a series is left out.
    void give_series() {
        std::erase_if(labels_, [](const label_view& each) { return each.value.empty(); });
        std::ranges::sort(labels_, {}, &label_view::name);
        const auto twice = std::ranges::adjacent_find(labels_, {}, &label_view::name);
        if (!labels_.empty() && twice == labels_.end() && series) series(labels_);
    }

    std::size_t depth_ = 0;  // of open objects and arrays
    bool is_in_metric_ = false;
    std::string keys_[keys_max];
    std::string collected_;  // the key or string so far
    std::string texts_;      // of the labels of one series; never moves, so that views into it stay valid
    std::string_view label_name_;
    std::vector<label_view> labels_;
};

json::parse_options lenient() {
    json::parse_options options;
    options.allow_invalid_utf8 = true;  // as in remote write
    return options;
}

}  // namespace

struct query_answer::state {
    json::basic_parser<handler> parser{lenient()};
    std::string fault;
};

query_answer::query_answer(take_series series, take_text text) : state_(std::make_unique<state>()) {
    state_->parser.handler().series = std::move(series);
    state_->parser.handler().text = std::move(text);
}
query_answer::~query_answer() = default;

bool query_answer::write(std::string_view bytes) {
    if (!state_->fault.empty()) return false;
    json::error_code failed;
    std::size_t taken = state_->parser.write_some(true, bytes.data(), bytes.size(), failed);
    if (!failed && state_->parser.done()) {  // only white space may follow
        taken = std::min(bytes.find_first_not_of(" \t\r\n", taken), bytes.size());
        if (taken != bytes.size()) failed = json::make_error_code(json::error::extra_data);
    }
    if (failed) state_->fault = "the answer is not that of a query API: " + failed.message();
    return !failed;
}

std::string query_answer::fault() {
    if (!state_->fault.empty()) return state_->fault;
    if (!state_->parser.done()) return "the answer ends too early";
    const handler& read = state_->parser.handler();
    if (!read.error.empty()) return readable(read.error);
    return read.is_success ? "" : "the answer is not that of a query API: no \"status\"";
}

const std::string& query_answer::error() const noexcept {
    return state_->parser.handler().error;
}

const std::string& query_answer::warning() const noexcept {
    return state_->parser.handler().warning;
}

}  // namespace seriesgate
