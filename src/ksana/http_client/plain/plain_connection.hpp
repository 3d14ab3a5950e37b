#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/http_client/plain/name_memory.hpp"
#include "ksana/http_client/plain/plain_call.hpp"
#include "ksana/http_client/plain/plain_parser.hpp"

namespace ksana::http_client {

struct PlainHost;

// A TCP connection that carries one call after the other. Epoll has it from its beginning to its
// end, edge-triggered for everything, so that a call costs no system calls but those that send and
// receive. Client's thread only.
class PlainConnection {
  public:
    enum class Outcome : std::uint8_t {
        kNothing,   // wait for the next event
        kMore,      // there may be more to read: come again without an event
        kAnswered,  // the call has its answer
        kBroken,    // the other side has closed or reset it before any byte of an answer
        kFault,     // no answer: `fault` says why
    };

    // The connection is being made when this returns, or is there. 0, or why it cannot be.
    static int Open(const Target& target, int& fd);

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

    // The call is to be carried once the connection is there; and not any more.
    void Attach(PlainCall& call);
    void TakeCall();

    // Why it could not be made, as the system says it; 0: it is there.
    int ConnectError() const;

    // Sends the call's bytes, as many as fit.
    Outcome Carry(PlainCall& call);
    Outcome Flush();

    // Reads into `buffer`, at most `most` times, until there is nothing.
    Outcome Read(std::string& buffer, int most, SteadyPoint now);

    // Once answered: it may carry another call.
    bool reusable() const { return reusable_; }

    const std::string& fault() const { return fault_; }

    // For the owner.
    std::uint32_t generation = 0;
    bool connecting = true;
    bool allowed = false;  // by the client's own rules
    bool ending = false;   // the other side has closed: what is there is to be read to its end
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
    bool got_bytes_ = false;  // of this call's answer
    bool reusable_ = false;
    std::string fault_;
};

}  // namespace ksana::http_client
