#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::broker {

// Larger messages are not sent: Publish says kInvalidArgument. Nor are they handed out: a delivery
// that is larger goes to the dead letters of its queue.
inline constexpr std::size_t kMaxBodyBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMaxHeaderBytes = 32 * 1024;  // names and values together
// Receive hands out no further delivery once it has bodies of that size, and reads no more from
// the network: a prefetch bounds the number of messages, not the memory they take.
inline constexpr std::size_t kMaxReceivedBytes = std::size_t{16} << 20;

// A queue and what it was declared with. Names are of at most 255 bytes.
struct QueueSpec {
    std::string name;
    std::int32_t max_priority = 0;  // 0: all messages are of one priority
    std::size_t max_length = 0;     // further messages are refused; 0: no bound
    std::string dead_letters;  // the queue that gets rejected messages; empty: they are dropped
    // Belongs to this link: no other may consume it, and it goes with the link. Else it and its
    // messages survive a restart of the broker.
    bool exclusive = false;
};

struct QueueState {
    std::size_t messages =
        0;  // waiting; without those that were delivered and not yet acknowledged
    std::size_t consumers = 0;
};

struct Message {
    std::string id;  // at most 255 bytes
    std::string body;
    std::int32_t priority = 0;  // higher first, up to the queue's max_priority
    TextMap headers;            // names are of at most 128 bytes
};

struct OutMessage {
    std::string queue;
    Message message;
    // Not kept over a restart of the broker, and dropped without a trace if there is no such queue.
    bool transient = false;
};

enum class PublishVerdict : std::uint8_t {
    kStored,   // the broker has it, also after a restart
    kRefused,  // the broker does not have it: the queue is full
    kNoQueue,  // the broker does not have it: there is no such queue
    kUnknown,  // no answer in time: the broker may have it
};

struct Delivery {
    Message message;
    std::uint64_t tag = 0;     // of this link
    bool redelivered = false;  // the broker may have delivered it before
};

// One connection to a broker, used by one thread at a time; only Interrupt may be called by any.
// Every call ends within the time it is given. After kUnavailable the link is of no more use, and
// what was not acknowledged is delivered again, to whoever consumes then.
//
// The broker ends a link that is silent for too long: its owner calls Receive, if only with a wait
// of 0, at least once in the time of a heartbeat. Every call sends what is due.
class Link {
  public:
    Link() = default;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    virtual ~Link() = default;

    // Makes the queue unless it exists. kConflict: it exists with other arguments; the error names
    // the queue and what differs, as far as the broker says, and the link can still be used.
    virtual Result<void> Declare(const QueueSpec& queue) = 0;
    // Returns kNotFound if there is no such queue; the link can still be used.
    virtual Result<QueueState> Inspect(const std::string& queue) = 0;
    virtual Result<void> Purge(const std::string& queue) = 0;

    // Sends the messages and waits until the broker has answered for each of them, but at most
    // `within`. One verdict per message, in order. Fails only if none of them was sent.
    virtual Result<std::vector<PublishVerdict>> Publish(const std::vector<OutMessage>& messages,
                                                        Duration within) = 0;

    // Begins to consume the queue. At most `prefetch` deliveries are unacknowledged at a time (1 to
    // 65535), over all queues of the link; calling it again for a queue changes that number.
    virtual Result<void> Consume(const std::string& queue, std::size_t prefetch) = 0;
    // Consumes nothing more. What has come and was not handed out goes back to its queue; what was
    // handed out stays to be acknowledged.
    virtual Result<void> StopConsuming() = 0;
    // Waits until something was delivered, at most `wait`, then returns what has come, at most
    // `most` (0: only waits) and about kMaxReceivedBytes; empty: nothing came, or Interrupt was
    // called. kConflict: the broker ended the consumer (its queue was deleted); Consume may be
    // called again.
    virtual Result<std::vector<Delivery>> Receive(Duration wait, std::size_t most) = 0;
    // The deliveries are done: the broker forgets them. Sent without waiting for an answer. Tags
    // that are not, or no longer, of an unacknowledged delivery are ignored: after kConflict of
    // Receive the broker may have taken deliveries back.
    virtual Result<void> Acknowledge(const std::vector<std::uint64_t>& tags) = 0;
    // Gives deliveries back: again to the queue, or else to its dead letters.
    virtual Result<void> Reject(const std::vector<std::uint64_t>& tags, bool requeue) = 0;

    // Ends the Receive that is under way, or else the next one. Any thread; also after the link has
    // failed.
    virtual void Interrupt() = 0;
    // The broker takes no messages for now (an alarm of memory or disk).
    virtual bool blocked() const = 0;
};

// Where links come from. Thread-safe. Owned by the server or the worker; outlives its links.
class Broker {
  public:
    Broker() = default;
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;
    virtual ~Broker() = default;

    // Connects, within the time that the driver was given. `purpose` is shown in the broker's list
    // of connections. kUnavailable: not reachable; kPermissionDenied: name or password are wrong,
    // or they give no right to the virtual host.
    virtual Result<std::unique_ptr<Link>> Open(std::string_view purpose) = 0;
    // For logs and answers: without the password.
    virtual const std::string& name() const = 0;
};

}  // namespace ksana::broker
