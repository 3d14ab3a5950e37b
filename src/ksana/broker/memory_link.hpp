#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ksana/broker/memory_broker.hpp"

// Private to the module.

namespace ksana::broker {

// Whatever it has is guarded by the lock of its broker. (clang cannot see that the broker that
// reaches into a link is the link's own, so the members are not annotated.)
class MemoryLink final : public Link {
  public:
    explicit MemoryLink(MemoryBroker& broker) : broker_(broker) {}
    ~MemoryLink() override;

    Result<void> Declare(const QueueSpec& queue) override;
    Result<QueueState> Inspect(const std::string& queue) override;
    Result<void> Purge(const std::string& queue) override;
    Result<std::vector<PublishVerdict>> Publish(const std::vector<OutMessage>& messages,
                                                Duration within) override;
    Result<void> Consume(const std::string& queue, std::size_t prefetch) override;
    Result<void> StopConsuming() override;
    Result<std::vector<Delivery>> Receive(Duration wait, std::size_t most) override;
    Result<void> Acknowledge(const std::vector<std::uint64_t>& tags) override;
    Result<void> Reject(const std::vector<std::uint64_t>& tags, bool requeue) override;
    void Interrupt() override;
    bool blocked() const override;

  private:
    friend class MemoryBroker;

    struct Unacknowledged {
        std::string queue;
        MemoryBroker::Place place;
        MemoryBroker::Stored stored;
    };

    // kUnavailable if the link is broken, or breaks now.
    Result<void> Use() KSANA_REQUIRES(broker_.mutex_);
    // Gives back what was not acknowledged, and deletes its exclusive queues. Not analysed: its
    // callers hold the lock, the broker as its own.
    void Break() KSANA_NO_THREAD_SAFETY_ANALYSIS;
    // kNotFound, or kConflict if it belongs to another link.
    Result<MemoryBroker::Queue*> Find(const std::string& name) KSANA_REQUIRES(broker_.mutex_);
    PublishVerdict Store(const OutMessage& out) KSANA_REQUIRES(broker_.mutex_);
    std::vector<Delivery> Take(std::size_t most) KSANA_REQUIRES(broker_.mutex_);
    bool HasMessages() const KSANA_REQUIRES(broker_.mutex_);
    Delivery TakeFrom(MemoryBroker::Queue& queue) KSANA_REQUIRES(broker_.mutex_);

    MemoryBroker& broker_;
    Wakeup wakeup_;
    bool broken_ = false;
    bool interrupted_ = false;
    std::size_t prefetch_ = 1;
    std::uint64_t last_tag_ = 0;
    std::set<std::string> consumed_;
    std::optional<Error> ended_;  // why a consumer has ended
    std::map<std::uint64_t, Unacknowledged> unacknowledged_;
};

}  // namespace ksana::broker
