#include "simulation/simulation.hpp"

#include "base/random.hpp"
#include "process/startup_steps.hpp"

namespace seriesgate::testing {
namespace {

/// With what a test need not say.
load_outcome load(const std::string& yaml) {
    const std::string listens =
        yaml.find("\nlisten:") == std::string::npos && !yaml.starts_with("listen:") ? "listen: 127.0.0.1:9201\n" : "";
    const std::string forwards =
        yaml.find("upstream:") == std::string::npos ? "upstream: {url: 'http://10.0.0.9:8428/api/v1/write'}\n" : "";
    const std::string serves = yaml.find("server:") == std::string::npos ? "server: {threads: 1}\n" : "";
    return load_config_text(yaml + "\n" + listens + forwards + serves, "gate.yaml", {});
}

}  // namespace

simulation::simulation(std::uint64_t seed, std::chrono::system_clock::time_point begins)
    : time(begins), chance_(seed), sink_([this](const std::string& line) { said += line; }) {
    log::redirect(&sink_);
    install_random_source([this](std::span<std::byte> bytes) {
        for (std::byte& each : bytes) each = static_cast<std::byte>(chance_());
    });
    time.add(network.loop());
    time.add(peers);
}

simulation::~simulation() {
    kill_gate();
    network.give_back(false);
    time.remove_all();
    install_random_source({});
    log::redirect(nullptr);
}

void simulation::start_gate(const std::string& yaml) {
    yaml_ = yaml;
    auto loaded = std::make_unique<load_outcome>(load(yaml));
    if (!loaded->ok()) throw std::runtime_error(loaded->errors.front().text());
    start_gate(std::move(loaded), {}, [this] { return load(yaml_); });
    if (!time.run_until([&] { return gate_->is_ready(); }, std::chrono::seconds{30}))
        throw std::runtime_error("the gate does not become ready: " + said);
}

void simulation::start_gate(std::unique_ptr<load_outcome> loaded, const command_line& asked,
                            std::function<load_outcome()> read_again) {
    loaded_ = std::move(loaded);
    log::set_up(loaded_->value.log.format, loaded_->value.log.level);
    log_warnings(*loaded_);
    const thread_starter by_hand = [this](net::io_context& loop, const std::string&) {
        gate_loops_.push_back(&loop);
        time.add(loop);
        return std::jthread{};
    };
    gate_ = std::make_unique<process>(loaded_->value, asked, std::move(read_again), by_hand);
    gate_loops_.push_back(&gate_->acceptor());
    time.add(gate_->acceptor());
    gate_->begin();
}

bool simulation::stop_gate(std::chrono::seconds limit) {
    gate_->drain();
    const bool ended = time.run_until([&] { return gate_->is_over(); }, limit);
    kill_gate();
    return ended;
}

void simulation::kill_gate() {
    for (net::io_context* const each : gate_loops_) time.remove(*each);
    gate_loops_.clear();
    network.give_back(true);
    gate_.reset();
    if (loaded_) time.run_ready();
}

http_answer simulation::ask(std::string target) {
    http_sender one = sender("10.9.9.9");
    return run(one.send(get(std::move(target))));
}

http_answer simulation::post(http_message message) {
    http_sender one = sender();
    return run(one.send(std::move(message)));
}

}  // namespace seriesgate::testing
