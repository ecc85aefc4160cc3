#include "config/checks.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "config/load.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace secret_files_test {
namespace {

struct scene {
    scratch_directory folder;

    std::string file(const std::string& name, mode_t mode,
                     const std::string& text = "12345678901234567890123456789012") {
        const std::string path = (folder / name.c_str()).string();
        write_file(path, text);
        REQUIRE(::chmod(path.c_str(), mode) == 0);
        return path;
    }
};

std::string has(const std::string& path, const std::string& what) {
    return "has a secret in '" + path + "', which " + what;
}

constexpr auto readable = "every user can read: chmod o= keeps it to its owner and group";

}  // namespace

TEST_CASE("a secret that other users get at is doubtful") {
    scene at;
    CHECK(doubt_of_secret_file("").empty());
    CHECK(doubt_of_secret_file((at.folder / "none").string()).empty());
    for (const mode_t mode : {0400u, 0600u, 0640u, 0660u}) CHECK(doubt_of_secret_file(at.file("kept", mode)).empty());
    const std::string read = at.file("read", 0644), written = at.file("written", 0602);
    CHECK(doubt_of_secret_file(read) == has(read, readable));
    CHECK(doubt_of_secret_file(written) == has(written, "every user can change"));
    const std::string link = (at.folder / "link").string();
    std::filesystem::create_symlink(read, link);
    CHECK(doubt_of_secret_file(link) == has(link, readable));
}

TEST_CASE("a secret that other users can replace is doubtful") {
    scene at;
    const std::string kept = at.file("kept", 0600), folder = (at.folder / "").parent_path().string();
    REQUIRE(::chmod(folder.c_str(), 0777) == 0);
    CHECK(doubt_of_secret_file(kept) ==
          has(kept, "stands in the directory '" + folder + "', where every user can replace it"));
    REQUIRE(::chmod(folder.c_str(), 01777) == 0);  // as /tmp: each may remove only what is their own
    CHECK(doubt_of_secret_file(kept).empty());
    if (::geteuid() != 0) return;  // nobody else can give files away
    REQUIRE(::chown(folder.c_str(), 65'534, 0) == 0);
    CHECK(doubt_of_secret_file(kept) ==
          has(kept, "stands in the directory '" + folder + "', which belongs to the user 65534"));
    REQUIRE(::chown(kept.c_str(), 65'534, 0) == 0);
    CHECK(doubt_of_secret_file(kept) == has(kept, "belongs to the user 65534"));
}

TEST_CASE("every file with a secret is looked at") {
    scene at;
    const std::string open = at.file("open", 0644), token = at.file("token", 0644, "token\n");
    const std::string hash = "$2y$10$abcdefghijklmnopqrstuuRJ7zPjlYG4jZRNgXJ0kzeTjy2sOO5Pm";
    const std::string web = at.file("web.yml", 0644,
                                    "basic_auth_users: {shop: " + hash +
                                        "}\nbearer_tokens: [{name: a, token_file: token}]\n"
                                        "tls_server_config: {cert_file: open, key_file: open}\n");
    const std::string main =
        at.file("main.yaml", 0644,
                "upstream:\n  url: https://a/w?token=x\n  basicAuth: {username: a, passwordFile: " + open +
                    "}\n  tls: {certFile: " + open + ", keyFile: " + open +
                    "}\n  replicateTo: [{url: 'http://b/w', bearerTokenFile: " + open +
                    "}]\nfingerprint: {secretFile: " + open + "}\nshared: {url: 'rediss://c', passwordFile: " + open +
                    ", tls: {certFile: " + open + ", keyFile: " + open + "}}\nweb: {config: {file: " + web + "}}\n");
    const auto loaded = load_config(main, {});
    for (const config_error& error : loaded.errors) FAIL_CHECK(error.text());
    std::vector<std::string> told;
    for (const config_error& each : loaded.warnings)
        if (each.message.starts_with("has a secret")) told.push_back(each.text());
    const auto line = [&](const std::string& key, const std::string& path) {
        return main + ": warning: " + (key.empty() ? "" : key + ": ") + has(path, readable);
    };
    CHECK(told == std::vector<std::string>{
                      line("fingerprint.secretFile", open), line("upstream.basicAuth.passwordFile", open),
                      line("upstream.tls.keyFile", open), line("upstream.replicateTo[0].bearerTokenFile", open),
                      line("shared.passwordFile", open), line("shared.tls.keyFile", open), line("web.config.file", web),
                      line("web.config.file", open), line("web.config.file", token), line("", main)});
}

TEST_CASE("the secret of state.dir is one of them") {
    scene at;
    const std::string made = at.file("secret", 0644);
    config settings;
    settings.state.dir = (at.folder / "").parent_path().string();
    const auto doubts = lint_secret_files(settings, "");
    REQUIRE(doubts.size() == 1);
    CHECK(doubts[0].text() == "warning: state.dir: " + has(made, readable));
    settings.secret_file = at.file("other", 0600);
    CHECK(lint_secret_files(settings, "").empty());
}

}  // namespace secret_files_test
