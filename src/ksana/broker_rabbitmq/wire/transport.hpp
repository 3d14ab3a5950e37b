#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/time/clock.hpp"
#include "ksana/broker/broker_url.hpp"
#include "ksana/broker_rabbitmq/wire/tls.hpp"

// Private to the module, because it exposes OpenSSL.

namespace ksana::broker_rabbitmq {

// A TCP connection, with TLS if asked for, that never waits but in Connect and Wait. For one thread
// at a time; the destructor closes it. Errors are kUnavailable, and after one it is of no use.
class Transport {
    struct Key {};

  public:
    Transport(Key, int fd) : fd_(fd) {}
    // Tries every address of the host until the deadline. `tls` may be null. `clock` is not kept.
    static Result<std::unique_ptr<Transport>> Connect(const broker::BrokerUrl& url,
                                                      const TlsContext* tls, const Clock& clock,
                                                      SteadyPoint deadline);
    ~Transport();
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    // Sends what the network takes now. Returns how much was taken from the front of `bytes`; with
    // TLS some of it may wait here.
    Result<std::size_t> Write(std::string_view bytes);
    // Appends what has arrived. Returns whether anything has.
    Result<bool> Read(std::string& bytes);

    // Waits until something has arrived, `wake` (a file, or -1) is readable, or, if `to_write`, the
    // network takes more; at most `ms`. Returns whether it was `wake`.
    bool Wait(bool to_write, int wake, int ms) const;

  private:
    Result<void> ShakeHands(const broker::BrokerUrl& url, const TlsContext& tls, const Clock& clock,
                            SteadyPoint deadline);
    // Sends what waits here. Returns whether nothing does any more.
    Result<bool> Flush();
    Result<std::size_t> Send(std::string_view bytes) const;

    int fd_;
    std::optional<TlsStream> tls_;
    bool tls_ready_ = false;
    std::string encrypted_;  // not sent yet
};

// What a call returns whose deadline has passed.
Error NoAnswer();

// Until then, for poll(). Rounded up, so that the last fraction of a millisecond is waited for too.
int MillisecondsUntil(SteadyPoint then, const Clock& clock);

}  // namespace ksana::broker_rabbitmq
