/// Text that is not to be read by everyone who reads logs and pages.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace seriesgate {

/// A text that may hold secrets. It neither turns into a string nor is formatted by accident: who needs what it says
/// asks for it, and then answers for where it goes.
class secret_text {
    std::string text_;

  public:
    secret_text() = default;
    secret_text(std::string text) : text_(std::move(text)) {}
    secret_text(std::string_view text) : text_(text) {}
    secret_text(const char* text) : text_(text) {}

    /// For the connection that it is meant for; never for a log, a page or an answer.
    [[nodiscard]] const std::string& reveal() const noexcept { return text_; }

    friend bool operator==(const secret_text&, const secret_text&) = default;
};

/// What stands for a secret in what is shown.
inline constexpr std::string_view secret_mark = "<secret>";

/// A text without what may be a secret in URLs that stand in it: `http://user:pass@host/path?token=x` becomes
/// `http://<secret>@host/path?<secret>`. A query goes to the end of the text: a URL that is none has no other end.
std::string without_secrets(std::string_view text);

/// A text from outside without this secret, unless it is too short to be one: whoever was sent it may repeat it.
std::string without(const secret_text& secret, std::string_view text);

/// A text from outside without the arguments of this URL's query: whoever was sent them may repeat them.
std::string without_arguments_of(const secret_text& url, std::string_view text);

}  // namespace seriesgate
