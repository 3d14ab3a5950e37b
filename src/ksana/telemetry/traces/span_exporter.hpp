#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/telemetry/registry.hpp"
#include "ksana/telemetry/traces/otlp_json.hpp"

namespace ksana::telemetry {

// What became of a request to the receiver.
struct ExportAnswer {
    int status = 0;                       // of HTTP; 0: there was no answer
    std::optional<Duration> retry_after;  // what the answer asked for
    std::string text;                     // body of the answer, or why there was none
};

struct ExporterOptions {
    TraceResource resource;
    std::size_t max_queue = 20'000;            // spans; more are dropped
    std::size_t batch = 512;                   // spans in one request, at most
    Duration delay = std::chrono::seconds(5);  // the longest wait for a full batch
    Duration timeout = std::chrono::seconds(10);
    bool gzip = true;
    int max_tries = 5;  // of one batch
    Duration first_pause = std::chrono::seconds(1);
    Duration longest_pause = std::chrono::seconds(30);
    Duration flush_timeout = std::chrono::seconds(3);  // for the rest, when it stops
};

// Sends spans to an OTLP receiver over HTTP, in batches and on a thread of its own. Nobody waits
// for it: Offer only queues, and what the queue has no room for is dropped and counted. Tries a
// batch again only after 429, 502, 503 and 504 or without an answer, with growing pauses or as
// Retry-After says, and drops it after max_tries.
//
// Owned by the server. Offer and OfferLater: any thread. Tests call Step instead of Start.
class SpanExporter final : public Service {
  public:
    // Sends the body, which is compressed if `gzip`, and waits for the answer at most `timeout`.
    // Called on the exporter's thread only.
    using Send = std::function<ExportAnswer(std::string body, bool gzip, Duration timeout)>;
    // Makes spans on the exporter's thread, for those that need a look into the store.
    using Later = std::function<std::vector<Span>()>;

    // `registry`, `clock` and `random` must outlive the exporter.
    SpanExporter(ExporterOptions options, Send send, Registry& registry, Clock& clock,
                 Random& random);
    ~SpanExporter() override { Stop(); }

    std::string_view name() const override { return "traces"; }
    Result<void> Start() override { return thread_.Start(); }
    // Sends what is queued, for at most flush_timeout, and drops the rest.
    void Stop() override;

    void Offer(std::vector<Span> spans);
    void OfferLater(Later later);

    // Does what is due and returns when to call again, unless something is offered before.
    SteadyPoint Step();
    // Sends the rest as Stop does. Not while the thread runs.
    void Flush();

  private:
    struct Batch {
        std::string body;
        std::size_t spans = 0;
        int tries = 0;
        bool gzip = false;
    };
    enum class Fate { kDone, kRetry, kRefused };

    void Run(const std::stop_token& stop);
    void MakeLater();
    std::vector<Span> TakeBatch(bool whatever_there_is);
    Batch Pack(const std::vector<Span>& spans) const;
    Fate Try(const Batch& batch, Duration timeout, std::optional<Duration>& retry_after);
    Duration PauseAfter(int tries);
    void Drop(std::string_view reason, std::size_t spans);
    void NoteFailure(const ExportAnswer& answer);

    const ExporterOptions options_;
    const Send send_;
    Clock& clock_;
    Random& random_;
    Counter& exported_;
    Family<Counter>& dropped_;
    Counter& failed_;
    CallbackHandle waiting_;
    Wakeup wakeup_;

    Mutex mutex_;
    std::deque<Span> queue_ KSANA_GUARDED_BY(mutex_);
    SteadyPoint oldest_ KSANA_GUARDED_BY(mutex_){};  // when the queue was last empty
    std::deque<Later> later_ KSANA_GUARDED_BY(mutex_);

    // Used by Step and Flush only:
    std::optional<Batch> pending_;  // to be tried again
    SteadyPoint try_at_{};
    bool failing_ = false;  // the last request failed; the log has said so
    LoopThread thread_;
};

}  // namespace ksana::telemetry
