#include "top/asking.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "top/answers.hpp"

namespace seriesgate::top {
namespace {

/// Of the lists of /stats: those with the most demand, of which those nearest to their limit are shown.
constexpr std::size_t budgets_max = 200;
constexpr std::size_t error_bytes_max = 200;

std::string fault_of(const answer& got, const std::string& target, bool has_credentials) {
    if (got.status == 401)
        return has_credentials ? "the gate does not know these credentials (401)"
                               : "the gate wants to know who asks (401): --username and --password-file, or "
                                 "--bearer-token-file, say it";
    if (got.status == 403) return "this user may not see the gate's figures (403)";
    const std::string path = target.substr(0, target.find('?'));
    if (got.status == 404) return path + " is not there (404): is this where the gate answers people (admin.listen)?";
    std::string says = error_in(got.body);
    if (says.empty()) says = got.body.substr(0, got.body.find('\n'));
    return fmt::format("{} answers {}: {}", path, got.status, says.substr(0, error_bytes_max));
}

/// There are more budgets than lines, and a server may say more than it was asked.
void keep_to(std::size_t lines_max, figures& of) {
    const auto keep = [lines_max](auto& list) {
        if (list.size() > lines_max) list.resize(lines_max);
    };
    keep(of.findings);
    keep(of.talkers);
    keep(of.budgets);
    keep(of.refused);
    keep(of.backends);
}

}  // namespace

net::awaitable<result<figures, std::string>> ask(gate_client& gate, question asked, std::size_t lines_max) {
    using outcome = result<figures, std::string>;
    const std::string window = asked.daily ? "daily" : "hourly";
    const std::array<std::string, 4> targets{fmt::format("/stats?limit={}", budgets_max),
                                             fmt::format("/api/v1/findings?window={}", window),
                                             fmt::format("/api/v1/top?by={}&kind={}&window={}&limit={}", asked.by,
                                                         asked.refused ? "refused" : "new", window, lines_max),
                                             fmt::format("/api/v1/refused?limit={}", lines_max)};
    figures made;
    made.asked = asked;
    for (std::size_t each = 0; each < targets.size(); ++each) {
        const std::string& target = targets[each];
        const auto got = co_await gate.get(target);
        if (!got) co_return outcome{got.error()};
        if (got->status != 200) co_return outcome{fault_of(*got, target, gate.has_credentials())};
        std::string fault;
        if (each == 0) fault = take_stats(made, got->body);
        if (each == 1) fault = take_findings(made, got->body);
        if (each == 2) fault = take_talkers(made, got->body, asked.by);
        if (each == 3) fault = take_refused(made, got->body);
        if (!fault.empty()) co_return outcome{std::move(fault)};
    }
    keep_to(lines_max, made);
    co_return outcome{std::move(made)};
}

}  // namespace seriesgate::top
