#include "ksana/engine/broker/broker_link.hpp"

#include <algorithm>
#include <utility>

#include "ksana/base/log/log.hpp"

namespace ksana::engine {
namespace {

constexpr Duration kFirstLinkPause = std::chrono::milliseconds(100);
constexpr Duration kLongestLinkPause = std::chrono::seconds(10);
// A stop waits at most that long for a thread that waits on its link.
constexpr Duration kLongestLinkWait = std::chrono::seconds(1);

}  // namespace

BrokerLink::BrokerLink(broker::Broker& broker, Clock& clock, Random& random, std::string purpose,
                       Prepare prepare)
    : broker_(broker),
      clock_(clock),
      random_(random),
      purpose_(std::move(purpose)),
      prepare_(std::move(prepare)),
      error_(Error(Code::kUnavailable, "not connected yet")) {}

broker::Link* BrokerLink::Get() {
    {
        const MutexLock lock(mutex_);
        blocked_ = link_ && link_->blocked();
        if (link_) return link_.get();
    }
    if (clock_.SteadyNow() < retry_at_) return nullptr;
    auto opened = broker_.Open(purpose_);
    if (!opened) {
        Fail(std::move(opened).error());
        return nullptr;
    }
    const std::shared_ptr<broker::Link> link = *std::move(opened);
    if (auto prepared = prepare_(*link); !prepared) {
        Fail(std::move(prepared).error());
        return nullptr;
    }
    Log(LogLevel::kInfo, "connected to the message broker",
        {{"broker", broker_.name()}, {"purpose", purpose_}});
    pause_ = Duration::zero();
    const MutexLock lock(mutex_);
    link_ = link;
    error_.reset();
    return link_.get();
}

// Says it once per outage.
void BrokerLink::Fail(Error error) {
    const bool first = pause_ == Duration::zero();
    pause_ = first ? kFirstLinkPause : std::min(2 * pause_, kLongestLinkPause);
    // Up to half as much again, so that the links of many servers do not come back together.
    const auto jitter = static_cast<Duration::rep>(
        random_.Next() % static_cast<std::uint64_t>(pause_.count() / 2 + 1));
    retry_at_ = clock_.SteadyNow() + pause_ + Duration(jitter);
    if (first) {
        Log(LogLevel::kError, "no connection to the message broker, tries again",
            {{"broker", broker_.name()}, {"purpose", purpose_}, {"error", error.Describe()}});
    }
    const MutexLock lock(mutex_);
    error_ = std::move(error);
}

bool BrokerLink::Lose(const Error& error) {
    if (error.code != Code::kUnavailable && error.code != Code::kPermissionDenied) return false;
    std::shared_ptr<broker::Link> lost;
    {
        const MutexLock lock(mutex_);
        lost = std::move(link_);
        link_ = nullptr;
    }
    if (lost) Fail(error);
    return true;
}

void BrokerLink::Close() {
    std::shared_ptr<broker::Link> closed;
    const MutexLock lock(mutex_);
    closed.swap(link_);
    error_ = Error(Code::kUnavailable, "stopped");
    retry_at_ = {};
    pause_ = {};
}

std::shared_ptr<broker::Link> BrokerLink::Present() const {
    const MutexLock lock(mutex_);
    return link_;
}

void BrokerLink::WaitUntil(SteadyPoint until, const std::stop_token& stop) {
    const std::shared_ptr<broker::Link> link = Present();
    if (!link) {
        clock_.Wait(wakeup_, until, stop);
        return;
    }
    const auto left = until - clock_.SteadyNow();
    if (left <= SteadyPoint::duration::zero() || stop.stop_requested()) return;
    const Duration wait = std::min(std::chrono::ceil<Duration>(left), kLongestLinkWait);
    Listen(*link, wait);
}

void BrokerLink::Listen(broker::Link& link, Duration wait) {
    const auto received = link.Receive(wait, 0);
    if (!received) Lose(Error(Code::kUnavailable, received.error().message));
}

void BrokerLink::PauseUntil(SteadyPoint until, const std::stop_token& stop) {
    if (const auto link = Present()) {
        Listen(*link, Duration::zero());
        until = std::min<SteadyPoint>(until, clock_.SteadyNow() + kLongestLinkWait);
    }
    clock_.Wait(wakeup_, until, stop);
}

void BrokerLink::Nudge() {
    wakeup_.Notify();
    const MutexLock lock(mutex_);
    if (link_) link_->Interrupt();
}

bool BrokerLink::connected() const {
    const MutexLock lock(mutex_);
    return link_ != nullptr;
}

std::optional<Error> BrokerLink::fault() const {
    const MutexLock lock(mutex_);
    if (link_ && blocked_) {
        return Error(Code::kUnavailable,
                     "the message broker takes no messages: it is out of "
                     "memory or disk");
    }
    return error_;
}

}  // namespace ksana::engine
