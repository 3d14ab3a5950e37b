#include "ksana/api/events/event_stream.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/api/edge/object_text.hpp"
#include "ksana/codec/json/json_text.hpp"
#include "ksana/codec/v1/audit_view.hpp"
#include "ksana/codec/v1/run_view.hpp"
#include "ksana/model/audit_event.hpp"

namespace ksana::api {
namespace {

using http_server::Stream;

// Delay after which a client that lost its stream reconnects.
constexpr int kRetryMilliseconds = 3'000;

// `data` is JSON and has no line breaks: those in strings are escaped.
std::string EventText(std::int64_t id, std::string_view name, std::string_view data) {
    return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, name, data);
}

std::string JobOf(const model::AuditEvent& event) {
    if (event.resource_type == model::audit::kJob) return event.resource_id;
    const auto members = codec::JsonMembers(event.data);
    if (!members) return "";
    for (const codec::JsonMember& member : *members) {
        if (member.name == model::audit::kJobId) return member.text;
    }
    return "";
}

}  // namespace

EventStream::EventStream(EventRequest wish, std::size_t buffer, std::shared_ptr<Wakeup> wakeup,
                         std::unique_ptr<ClientShares::Share> share)
    : wish_(std::move(wish)),
      share_(std::move(share)),
      stream_(std::make_shared<Stream>(buffer)),
      room_(std::make_shared<std::atomic<bool>>(false)) {
    stream_->OnRoom([room = room_, wakeup = std::move(wakeup)] {
        *room = true;
        wakeup->Notify();
    });
}

bool EventStream::HasRoom() {
    if (blocked_ && room_->exchange(false)) blocked_ = false;
    return !blocked_;
}

bool EventStream::Wants(std::string_view type) const {
    return wish_.types.empty() || std::ranges::find(wish_.types, type) != wish_.types.end();
}

bool EventStream::Concerns(const model::AuditEvent& event) const {
    return Wants(event.resource_type) && (wish_.job_id.empty() || JobOf(event) == wish_.job_id);
}

bool EventStream::Push(const std::string& text) {
    if (!HasRoom()) return false;
    blocked_ = !stream_->TryPush(text);
    spoke_ = spoke_ || !blocked_;
    return !blocked_;
}

// An id without data is no event, but clients keep it: one that loses the stream before the first
// event continues from here.
void EventStream::Greet() {
    Push(fmt::format("retry: {}\nid: {}\n\n", kRetryMilliseconds, position_));
}

bool EventStream::TellLeftOut() {
    if (left_out_ == 0) return true;
    const std::string data = ObjectText()
                                 .Put("reason", "too_slow")
                                 .Put("left_out", static_cast<std::int64_t>(left_out_))
                                 .Take();
    if (!Push(EventText(position_, "gap", data))) return false;
    left_out_ = 0;
    return true;
}

bool EventStream::Tell(const model::AuditEvent& event) {
    if (!Concerns(event)) {
        position_ = event.seq;
        return true;
    }
    if (!TellLeftOut()) return false;
    std::string data = codec::AuditEventToJson(event);
    data.insert(1, R"("source":"audit",)");
    const std::string name = fmt::format("{}.{}", event.resource_type, event.action);
    if (!Push(EventText(event.seq, name, data))) return false;
    position_ = event.seq;
    return true;
}

void EventStream::Tell(const model::Run& run) {
    if (!WantsRuns() || (!wish_.job_id.empty() && wish_.job_id != run.job_id)) return;
    const std::string data =
        ObjectText().Put("source", "run").Raw("run", codec::RunViewToJson(run)).Take();
    const std::string name = fmt::format("run.{}", model::NameOf(run.status.state));
    if (!TellLeftOut() || !Push(EventText(position_, name, data))) ++left_out_;
}

bool EventStream::TellGap(std::string_view reason, std::int64_t next) {
    const std::string data =
        ObjectText().Put("reason", reason).Put("after", position_).Put("next", next).Take();
    return Push(EventText(position_, "gap", data));
}

void EventStream::Comment(SteadyPoint now, Duration every) {
    if (std::exchange(spoke_, false)) last_word_ = now;
    if (now - last_word_ < every) return;
    // If the comment does not fit, the client has enough to read.
    stream_->TryPush(": still here\n\n");
    last_word_ = now;
}

}  // namespace ksana::api
