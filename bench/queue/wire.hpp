#pragma once

#include <string>
#include <string_view>

namespace ksana::bench {

// One kept-alive connection to the server on loopback, for one request at a time. What fails ends
// the program: a benchmark has no other use for an error.
class Wire {
  public:
    explicit Wire(int port);
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    int fd() const { return fd_; }

    void Post(std::string_view path, std::string_view body);
    // Reads what is there, waiting if there is nothing. True: the answer is whole.
    bool Receive();
    // Until the answer is whole.
    void Await() {
        while (!Receive()) {
        }
    }

    // Of the last whole answer; until the next Post.
    int status() const { return status_; }
    std::string_view body() const;

  private:
    const int fd_;
    std::string out_;
    std::string in_;
    std::size_t body_at_ = 0;
    std::size_t whole_ = 0;  // length of the answer, once its head is there
    int status_ = 0;
};

[[noreturn]] void Fail(const std::string& why);

}  // namespace ksana::bench
