#include "net/tls_files.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "net/certificate.hpp"
#include "net/openssl.hpp"
#include "support/captured_log.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

namespace seriesgate::testing::tls_files_test {
namespace {

/// A server's certificate and key in files.
struct scene {
    scratch_directory folder;
    std::string certificate = folder / "tls.crt";
    std::string key = folder / "tls.key";

    scene() { write(server_certificate("first.test")); }

    void write(const testing::certificate& from) const {
        write_file(certificate, from.chain);
        write_file(key, from.key);
    }
    [[nodiscard]] result<std::unique_ptr<tls_files>, std::string> load() const {
        return tls_files::load({.role = tls_role::server}, {.certificates = certificate, .key = key});
    }
    [[nodiscard]] std::unique_ptr<tls_files> loaded() const {
        auto made = load();
        REQUIRE(made.has_value());
        return std::move(*made);
    }
    [[nodiscard]] std::string fault() const {
        const auto loaded = load();
        REQUIRE(loaded.has_error());
        return loaded.error();
    }
};

std::string subject(const std::unique_ptr<tls_files>& of) {
    return of->current()->subject;
}

/// Looks at the files once a second, so many times; what has changed before then counts at the third.
void look(tls_files& at, int times = 3) {
    static monotonic_clock::time_point now{};
    for (; times > 0; --times) at.refresh({.now = now += 1s});
}

TEST_CASE("files make a context, and what is wrong with them is said with the file's name") {
    const scene with;
    SECTION("all is well") {
        CHECK(subject(with.loaded()) == "CN=first.test");
    }
    SECTION("a file is not there") {
        std::filesystem::remove(with.key);
        CHECK(with.fault() == "cannot read " + with.key + ": No such file or directory");
    }
    SECTION("a folder, and a pipe that nobody writes to") {
        std::filesystem::remove(with.key);
        std::filesystem::create_directory(with.key);
        CHECK(with.fault() == "cannot read " + with.key + ": not a file");
        std::filesystem::remove(with.key);
        REQUIRE(::mkfifo(with.key.c_str(), 0600) == 0);
        CHECK(with.fault() == "cannot read " + with.key + ": not a file");
    }
    SECTION("it is without end") {
        write_file(with.certificate, std::string(text_file::bytes_max + 1, 'x'));
        CHECK(with.fault() == with.certificate + " is too large");
    }
    SECTION("it is something else") {
        write_file(with.certificate, "no such thing");
        CHECK(with.fault() == with.certificate + ": no certificate in it");
    }
    SECTION("the two files were mixed up") {
        const std::string both = read_file(with.key);
        write_file(with.certificate, both);
        CHECK(with.fault() == with.certificate + ": no certificate in it");
        write_file(with.certificate, server_certificate("other.test").chain);
        write_file(with.key, read_file(with.certificate));
        CHECK(with.fault() == with.key + ": no private key in it");
    }
    SECTION("the key is another's") {
        write_file(with.key, server_certificate("other.test").key);
        CHECK(with.fault() == with.certificate + " and " + with.key + ": the key does not belong to the certificate");
    }
}

TEST_CASE("files that have changed are taken, and connections keep what they began with") {
    const scene with;
    const auto files = with.loaded();
    const auto before = files->current();
    const captured_log said;
    look(*files);
    CHECK(files->current() == before);
    with.write(server_certificate("second.test"));
    look(*files, 2);
    CHECK(files->current() == before);
    look(*files, 1);
    CHECK(subject(files) == "CN=second.test");
    CHECK(before->subject == "CN=first.test");
    CHECK(said.text().find("level=info msg=\"TLS files taken\" certificate=\"CN=second.test\" not_after=20") !=
          std::string::npos);
}

TEST_CASE("a link that is set to another file, as Kubernetes does, is a change") {
    const scene with;
    const auto second = server_certificate("second.test");
    write_file(with.folder / "new.crt", second.chain);
    write_file(with.folder / "new.key", second.key);
    const std::string certificate = with.folder / "link.crt";
    const std::string key = with.folder / "link.key";
    std::filesystem::create_symlink(with.certificate, certificate);
    std::filesystem::create_symlink(with.key, key);
    auto loaded = tls_files::load({.role = tls_role::server}, {.certificates = certificate, .key = key});
    REQUIRE(loaded.has_value());
    for (const std::string& each : {certificate, key}) std::filesystem::remove(each);
    std::filesystem::create_symlink(with.folder / "new.crt", certificate);
    std::filesystem::create_symlink(with.folder / "new.key", key);
    look(**loaded);
    CHECK(subject(*loaded) == "CN=second.test");
}

TEST_CASE("files that are no good are not taken, which is said once, and so is that they are well again") {
    const scene with;
    const auto files = with.loaded();
    const auto before = files->current();
    const auto second = server_certificate("second.test");
    const captured_log said;
    SECTION("the moment between certificate and key is no fault") {
        write_file(with.certificate, second.chain);
        look(*files, 1);
        write_file(with.key, second.key);
        look(*files, 2);
        CHECK(files->current() == before);
        look(*files, 1);
        CHECK(subject(files) == "CN=second.test");
        CHECK(said.text().find("not taken") == std::string::npos);
    }
    SECTION("a fault that stays is one") {
        write_file(with.certificate, second.chain);
        look(*files, 7);
        CHECK(files->current() == before);
        const std::string line = "level=warn msg=\"TLS files not taken, the last good ones stay\" err=\"" +
                                 with.certificate + " and " + with.key +
                                 ": the key does not belong to the certificate\"\n";
        const std::string text = said.text();
        CHECK(text.find(line) != std::string::npos);
        CHECK(text.find("not taken") == text.rfind("not taken"));
        write_file(with.key, second.key);
        look(*files);
        CHECK(subject(files) == "CN=second.test");
        CHECK(said.text().find("msg=\"TLS files taken\"") != std::string::npos);
    }
    SECTION("files that go and come back as they were") {
        std::filesystem::rename(with.key, with.folder / "elsewhere");
        look(*files, 5);
        CHECK(files->current() == before);
        CHECK(said.text().find("err=\"cannot read " + with.key + ": No such file or directory\"") != std::string::npos);
        std::filesystem::rename(with.folder / "elsewhere", with.key);
        look(*files);
        CHECK(said.text().find("msg=\"TLS files taken\" certificate=\"CN=first.test\"") != std::string::npos);
    }
}

TEST_CASE("a certificate that soon expires is spoken of once a day") {
    const scene with;
    with.write(make_certificate({.common_name = "late.test", .lifetime = 8 * 24h}));
    const auto files = with.loaded();
    const auto now = std::chrono::system_clock::now();
    const captured_log said;
    const auto lines_by = [&](std::chrono::hours later) {
        files->refresh({}, now + later);
        const std::string text = said.text();
        return std::count(text.begin(), text.end(), '\n');
    };
    CHECK(lines_by(0h) == 0);
    CHECK(lines_by(23h) == 0);
    CHECK(lines_by(25h) == 1);
    CHECK(lines_by(48h) == 1);
    CHECK(lines_by(50h) == 2);
    CHECK(lines_by(9 * 24h) == 3);  // it has expired by then
    CHECK(said.text().find("msg=\"a TLS certificate expires soon, or has\" certificate=\"CN=late.test\"") !=
          std::string::npos);
}

TEST_CASE("a client without files trusts the system's authorities, and has nothing to read again") {
    auto loaded = tls_files::load({.role = tls_role::client}, {});
    REQUIRE(loaded.has_value());
    const auto before = (*loaded)->current();
    CHECK(before->subject.empty());
    CHECK_FALSE(not_after_of(*before).has_value());
    (*loaded)->refresh();
    CHECK((*loaded)->current() == before);
}

}  // namespace
}  // namespace seriesgate::testing::tls_files_test
