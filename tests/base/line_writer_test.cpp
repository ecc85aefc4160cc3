#include "base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace {

std::string describe(std::uint64_t lines) {
    return "lost " + std::to_string(lines) + "\n";
}

/// A pipe whose reader reads when it is told to.
struct slow_reader {
    std::array<int, 2> ends{};

    slow_reader() { REQUIRE(::pipe(ends.data()) == 0); }
    slow_reader(const slow_reader&) = delete;
    slow_reader& operator=(const slow_reader&) = delete;
    ~slow_reader() {
        close_reading();
        ::close(ends[1]);
    }
    void close_reading() {
        if (ends[0] >= 0) ::close(ends[0]);
        ends[0] = -1;
    }
    /// Until so many bytes have come.
    [[nodiscard]] std::string read(std::size_t bytes) const {
        std::string all(bytes, '\0');
        for (std::size_t done = 0; done < bytes;) {
            const auto some = ::read(ends[0], all.data() + done, bytes - done);
            REQUIRE(some > 0);
            done += static_cast<std::size_t>(some);
        }
        return all;
    }
};

}  // namespace

TEST_CASE("lines are written whole and in order") {
    slow_reader reader;
    log::line_writer writer{reader.ends[1], describe};
    std::string all;
    for (int i = 0; i < 1000; ++i) {
        const std::string line = std::to_string(i) + std::string(static_cast<std::size_t>(i % 90), 'x') + "\n";
        all += line;
        writer.put(line);
    }
    all += std::string(20'000, 'y') + "\n";
    writer.put(std::string(20'000, 'y') + "\n");
    CHECK(reader.read(all.size()) == all);
    writer.flush(10s);
    CHECK(writer.lost() == 0);
}

TEST_CASE("nobody waits for who reads: what is too much is lost, counted and told of") {
    slow_reader reader;
    log::line_writer writer{reader.ends[1], describe};
    const std::string line = std::string(1023, 'x') + "\n";
    constexpr std::size_t fit = log::line_writer::queued_bytes_max / 1024;
    const auto began = std::chrono::steady_clock::now();
    std::size_t put = 0;
    while (writer.lost() < 5) {
        writer.put(line);
        ++put;
    }
    writer.flush(1ms);
    CHECK(std::chrono::steady_clock::now() - began < 5s);
    CHECK(put >= fit + 5);            // the queue,
    CHECK(put <= fit + 5 + 64 + 64);  // and what a pipe takes
    std::string all = reader.read((put - writer.lost()) * line.size());
    CHECK(all.find("lost") == std::string::npos);
    writer.put("next\n");
    CHECK(reader.read(12) == "lost 5\nnext\n");
    writer.put("and next\n");
    CHECK(reader.read(9) == "and next\n");
}

TEST_CASE("a reader that never reads does not keep the writer from ending") {
    slow_reader reader;
    const auto began = std::chrono::steady_clock::now();
    {
        log::line_writer writer{reader.ends[1], describe};
        for (int i = 0; i < 100; ++i) writer.put(std::string(4096, 'x'));
    }
    CHECK(std::chrono::steady_clock::now() - began < 5s);
}

TEST_CASE("a reader that has gone costs lines and nothing else") {
    slow_reader reader;
    log::line_writer writer{reader.ends[1], describe};
    reader.close_reading();
    for (std::uint64_t i = 1; i <= 3; ++i) {
        writer.put("line\n");
        writer.flush(10s);
        CHECK(writer.lost() == i);  // and the lines that tell of lost ones are not counted
    }
}

TEST_CASE("a full disk costs the lines that do not fit") {
    const int full = ::open("/dev/full", O_WRONLY);
    if (full < 0) return;
    {
        log::line_writer writer{full, describe};
        writer.put("line\n");
        writer.flush(10s);
        CHECK(writer.lost() == 1);
    }
    ::close(full);
}
