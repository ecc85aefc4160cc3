/// A real Redis or Valkey for tests and benchmarks: a process on a socket file of its own, with nothing on disk.
///
/// SERIESGATE_REDIS_SERVER names the program, else it is redis-server. One that does not start is an exception.
#pragma once

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace seriesgate::testing {

class store_process {
    std::filesystem::path folder_;
    pid_t process_ = -1;

  public:
    store_process() : folder_(make_folder()) {
        process_ = start(folder_);
        wait_until_ready();
    }
    store_process(const store_process&) = delete;
    store_process& operator=(const store_process&) = delete;
    ~store_process() { stop(); }

    [[nodiscard]] std::string socket() const { return folder_ / "s"; }

  private:
    static std::filesystem::path make_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "seriesgate-store-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no folder for a store: " + name};
        return name;
    }

    static pid_t start(const std::filesystem::path& folder) {
        const char* named = std::getenv("SERIESGATE_REDIS_SERVER");
        const std::string program = named != nullptr ? named : "redis-server";
        const std::string socket = folder / "s", log = folder / "log", where = folder;
        std::vector<const char*> words{program.c_str(), "--port", "0",     "--unixsocket", socket.c_str(),
                                       "--save",        "",       "--dir", where.c_str(),  nullptr};
        const pid_t child = ::fork();
        if (child != 0) return child;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that crashes leaves none behind
        const int out = ::open(log.c_str(), O_WRONLY | O_CREAT, 0600);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(out, STDERR_FILENO);
        ::execvp(words.front(), const_cast<char* const*>(words.data()));
        ::_exit(127);
    }

    void wait_until_ready() {
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (std::chrono::steady_clock::now() < give_up && ::waitpid(process_, nullptr, WNOHANG) == 0) {
            const std::unique_ptr<redisContext, decltype(&redisFree)> there{redisConnectUnix(socket().c_str()),
                                                                            &redisFree};
            if (there && there->err == 0) return;
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
        stop();
        throw std::runtime_error{"no store: SERIESGATE_REDIS_SERVER or redis-server does not start"};
    }

    void stop() noexcept {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
};

/// A connection to one. What fails throws.
class store_connection {
    std::unique_ptr<redisContext, decltype(&redisFree)> context_;

  public:
    using reply = std::unique_ptr<redisReply, decltype(&freeReplyObject)>;

    explicit store_connection(const store_process& to) : context_(redisConnectUnix(to.socket().c_str()), &redisFree) {
        if (!context_ || context_->err != 0) throw std::runtime_error{"no connection to the store"};
    }

    void send(const std::vector<std::string>& words) {
        std::vector<const char*> texts;
        std::vector<std::size_t> sizes;
        for (const std::string& word : words) {
            texts.push_back(word.data());
            sizes.push_back(word.size());
        }
        redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
    }

    reply receive() {
        void* received = nullptr;
        if (redisGetReply(context_.get(), &received) != REDIS_OK) throw std::runtime_error{context_->errstr};
        return {static_cast<redisReply*>(received), &freeReplyObject};
    }

    /// Errors are replies, too.
    reply ask(const std::vector<std::string>& words) {
        send(words);
        return receive();
    }

    std::string text(const std::vector<std::string>& words) {
        const reply got = ask(words);
        if (got->str == nullptr) throw std::runtime_error{"not a text: " + words.front()};
        return {got->str, static_cast<std::size_t>(got->len)};
    }

    std::int64_t number(const std::vector<std::string>& words) {
        const reply got = ask(words);
        if (got->type != REDIS_REPLY_INTEGER) throw std::runtime_error{"not a number: " + words.front()};
        return got->integer;
    }

    std::vector<std::string> texts(const std::vector<std::string>& words) {
        const reply got = ask(words);
        if (got->type != REDIS_REPLY_ARRAY) throw std::runtime_error{"no list: " + words.front()};
        std::vector<std::string> list;
        for (std::size_t i = 0; i < got->elements; ++i)
            list.emplace_back(got->element[i]->str, static_cast<std::size_t>(got->element[i]->len));
        return list;
    }
};

}  // namespace seriesgate::testing
