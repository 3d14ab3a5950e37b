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

// Sends events to all clients of /api/v1/events: audit events in their order, from the position at
// which the client wants to continue, and ends of runs, live. One thread serves all streams and
// sleeps while there is none.
//
// A client that reads slowly falls behind with audit events, which wait in the store, and loses
// ends of runs; a gap event tells it so. If the store fails, the thread logs this once and tries
// again. Owned by the application. Thread-safe, except RunOnce: only the thread of the object calls
// it, or a test instead of that thread.
class EventStreams final : public Service {
  public:
    struct Options {
        std::size_t max_streams = 200;
        std::size_t max_streams_of_client = 50;
        std::size_t buffer = std::size_t{256} * 1024;  // bytes of each stream
        Duration comment_every = std::chrono::seconds(15);
        Duration run_look_every = std::chrono::milliseconds(200);
        // Numbers of events may be missing because their transactions are still in flight. Events
        // after such a hole are held back for this long. Zero if a single writer assigns the
        // numbers.
        Duration hole_patience{};
    };

    // `store` and `clock` must outlive the object.
    EventStreams(store::Store& store, Clock& clock, const Options& options);
    ~EventStreams() override;

    std::string_view name() const override { return "events"; }
    Result<void> Start() override;
    // Ends all streams.
    void Stop() override;

    // Returns the new stream. kExhausted: there are max_streams, or max_streams_of_client, already.
    // kUnavailable: the server is stopping.
    Result<std::shared_ptr<http_server::Stream>> Open(EventRequest wish);

    // Sends what is new to all streams. Returns when to call it again at the latest.
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
    ClientShares shares_;
    std::atomic<bool> ended_runs_{false};
    FinishedRuns finished_;
    SteadyPoint next_look_{};
    bool held_back_ = false;  // behind a hole in the numbers
    bool failing_ = false;
    Streams streams_;      // used by RunOnce, and by Stop after the thread has ended
    Mutex service_mutex_;  // one Start or Stop at a time
    Mutex mutex_;
    Streams coming_ KSANA_GUARDED_BY(mutex_);
    bool stopped_ KSANA_GUARDED_BY(mutex_) = false;
    LoopThread thread_;
    const store::ChangeFeed::Subscription subscription_;
};

}  // namespace ksana::api
