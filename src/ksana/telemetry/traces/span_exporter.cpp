#include "ksana/telemetry/traces/span_exporter.hpp"

#include <algorithm>
#include <array>

#include "ksana/base/log/log.hpp"
#include "ksana/telemetry/traces/gzip.hpp"

namespace ksana::telemetry {
namespace {

// So many closures of OfferLater wait, at most; each makes a few spans.
constexpr std::size_t kMaxLater = 2'000;
// The longest sleep without anything to do.
constexpr Duration kIdle = std::chrono::minutes(1);

constexpr bool MayBeRetried(int status) {
    constexpr std::array kStatuses = {0, 429, 502, 503, 504};
    return std::ranges::find(kStatuses, status) != kStatuses.end();
}

constexpr bool IsSuccess(int status) { return status >= 200 && status < 300; }

}  // namespace

SpanExporter::SpanExporter(ExporterOptions options, Send send, Registry& registry, Clock& clock,
                           Random& random)
    : options_(std::move(options)),
      send_(std::move(send)),
      clock_(clock),
      random_(random),
      exported_(registry.AddCounter(
          {"ksana_trace_spans_exported_total", "Spans that the OTLP receiver has taken."})),
      dropped_(registry.AddCounters(
          {"ksana_trace_spans_dropped_total",
           "Spans that were not exported. queue_full: more than the queue holds; retries: the "
           "receiver could not be reached; refused: it did not take the request; rejected: it took "
           "only a part; shutdown: the server stopped before.",
           {"reason"}})),
      failed_(registry.AddCounter({"ksana_trace_requests_failed_total",
                                   "Requests to the OTLP receiver that failed, repetitions "
                                   "included."})),
      waiting_(registry.AddCallbackGauge(
          {"ksana_trace_spans_waiting", "Spans that wait to be exported."},
          [this](Samples& samples) {
              const MutexLock lock(mutex_);
              samples.Add({}, static_cast<double>(queue_.size()));
          })),
      thread_("traces", [this](const std::stop_token& stop) { Run(stop); }) {}

void SpanExporter::Stop() {
    thread_.Stop();
    Flush();
}

void SpanExporter::Offer(std::vector<Span> spans) {
    std::size_t dropped = 0;
    bool wake = false;
    {
        const MutexLock lock(mutex_);
        if (queue_.empty()) {
            oldest_ = clock_.SteadyNow();
            wake = true;
        }
        const std::size_t before = queue_.size();
        const std::size_t room = options_.max_queue - std::min(options_.max_queue, before);
        const std::size_t kept = std::min(room, spans.size());
        dropped = spans.size() - kept;
        for (std::size_t i = 0; i < kept; ++i) queue_.push_back(std::move(spans[i]));
        wake = wake || (before < options_.batch && queue_.size() >= options_.batch);
    }
    if (dropped > 0) Drop("queue_full", dropped);
    if (wake) wakeup_.Notify();
}

void SpanExporter::OfferLater(Later later) {
    {
        const MutexLock lock(mutex_);
        if (later_.size() < kMaxLater) {
            later_.push_back(std::move(later));
            later = nullptr;
        }
    }
    if (later) return Drop("queue_full", 1);
    wakeup_.Notify();
}

void SpanExporter::Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const SteadyPoint next = Step();
        clock_.Wait(wakeup_, next, stop);
    }
}

void SpanExporter::MakeLater() {
    for (;;) {
        Later make;
        {
            const MutexLock lock(mutex_);
            if (later_.empty()) return;
            make = std::move(later_.front());
            later_.pop_front();
        }
        Offer(make());
    }
}

std::vector<Span> SpanExporter::TakeBatch(bool whatever_there_is) {
    std::vector<Span> batch;
    const SteadyPoint now = clock_.SteadyNow();
    const MutexLock lock(mutex_);
    const bool due = whatever_there_is || now >= oldest_ + options_.delay;
    if (queue_.empty() || (queue_.size() < options_.batch && !due)) return batch;
    const std::size_t count = std::min(queue_.size(), options_.batch);
    batch.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        batch.push_back(std::move(queue_.front()));
        queue_.pop_front();
    }
    oldest_ = now;
    return batch;
}

