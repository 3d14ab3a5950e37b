#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/api/edge/client_shares.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/http_server/routing/stream.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::api {

// What a client of /api/v1/events asks for.
struct EventRequest {
    std::optional<std::int64_t> after;  // last event the client has seen; none: from now on
    std::vector<std::string> types;     // resource types; empty: all
    std::string job_id;                 // empty: all jobs
    std::string client = {};            // ClientOf the request
};

// The stream of one client: its position, its filter, and the text of server-sent events. Owned by
// EventStreams. Not thread-safe: only the thread of EventStreams calls it once it was opened; the
// http_server::Stream inside is thread-safe. A full buffer refuses text until the client has read.
class EventStream {
  public:
    // `share` is held as long as the stream.
    EventStream(EventRequest wish, std::size_t buffer, std::shared_ptr<Wakeup> wakeup,
                std::unique_ptr<ClientShares::Share> share);

    const std::shared_ptr<http_server::Stream>& stream() const { return stream_; }
    std::int64_t position() const { return position_; }
    void MoveTo(std::int64_t position) { position_ = position; }
    // Returns whether the client has gone.
    bool IsOver() const { return stream_->over() || stream_.use_count() == 1; }
    // Returns false from a refused push until the client has read.
    bool HasRoom();
    bool WantsRuns() const { return Wants("run"); }

    // Sends the retry interval and the position at which the stream begins.
    void Greet();
    // Sends the event and moves past it; skips an event that the filter excludes. Returns false
    // without moving if the buffer is full.
    bool Tell(const model::AuditEvent& event);
    // Sends the end of a run, or counts it as left out if the buffer is full.
    void Tell(const model::Run& run);
    // Says that events between the position and `next` are missing. Returns false if the buffer is
    // full.
    bool TellGap(std::string_view reason, std::int64_t next);
    // Notes that ends of runs were left out. Counts as one, however many there were.
    void LeaveOut() { ++left_out_; }
    // Says how many ends of runs were left out, if any. Returns false if the buffer is full.
    bool TellLeftOut();
    // Sends a comment as keep-alive if nothing was sent for `every`.
    void Comment(SteadyPoint now, Duration every);

    SteadyPoint last_word() const { return last_word_; }

  private:
    bool Wants(std::string_view type) const;
    bool Concerns(const model::AuditEvent& event) const;
    bool Push(const std::string& text);

    const EventRequest wish_;
    const std::unique_ptr<ClientShares::Share> share_;
    const std::shared_ptr<http_server::Stream> stream_;
    const std::shared_ptr<std::atomic<bool>> room_;
    std::int64_t position_ = 0;
    std::uint64_t left_out_ = 0;
    bool blocked_ = false;
    bool spoke_ = true;
    SteadyPoint last_word_{};
};

}  // namespace ksana::api
