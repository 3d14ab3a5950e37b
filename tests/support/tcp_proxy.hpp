#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ksana::testing {

// A proxy between a client and a server on this machine that simulates network failures. One thread
// accepts and one serves each connection; the destructor joins them. The test may call Set() and
// cuts() at any time.
class TcpProxy {
  public:
    enum class Mode : std::uint8_t {
        kPass,
        kStall,      // forwards nothing until the mode changes, like a stopped server
        kRefuse,     // closes new and existing connections
        kCutBefore,  // closes the connection instead of forwarding bytes with the trigger
        kCutAfter,   // forwards them, awaits the answer, then closes the connection
    };

    // `trigger` is a text to look for in the client's bytes. A cut happens once; then the proxy
    // switches to the mode `after_cut`. `answer` is a text in the server's answer to these bytes;
    // empty: the trigger (PostgreSQL answers "COMMIT" to a COMMIT).
    TcpProxy(std::uint16_t server_port, std::string trigger, const std::string& answer = {});
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
    const std::string answer_;
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