SteadyPoint SpanExporter::Step() {
    MakeLater();
    for (;;) {
        const SteadyPoint now = clock_.SteadyNow();
        if (pending_ && now < try_at_) return try_at_;
        if (!pending_) {
            const std::vector<Span> spans = TakeBatch(false);
            if (spans.empty()) break;
            pending_ = Pack(spans);
        }
        std::optional<Duration> retry_after;
        ++pending_->tries;
        const Fate fate = Try(*pending_, options_.timeout, retry_after);
        if (fate == Fate::kRetry && pending_->tries < options_.max_tries) {
            try_at_ = clock_.SteadyNow() + retry_after.value_or(PauseAfter(pending_->tries));
            continue;
        }
        if (fate != Fate::kDone) {
            Drop(fate == Fate::kRetry ? "retries" : "refused", pending_->spans);
        }
        pending_.reset();
    }
    const MutexLock lock(mutex_);
    return queue_.empty() ? clock_.SteadyNow() + kIdle : oldest_ + options_.delay;
}

void SpanExporter::Flush() {
    const SteadyPoint until = clock_.SteadyNow() + options_.flush_timeout;
    MakeLater();
    bool reached = true;
    for (;;) {
        if (!pending_) {
            const std::vector<Span> spans = TakeBatch(true);
            if (spans.empty()) return;
            pending_ = Pack(spans);
        }
        const auto left = std::chrono::duration_cast<Duration>(until - clock_.SteadyNow());
        std::optional<Duration> retry_after;
        reached = reached && left > Duration::zero() &&
                  Try(*pending_, std::min(left, options_.timeout), retry_after) != Fate::kRetry;
        if (!reached) Drop("shutdown", pending_->spans);
        pending_.reset();
    }
}

SpanExporter::Batch SpanExporter::Pack(const std::vector<Span>& spans) const {
    Batch batch{.body = OtlpJson(options_.resource, spans), .spans = spans.size()};
    if (!options_.gzip) return batch;
    auto packed = Gzip(batch.body);
    if (!packed) return batch;  // without zlib it goes as it is
    batch.body = *std::move(packed);
    batch.gzip = true;
    return batch;
}

SpanExporter::Fate SpanExporter::Try(const Batch& batch, Duration timeout,
                                     std::optional<Duration>& retry_after) {
    const ExportAnswer answer = send_(batch.body, batch.gzip, timeout);
    if (!IsSuccess(answer.status)) {
        failed_.Add();
        NoteFailure(answer);
        retry_after = answer.retry_after;
        return MayBeRetried(answer.status) ? Fate::kRetry : Fate::kRefused;
    }
    if (failing_) Log(LogLevel::kInfo, "spans are exported again");
    failing_ = false;
    const PartialSuccess partial = PartialSuccessOf(answer.text);
    const std::size_t rejected = std::min<std::uint64_t>(partial.rejected, batch.spans);
    exported_.Add(batch.spans - rejected);
    if (rejected > 0) Drop("rejected", rejected);
    if (rejected > 0 || !partial.message.empty()) {
        Log(LogLevel::kWarn, "the receiver of spans has not taken all of them",
            {{"spans", batch.spans}, {"rejected", rejected}, {"error", partial.message}});
    }
    return Fate::kDone;
}

// Says once that it fails, and not for every batch.
void SpanExporter::NoteFailure(const ExportAnswer& answer) {
    const LogLevel level = failing_ ? LogLevel::kDebug : LogLevel::kWarn;
    failing_ = true;
    constexpr std::size_t kMaxText = 300;
    Log(level, "spans cannot be exported",
        {{"status", answer.status}, {"error", std::string_view(answer.text).substr(0, kMaxText)}});
}

// Between half of the full pause and all of it.
Duration SpanExporter::PauseAfter(int tries) {
    Duration pause = options_.first_pause;
    for (int i = 1; i < tries && pause < options_.longest_pause; ++i) pause *= 2;
    pause = std::min(pause, options_.longest_pause);
    const auto half = static_cast<std::uint64_t>(pause.count() / 2);
    return pause - Duration(static_cast<std::int64_t>(random_.Below(half + 1)));
}

void SpanExporter::Drop(std::string_view reason, std::size_t spans) {
    dropped_.With({reason}).Add(spans);
}

}  // namespace ksana::telemetry
