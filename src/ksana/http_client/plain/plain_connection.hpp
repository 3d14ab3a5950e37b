#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/http_client/plain/address_cache.hpp"
#include "ksana/http_client/plain/plain_call.hpp"
#include "ksana/http_client/plain/plain_parser.hpp"

namespace ksana::http_client {

struct PlainHost;

// A TCP connection that carries one call at a time. It stays registered with epoll, edge-triggered
// for all events, from Open until it is closed, so that a call costs only the system calls that
// send and receive. Owned by PlainPool, which decides what to do with each Outcome. Client's thread
// only.
class PlainConnection {
  public:
    enum class Outcome : std::uint8_t {
        kNothing,   // wait for the next event
        kMore,      // the read limit was reached: call Read again without an event
        kAnswered,  // the answer is complete
        kBroken,    // the target closed or reset the connection before any byte of an answer
        kFault,     // no valid answer; fault() says why
    };

    // Makes a non-blocking socket, stores it in `fd` and starts to connect it. Returns 0 if the
    // connection is established or in progress, else an errno value (and no socket is left open).
    static int Open(const Target& target, int& fd);

    // Owns `fd`. `host` must outlive the connection.
    PlainConnection(int fd, PlainHost& host, const Target& target, SteadyPoint now);
    ~PlainConnection();
    PlainConnection(const PlainConnection&) = delete;
    PlainConnection& operator=(const PlainConnection&) = delete;

    int fd() const { return fd_; }
    PlainHost& host() const { return host_; }
    const Target& target() const { return target_; }
    const std::string& remote() const { return remote_; }
    SteadyPoint made() const { return made_; }
    PlainCall* call() const { return call_; }

    // Attach links the call to the connection before it is established; TakeCall unlinks it.
    void Attach(PlainCall& call);
    void TakeCall();

    // Returns the errno value of a failed connection attempt, or 0 if the connection is
    // established.
    int ConnectError() const;

    // Carry starts to send the call's request, Flush continues. Both stop when the socket is full.
    Outcome Carry(PlainCall& call);
    Outcome Flush();

    // Receives into `buffer` and parses until the socket is empty, at most `most` times.
    Outcome Read(std::string& buffer, int most, SteadyPoint now);

    // Valid after kAnswered: whether the connection may carry another call.
    bool reusable() const { return reusable_; }

    const std::string& fault() const { return fault_; }

    // Managed by PlainPool.
    std::uint32_t generation = 0;  // tells connections apart that had the same descriptor
    bool connecting = true;
    bool allowed = false;  // the client's own egress rules allow the target
    bool ending = false;   // the target has closed: read what is left up to the end
    SteadyPoint idle_since;
    SteadyPoint connect_deadline;

  private:
    Outcome Take(std::string_view bytes);
    Outcome TakeEnd();
    Outcome Fail(const char* what, int error);
    Outcome Failed(std::string text);

    const int fd_;
    PlainHost& host_;
    const Target target_;
    const std::string remote_;
    const SteadyPoint made_;
    PlainCall* call_ = nullptr;
    PlainParser parser_;
    std::size_t sent_ = 0;
    bool flushed_ = true;
    bool got_bytes_ = false;  // of the current call's answer
    bool reusable_ = false;
    std::string fault_;
};

}  // namespace ksana::http_client
