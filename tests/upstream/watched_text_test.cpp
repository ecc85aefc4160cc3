#include "upstream/watched_text.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "support/captured_log.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

std::string fault_of(const std::string& path) {
    try {
        const watched_text read{"a.passwordFile", path};
        return "";
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

std::string text_in(const std::string& path) {
    return watched_text{"a.passwordFile", path}.text().reveal();
}

}  // namespace

TEST_CASE("a secret is the one line of its file") {
    const scratch_directory folder;
    const std::string path = folder / "password";
    for (const std::string text : {"hunter2", "hunter2\n", "hunter2\r\n"}) {
        write_file(path, text);
        CHECK(text_in(path) == "hunter2");
    }
    write_file(path, " a: b\xc3\xa4 \n");
    CHECK(text_in(path) == " a: b\xc3\xa4 ");
    write_file(path, std::string(watched_text::bytes_max, 'x'));
    CHECK(text_in(path).size() == watched_text::bytes_max);
}

TEST_CASE("what is no secret is told without it") {
    const scratch_directory folder;
    const std::string path = folder / "password";
    const auto told = [&](const std::string& text) {
        write_file(path, text);
        return fault_of(path);
    };
    const std::string head = "a.passwordFile: " + path + " ";
    CHECK(fault_of(path) == "a.passwordFile: cannot read " + path + ": No such file or directory");
    CHECK(fault_of(std::filesystem::path{path}.parent_path()).ends_with(": not a file"));
    CHECK(told("") == head + "is empty");
    CHECK(told("\n") == head + "is empty");
    CHECK(told("hunter2\nhunter3\n") == head + "holds more than one line, or control characters");
    CHECK(told(std::string("hunter2\0", 8)) == head + "holds more than one line, or control characters");
    CHECK(told("hunter2\n\n") == head + "holds more than one line, or control characters");
    CHECK(told(std::string(watched_text::bytes_max + 1, 'x')) == head + "holds more than 8 KiB");
    CHECK(told(std::string(1'000'000, 'x')) == head + "holds more than 8 KiB");
}

TEST_CASE("a pipe that nobody writes to is waited for by nobody") {
    const scratch_directory folder;
    const std::string path = folder / "pipe";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    CHECK(fault_of(path) == "a.passwordFile: cannot read " + path + ": not a file");
}

TEST_CASE("a secret is read again when its file has changed") {
    const scratch_directory folder;
    const std::string path = folder / "password";
    write_file(path, "one");
    watched_text secret{"a.passwordFile", path};
    const captured_log log;
    CHECK_FALSE(secret.refresh());
    CHECK(secret.text().reveal() == "one");
    write_file(path, "two\n");  // written over, within the same tick or not
    CHECK(secret.refresh());
    CHECK(secret.text().reveal() == "two");
    CHECK_FALSE(secret.refresh());
    write_file(folder / "next", "six");  // replaced
    std::filesystem::rename(folder / "next", path);
    CHECK(secret.refresh());
    CHECK(secret.text().reveal() == "six");
    const std::string line = "level=info msg=\"a secret file was read\" key=a.passwordFile file=" + path + "\n";
    CHECK(log.text() == line + line);
}

TEST_CASE("a secret is kept while its file holds none, and that is said once") {
    const scratch_directory folder;
    const std::string path = folder / "password";
    write_file(path, "one");
    watched_text secret{"a.passwordFile", path};
    const captured_log log;
    std::filesystem::remove(path);
    for (int i = 0; i < 3; ++i) CHECK_FALSE(secret.refresh());
    write_file(path, "");
    for (int i = 0; i < 3; ++i) CHECK_FALSE(secret.refresh());
    CHECK(secret.text().reveal() == "one");
    write_file(path, "one");  // well again, and the same
    CHECK_FALSE(secret.refresh());
    write_file(path, "two");
    CHECK(secret.refresh());
    CHECK(secret.text().reveal() == "two");
    const std::string bad =
        "level=warn msg=\"a secret file cannot be used, what it held before is kept\" key=a.passwordFile err=\"";
    const std::string good = "level=info msg=\"a secret file was read\" key=a.passwordFile file=" + path + "\n";
    CHECK(log.text() ==
          bad + "cannot read " + path + ": No such file or directory\"\n" + bad + path + " is empty\"\n" + good + good);
}
