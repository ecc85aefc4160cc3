/// Text that must not appear in logs and pages, and functions that remove secrets from texts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace seriesgate {

/// A text that may hold secrets. It never converts to a string and is never formatted implicitly.
class secret_text {
    std::string text_;

  public:
    secret_text() = default;
    secret_text(std::string text) : text_(std::move(text)) {}
    secret_text(std::string_view text) : text_(text) {}
    secret_text(const char* text) : text_(text) {}

    /// For the connection that needs it; never for a log, a page or an answer.
    [[nodiscard]] const std::string& reveal() const noexcept { return text_; }

    friend bool operator==(const secret_text&, const secret_text&) = default;
};

/// Replaces a secret in shown texts.
inline constexpr std::string_view secret_mark = "<secret>";

/// Removes possible secrets from URLs in a text: `http://user:pass@host/path?token=x` becomes
/// `http://<secret>@host/path?<secret>`. A query extends to the end of the text, because an invalid URL has no other
/// end.
std::string without_secrets(std::string_view text);

/// Adds the arguments and values of a URL's query, encoded and decoded: a server may repeat any of them.
void add_arguments_of(const secret_text& url, std::vector<secret_text>& to);

/// Removes these secrets from a text from outside, whose author may repeat them. Keeps texts too short to be a secret.
std::string without(std::vector<secret_text> secrets, std::string_view text);

}  // namespace seriesgate
