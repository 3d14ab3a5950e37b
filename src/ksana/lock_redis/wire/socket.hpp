#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/lock_redis/wire/deadline.hpp"

namespace ksana::lock_redis {

// A TCP connection whose calls end by a deadline. For one thread at a time; the destructor closes
// it. After an error it is of no use; cut() tells whether the other side ended it.
class Socket {
  public:
    // Tries every address of the host until the deadline.
    static Result<Socket> Connect(const std::string& host, std::uint16_t port,
                                  const Deadline& deadline);

    Socket(Socket&& other) noexcept;
    Socket& operator=(Socket&& other) noexcept;
    ~Socket();

    Result<void> Send(std::string_view bytes, const Deadline& deadline);

    // Appends what has arrived, at least one byte.
    Result<void> Receive(std::string& bytes, const Deadline& deadline);

    // Notes that the other side has ended the connection. Returns the error that says so.
    Error Ended(std::string_view why);
    bool cut() const { return cut_; }

  private:
    explicit Socket(int fd) : fd_(fd) {}

    Result<void> Await(short events, const Deadline& deadline) const;
    void LimitReceive(int remaining_ms);

    int fd_ = -1;
    bool cut_ = false;
    int receive_ms_ = 0;  // the timeout that the kernel applies to recv; 0: none yet
};

}  // namespace ksana::lock_redis
