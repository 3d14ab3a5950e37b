#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/api/events/event_stream.hpp"
#include "ksana/api/events/finished_runs.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// Tells everybody who listens what happens: audit events, in their order and from wherever the
// listener wants to go on, and the ends of runs, live. One thread for all listeners, which sleeps
// while there is none.
//
// A listener that reads slowly falls behind with audit events, which wait for it in the store, and
// loses ends of runs, which it is told by a gap. Thread-safe; RunOnce is for its thread, or for a
// test instead of it.
class EventStreams final : public Service {
  public:
    struct Options {
        std::size_t max_streams = 200;
        std::size_t buffer = std::size_t{256} * 1024;  // of each
        Duration comment_every = std::chrono::seconds(15);
        Duration run_look_every = std::chrono::milliseconds(200);
        // Numbers of events may be missing because their transactions are not over yet: what comes
        // after them is held back for so long. Zero where one writer gives the numbers.
        Duration hole_patience{};
    };

    // Both must outlive it.
    EventStreams(store::Store& store, Clock& clock, const Options& options);
    ~EventStreams() override;

    std::string_view name() const override { return "events"; }
    Result<void> Start() override;
    // Ends all streams.
    void Stop() override;

    // kExhausted: there are too many.
    Result<std::shared_ptr<http_server::Stream>> Open(EventWish wish);

    // Tells what there is to tell; when to be called again at the latest.
    SteadyPoint RunOnce();

  private:
    using Streams = std::vector<std::unique_ptr<EventStream>>;

    void Run(const std::stop_token& stop);
    void Hint(store::Topics topics);
    void TakeIn();
    Result<bool> TellEvents();
    Result<bool> TellFrom(std::int64_t position, const std::vector<EventStream*>& listeners);
    Result<bool> IsLost(std::int64_t position, std::int64_t next);
    Result<void> TellRuns(SteadyPoint now);

    store::Store& store_;
    Clock& clock_;
    const Options options_;
    const std::shared_ptr<Wakeup> wakeup_ = std::make_shared<Wakeup>();
    std::atomic<std::size_t> open_{0};
    std::atomic<bool> ended_runs_{false};
    FinishedRuns finished_;
    SteadyPoint next_look_{};
    bool held_back_ = false;  // behind a hole
    bool failing_ = false;
    Streams streams_;      // only the thread
    Mutex service_mutex_;  // one Start or Stop at a time
    Mutex mutex_;
    Streams coming_ KSANA_GUARDED_BY(mutex_);
    bool stopped_ KSANA_GUARDED_BY(mutex_) = false;
    LoopThread thread_;
    const store::ChangeFeed::Subscription subscription_;
};

}  // namespace ksana::api
