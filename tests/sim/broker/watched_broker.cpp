#include "sim/broker/watched_broker.hpp"

#include <utility>

namespace ksana::sim {

using broker::PublishVerdict;

class WatchedBroker::WatchedLink final : public broker::Link {
  public:
    WatchedLink(std::unique_ptr<broker::Link> inner, WatchedBroker& broker)
        : inner_(std::move(inner)), broker_(broker), cuts_(broker.cuts_) {}

    Result<void> Declare(const broker::QueueSpec& queue) override {
        KSANA_TRY_VOID(Use());
        return inner_->Declare(queue);
    }
    Result<broker::QueueState> Inspect(const std::string& queue) override {
        KSANA_TRY_VOID(Use());
        // Nothing is ever lost, it seems.
        if (broker_.plant_ == ClusterPlant::kNoSweep) {
            return broker::QueueState{.messages = 1, .consumers = 1};
        }
        return inner_->Inspect(queue);
    }
    Result<void> Purge(const std::string& queue) override {
        KSANA_TRY_VOID(Use());
        return inner_->Purge(queue);
    }
    Result<std::vector<PublishVerdict>> Publish(const std::vector<broker::OutMessage>& messages,
                                                Duration within) override {
        KSANA_TRY_VOID(Use());
        KSANA_TRY(std::vector<PublishVerdict> verdicts, inner_->Publish(messages, within));
        for (std::size_t n = 0; n < messages.size(); ++n) {
            if (verdicts[n] == PublishVerdict::kStored) {
                broker_.news_.confirmed.insert(messages[n].message.id);
            } else if (broker_.plant_ == ClusterPlant::kEarlyDispatch) {
                verdicts[n] = PublishVerdict::kStored;
            }
        }
        broker_.news_.on_message();
        return verdicts;
    }
    Result<void> Consume(const std::string& queue, std::size_t prefetch) override {
        KSANA_TRY_VOID(Use());
        return inner_->Consume(queue, prefetch);
    }
    Result<void> StopConsuming() override {
        KSANA_TRY_VOID(Use());
        return inner_->StopConsuming();
    }
    Result<std::vector<broker::Delivery>> Receive(Duration wait, std::size_t most) override {
        KSANA_TRY_VOID(Use());
        return inner_->Receive(wait, most);
    }
    Result<void> Acknowledge(const std::vector<std::uint64_t>& tags) override {
        KSANA_TRY_VOID(Use());
        return inner_->Acknowledge(tags);
    }
    Result<void> Reject(const std::vector<std::uint64_t>& tags, bool requeue) override {
        KSANA_TRY_VOID(Use());
        return inner_->Reject(tags, requeue);
    }
    void Interrupt() override {
        if (inner_) inner_->Interrupt();
    }
    bool blocked() const override { return inner_ && inner_->blocked(); }

  private:
    // The broker takes back what a link has when it breaks, so it breaks on that side too.
    Result<void> Use() {
        if (broker_.cut_ || cuts_ != broker_.cuts_) inner_.reset();
        if (inner_) return {};
        return Error(Code::kUnavailable, "the way to the broker is cut");
    }

    std::unique_ptr<broker::Link> inner_;
    WatchedBroker& broker_;
    const int cuts_;
};

Result<std::unique_ptr<broker::Link>> WatchedBroker::Open(std::string_view purpose) {
    if (cut_) return Error(Code::kUnavailable, "the way to the broker is cut");
    KSANA_TRY(std::unique_ptr<broker::Link> inner, inner_.Open(purpose));
    return std::unique_ptr<broker::Link>(std::make_unique<WatchedLink>(std::move(inner), *this));
}

}  // namespace ksana::sim
