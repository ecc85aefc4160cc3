/// Text that is not to be read by everyone who reads logs and pages.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// The arguments of a URL's query and their values, as they are written and as they are read: whoever is sent a
/// request may repeat any of these.
void add_arguments_of(const secret_text& url, std::vector<secret_text>& to);

/// A text from outside without these secrets, which whoever was sent them may repeat. What is too short to be a secret
/// stays.
std::string without(std::vector<secret_text> secrets, std::string_view text);

}  // namespace seriesgate
