#include "net/watched_file.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <stdexcept>

#include "support/captured_log.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

namespace seriesgate::testing::secret_file_test {
namespace {

std::string fault_of(const std::string& path) {
    try {
        const secret_file read{"a.passwordFile", path};
        return "";
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

std::string text_in(const std::string& path) {
    return secret_file{"a.passwordFile", path}.secret().reveal();
}

TEST_CASE("a secret is the one line of its file") {
    const scratch_directory folder;
    const std::string path = folder / "password";
    for (const std::string text : {"hunter2", "hunter2\n", "hunter2\r\n"}) {
        write_file(path, text);
        CHECK(text_in(path) == "hunter2");
    }
    write_file(path, " a: b\xc3\xa4 \n");
    CHECK(text_in(path) == " a: b\xc3\xa4 ");
    write_file(path, std::string(secret_file::bytes_max, 'x'));
    CHECK(text_in(path).size() == secret_file::bytes_max);
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
    CHECK(told(std::string(secret_file::bytes_max + 1, 'x')) == head + "holds more than 8 KiB");
    CHECK(told(std::string(1'000'000, 'x')) == head + "holds more than 8 KiB");
}

TEST_CASE("a pipe that nobody writes to is waited for by nobody") {
    const scratch_directory folder;
    const std::string path = folder / "pipe";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    CHECK(fault_of(path) == "a.passwordFile: cannot read " + path + ": not a file");
}

/// A secret whose file is looked at every second.
struct watched_secret {
    scratch_directory folder{};
    std::string path = folder / "password";
    monotonic_clock::time_point now{};
    secret_file file;

    watched_secret() : file((write_file(path, "one"), "a.passwordFile"), path) {}

    /// @return what has come of it after so many seconds
    std::string after(int seconds) {
        for (; seconds > 0; --seconds) file.refresh({.now = now += 1s});
        return file.secret().reveal();
    }
    void replace(const std::string& text) const {
        write_file(folder / "next", text);
        std::filesystem::rename(folder / "next", path);
    }
};

TEST_CASE("a secret is read again when its file has changed, and then no more for two seconds") {
    watched_secret one;
    const captured_log log;
    CHECK(one.after(3) == "one");
    write_file(one.path, "two\n");  // written over, within the same tick or not
    CHECK(one.after(2) == "one");
    CHECK(one.after(1) == "two");
    one.replace("six");
    CHECK(one.after(2) == "two");
    CHECK(one.after(1) == "six");
    CHECK_FALSE(one.file.refresh({.now = one.now += 1s}));
    const std::string line = "level=info msg=\"a secret file was read\" key=a.passwordFile file=" + one.path + "\n";
    CHECK(log.text() == line + line);
}

TEST_CASE("a half-written secret is never used, however slowly it comes") {
    watched_secret one;
    for (const std::string part : {"", "hun", "hunter", "hunter2"}) {
        write_file(one.path, part);
        CHECK(one.after(2) == "one");
    }
    CHECK(one.after(1) == "hunter2");
    CHECK(one.file.fault().empty());
}

TEST_CASE("a secret is read at once when somebody says that its file is whole") {
    watched_secret one;
    write_file(one.path, "two");
    CHECK(one.file.refresh({.now = one.now, .are_whole = true}));
    CHECK(one.file.secret().reveal() == "two");
    CHECK(one.after(5) == "two");
}

TEST_CASE("a secret is kept while its file holds none, and that is said once") {
    watched_secret one;
    const captured_log log;
    std::filesystem::remove(one.path);
    CHECK(one.after(10) == "one");
    write_file(one.path, "");
    CHECK(one.after(10) == "one");
    CHECK(one.file.fault() == one.path + " is empty");
    write_file(one.path, "one");  // well again, and the same
    CHECK(one.after(10) == "one");
    write_file(one.path, "two");
    CHECK(one.after(3) == "two");
    const std::string bad =
        "level=warn msg=\"a secret file cannot be used, what it held before is kept\" key=a.passwordFile err=\"";
    const std::string good = "level=info msg=\"a secret file was read\" key=a.passwordFile file=" + one.path + "\n";
    CHECK(log.text() == bad + "cannot read " + one.path + ": No such file or directory\"\n" + bad + one.path +
                            " is empty\"\n" + good + good);
}

}  // namespace
}  // namespace seriesgate::testing::secret_file_test
