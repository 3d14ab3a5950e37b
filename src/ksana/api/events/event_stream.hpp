#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/http_server/routing/stream.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::api {

// What somebody wants to be told.
struct EventWish {
    std::optional<std::int64_t> after;  // the last event they have; none: from now on
    std::vector<std::string> types;     // of resources; empty: all
    std::string job_id;                 // empty: of all
};

// One listener: where it is, what it wants, and the text of server-sent events. For the thread of
// the hub.
class EventStream {
  public:
    EventStream(EventWish wish, std::size_t buffer, std::shared_ptr<Wakeup> wakeup);

    const std::shared_ptr<http_server::Stream>& stream() const { return stream_; }
    std::int64_t position() const { return position_; }
    void MoveTo(std::int64_t position) { position_ = position; }
    // Nobody reads it any more.
    bool IsOver() const { return stream_->over() || stream_.use_count() == 1; }
    // False while there has been no room since a push was refused.
    bool HasRoom();
    bool WantsRuns() const { return Wants("run"); }

    // The first words: when to come back, and where it began.
    void Greet();
    // False: no room; it stays where it is.
    bool Tell(const model::AuditEvent& event);
    // One that cannot be told any more is counted.
    void Tell(const model::Run& run);
    // Something between `position` and what comes next is not there.
    bool TellGap(std::string_view reason, std::int64_t next);
    // Ends of runs were left out.
    void LeaveOut() { ++left_out_; }
    // Says so if it was. False: no room.
    bool TellLeftOut();
    // If nothing was said for so long.
    void Comment(SteadyPoint now, Duration every);

    SteadyPoint last_word() const { return last_word_; }

  private:
    bool Wants(std::string_view type) const;
    bool Concerns(const model::AuditEvent& event) const;
    bool Push(const std::string& text);

    const EventWish wish_;
    const std::shared_ptr<http_server::Stream> stream_;
    const std::shared_ptr<std::atomic<bool>> room_;
    std::int64_t position_ = 0;
    std::uint64_t left_out_ = 0;
    bool blocked_ = false;
    bool spoke_ = true;
    SteadyPoint last_word_{};
};

}  // namespace ksana::api
