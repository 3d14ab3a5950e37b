#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ksana::testing {

// Stands between a client and a server of this machine and does what networks do. Its threads end
// with it.
class TcpProxy {
  public:
    enum class Mode : std::uint8_t {
        kPass,
        kStall,      // hands on nothing until later, as a stopped server does
        kRefuse,     // takes no new connection, and ends those there are
        kCutBefore,  // ends the connection instead of handing on what holds the trigger
        kCutAfter,   // hands it on, waits for the answer, and ends the connection instead
    };

    // `trigger` is looked for in what the client sends; a cut happens once, and `after_cut` holds
    // from then on.
    TcpProxy(std::uint16_t server_port, std::string trigger);
    ~TcpProxy();
    TcpProxy(const TcpProxy&) = delete;
    TcpProxy& operator=(const TcpProxy&) = delete;

    std::uint16_t port() const { return port_; }
    void Set(Mode mode, Mode after_cut = Mode::kPass);
    int cuts() const { return cuts_; }

  private:
    void Accept(const std::stop_token& stop);
    void Serve(const std::stop_token& stop, int client);
    bool Pump(const std::stop_token& stop, int client, int server);
    bool FromClient(int client, int server, const std::string& bytes);
    void AwaitAnswer(int server);

    const std::uint16_t server_port_;
    const std::string trigger_;
    std::uint16_t port_ = 0;
    int listener_ = -1;
    std::atomic<Mode> mode_{Mode::kPass};
    std::atomic<Mode> after_cut_{Mode::kPass};
    std::atomic<int> cuts_{0};
    std::mutex mutex_;
    std::vector<std::jthread> servers_;  // guarded by mutex_
    std::jthread acceptor_;
};

}  // namespace ksana::testing
