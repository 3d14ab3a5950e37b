#pragma once

#include <string>
#include <string_view>

namespace ksana::bench {

// One kept-alive connection to the server on loopback, for one request at a time. One thread. Every
// error ends the program.
class Wire {
  public:
    explicit Wire(int port);
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    int fd() const { return fd_; }

    // `headers`: more lines of the head, each with its end.
    void Post(std::string_view path, std::string_view body, std::string_view headers = {});
    // Receives bytes, blocking until some arrive. Returns whether the answer is complete.
    bool Receive();
    // Blocks until the answer is complete.
    void Await() {
        while (!Receive()) {
        }
    }

    // Status and body of the last complete answer; valid until the next Post.
    int status() const { return status_; }
    std::string_view body() const;

  private:
    const int fd_;
    std::string out_;
    std::string in_;
    std::size_t body_at_ = 0;
    std::size_t whole_ = 0;  // length of the answer, once its head has arrived
    int status_ = 0;
};

// Prints `why` and exits.
[[noreturn]] void Fail(const std::string& why);

}  // namespace ksana::bench
