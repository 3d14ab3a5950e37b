#include "ksana/store_sqlite/packed_run.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace ksana::store_sqlite {

using model::Run;
using model::RunStatus;
using model::UniqueRule;

namespace {

constexpr std::uint64_t kVersion = 1;

// Seven bits a byte, the lowest first.
void PutNumber(std::string& out, std::uint64_t value) {
    std::array<char, 10> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
    std::size_t count = 0;
    while (value >= 0x80) {
        bytes[count++] = static_cast<char>(value | 0x80U);
        value >>= 7U;
    }
    bytes[count++] = static_cast<char>(value);
    out.append(bytes.data(), count);
}

// Also negative ones stay short.
void Put(std::string& out, std::int64_t value) {
    PutNumber(out,
              (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63));
}
void Put(std::string& out, TimePoint time) { Put(out, time.time_since_epoch().count()); }
void Put(std::string& out, TimePoint time, TimePoint base) { Put(out, (time - base).count()); }
void Put(std::string& out, const Uuid& id) { out.append(id.bytes.begin(), id.bytes.end()); }
void Put(std::string& out, std::string_view text) {
    PutNumber(out, text.size());
    out.append(text);
}
template <class E>
requires std::is_enum_v<E>
void Put(std::string& out, E value) { PutNumber(out, static_cast<std::uint64_t>(value)); }

// Reads what Put has written; anything wrong makes it not ok, and what it gives zero.
class Unpacker {
  public:
    explicit Unpacker(std::string_view blob) : rest_(blob) {}

    std::uint64_t Number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (rest_.empty()) break;
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if (byte < 0x80) return value;
        }
        ok_ = false;
        return 0;
    }
    void Take(std::int64_t& out) {
        const std::uint64_t value = Number();
        out = static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
    }
    void Take(std::int32_t& out) {
        std::int64_t wide = 0;
        Take(wide);
        out = static_cast<std::int32_t>(wide);
    }
    void Take(TimePoint& out) {
        std::int64_t micros = 0;
        Take(micros);
        out = TimePoint(Duration(micros));
    }
    void Take(std::optional<TimePoint>& out) { Take(out.emplace()); }
    // Written as its distance from `base`.
    void Take(std::optional<TimePoint>& out, TimePoint base) {
        std::int64_t micros = 0;
        Take(micros);
        out = base + Duration(micros);
    }
    void Take(Uuid& out) {
        ok_ = ok_ && out.bytes.size() <= rest_.size();
        if (!ok_) return;
        std::memcpy(out.bytes.data(), rest_.data(), out.bytes.size());
        rest_.remove_prefix(out.bytes.size());
    }
    void Take(std::string& out) {
        const std::uint64_t size = Number();
        ok_ = ok_ && size <= rest_.size();
        if (!ok_) return;
        out.assign(rest_.substr(0, size));
        rest_.remove_prefix(size);
    }
    template <class E>
    requires std::is_enum_v<E>
    void Take(E& out) {
        const std::uint64_t value = Number();
        ok_ = ok_ && value < model::kEnumCount<E>;
        out = static_cast<E>(value);
    }
    template <class E>
    requires std::is_enum_v<E>
    void Take(std::optional<E>& out) { Take(out.emplace()); }

    bool ok() const { return ok_; }
    bool done() const { return ok_ && rest_.empty(); }
    // As done, but zeros may follow.
    bool done_but_padding() const {
        return ok_ && std::ranges::all_of(rest_, [](char byte) { return byte == '\0'; });
    }

  private:
    std::string_view rest_;
    bool ok_ = true;
};

enum FixedBit : std::uint64_t {
    kKey = 1U << 0U,
    kStates = 1U << 1U,
    kUntil = 1U << 2U,
    kSelector = 1U << 3U,
    kTenant = 1U << 4U,
    kCategory = 1U << 5U,
    kCreator = 1U << 6U,
    kTrigger = 1U << 7U,
    kPriority = 1U << 8U,
    kParent = 1U << 9U,
    kPayload = 1U << 10U,
    kPayloadOutside = 1U << 11U,
};

enum StatusBit : std::uint64_t {
    kFailures = 1U << 0U,
    kFence = 1U << 1U,
    kExecId = 1U << 2U,
    kLastReport = 1U << 3U,
    kOutcome = 1U << 4U,
    kLeaseUntil = 1U << 5U,
    kDeadline = 1U << 6U,
    kProgress = 1U << 7U,
    kProgressNote = 1U << 8U,
    kCancelRequested = 1U << 9U,
    kNotStopping = 1U << 10U,
    kResult = 1U << 11U,
    kDetail = 1U << 12U,
    kRemark = 1U << 13U,
    kSkipReason = 1U << 14U,
    kExecUuid = 1U << 15U,  // the exec_id is one, and written as such
    kBlocked = 1U << 16U,
    kAttempt = 1U << 17U,
    kOwner = 1U << 18U,
    kStartedAt = 1U << 19U,
    kEndedAt = 1U << 20U,
    kFinishedAt = 1U << 21U,
    kLastError = 1U << 22U,
};

constexpr std::uint64_t When(bool is, std::uint64_t bit) { return is ? bit : 0; }

std::uint64_t BitsOf(const Run& run, bool payload_outside) {
    static const Run kPlain;
    const UniqueRule& unique = run.unique;
    return When(!unique.key.empty(), kKey) | When(unique.states != kPlain.unique.states, kStates) |
           When(unique.until.has_value(), kUntil) | When(!run.selector.empty(), kSelector) |
           When(run.tenant != kPlain.tenant, kTenant) | When(!run.category.empty(), kCategory) |
           When(!run.creator.empty(), kCreator) | When(run.trigger != kPlain.trigger, kTrigger) |
           When(run.priority != kPlain.priority, kPriority) |
           When(run.parent.has_value(), kParent) |
           When(!run.payload.empty() && !payload_outside, kPayload) |
           When(payload_outside, kPayloadOutside);
}

std::uint64_t BitsOf(const RunStatus& status) {
    return When(status.failures != 0, kFailures) | When(status.fence != 0, kFence) |
           When(status.last_report.has_value(), kLastReport) |
           When(status.outcome.has_value(), kOutcome) |
           When(status.lease_until.has_value(), kLeaseUntil) |
           When(status.deadline.has_value(), kDeadline) | When(status.progress != 0, kProgress) |
           When(!status.progress_note.empty(), kProgressNote) |
           When(status.cancel_requested, kCancelRequested) |
           When(status.not_stopping, kNotStopping) | When(!status.result.empty(), kResult) |
           When(!status.detail.empty(), kDetail) | When(!status.remark.empty(), kRemark) |
           When(status.skip_reason != model::SkipReason::kNone, kSkipReason) |
           When(status.blocked, kBlocked) | When(status.attempt != 0, kAttempt) |
           When(!status.owner.empty(), kOwner) | When(status.started_at.has_value(), kStartedAt) |
           When(status.ended_at.has_value(), kEndedAt) |
           When(status.finished_at.has_value(), kFinishedAt) |
           When(!status.last_error.empty(), kLastError);
}

// Nothing, unless it is just what the id would be written as.
std::optional<Uuid> AsUuid(const std::string& exec_id) {
    const bool lower = std::ranges::none_of(exec_id, [](char c) { return c >= 'A' && c <= 'F'; });
    return lower ? Uuid::Parse(exec_id) : std::nullopt;
}

Error Damaged() {
    return {Code::kDataLoss, "sqlite: a stored run is damaged, or made by a newer program"};
}

}  // namespace

void PackFixed(const Run& run, std::int64_t policy, bool payload_outside, std::string& out) {
    const std::uint64_t bits = BitsOf(run, payload_outside);
    out.clear();
    PutNumber(out, kVersion);
    PutNumber(out, bits);
    Put(out, policy);
    Put(out, run.created_at);
    if ((bits & kKey) != 0) Put(out, std::string_view(run.unique.key));
    if ((bits & kStates) != 0) PutNumber(out, run.unique.states);
    if ((bits & kUntil) != 0) Put(out, *run.unique.until);
    if ((bits & kSelector) != 0) {
        PutNumber(out, run.selector.size());
        for (const auto& [key, value] : run.selector) {
            Put(out, std::string_view(key));
            Put(out, std::string_view(value));
        }
    }
    if ((bits & kTenant) != 0) Put(out, std::string_view(run.tenant));
    if ((bits & kCategory) != 0) Put(out, std::string_view(run.category));
    if ((bits & kCreator) != 0) Put(out, std::string_view(run.creator));
    if ((bits & kTrigger) != 0) Put(out, run.trigger);
    if ((bits & kPriority) != 0) Put(out, std::int64_t{run.priority});
    if ((bits & kParent) != 0) Put(out, *run.parent);
    if ((bits & kPayload) != 0) Put(out, std::string_view(run.payload));
}

Result<FixedPart> UnpackFixed(std::string_view blob, Run& run) {
    Unpacker in(blob);
    FixedPart rest;
    if (in.Number() != kVersion) return Damaged();
    const std::uint64_t bits = in.Number();
    in.Take(rest.policy);
    in.Take(run.created_at);
    if ((bits & kKey) != 0) in.Take(run.unique.key);
    if ((bits & kStates) != 0) run.unique.states = static_cast<model::RunStates>(in.Number());
    if ((bits & kUntil) != 0) in.Take(run.unique.until);
    const std::uint64_t labels = (bits & kSelector) != 0 ? in.Number() : 0;
    for (std::uint64_t i = 0; i < labels && in.ok(); ++i) {
        std::string key;
        in.Take(key);
        in.Take(run.selector[key]);
    }
    if ((bits & kTenant) != 0) in.Take(run.tenant);
    if ((bits & kCategory) != 0) in.Take(run.category);
    if ((bits & kCreator) != 0) in.Take(run.creator);
    if ((bits & kTrigger) != 0) in.Take(run.trigger);
    if ((bits & kPriority) != 0) in.Take(run.priority);
    if ((bits & kParent) != 0) in.Take(run.parent.emplace());
    if ((bits & kPayload) != 0) in.Take(run.payload);
    rest.payload_outside = (bits & kPayloadOutside) != 0;
    if (!in.done()) return Damaged();
    return rest;
}

void PackStatus(const Run& run, std::string& out) {
    const RunStatus& status = run.status;
    const auto exec_uuid = AsUuid(status.exec_id);
    const std::uint64_t bits = BitsOf(status) | When(exec_uuid.has_value(), kExecUuid) |
                               When(!status.exec_id.empty() && !exec_uuid, kExecId);
    const TimePoint base = run.updated_at;
    out.clear();
    PutNumber(out, kVersion);
    PutNumber(out, bits);
    Put(out, status.state);
    Put(out, base);
    if ((bits & kFailures) != 0) Put(out, std::int64_t{status.failures});
    if ((bits & kFence) != 0) Put(out, status.fence);
    if ((bits & kExecId) != 0) Put(out, std::string_view(status.exec_id));
    if ((bits & kExecUuid) != 0) Put(out, *exec_uuid);
    if ((bits & kLastReport) != 0) Put(out, *status.last_report);
    if ((bits & kOutcome) != 0) Put(out, *status.outcome);
    if ((bits & kLeaseUntil) != 0) Put(out, *status.lease_until, base);
    if ((bits & kDeadline) != 0) Put(out, *status.deadline, base);
    if ((bits & kProgress) != 0) Put(out, std::int64_t{status.progress});
    if ((bits & kProgressNote) != 0) Put(out, std::string_view(status.progress_note));
    if ((bits & kResult) != 0) Put(out, std::string_view(status.result));
    if ((bits & kDetail) != 0) Put(out, std::string_view(status.detail));
    if ((bits & kRemark) != 0) Put(out, std::string_view(status.remark));
    if ((bits & kSkipReason) != 0) Put(out, status.skip_reason);
    if ((bits & kAttempt) != 0) Put(out, std::int64_t{status.attempt});
    if ((bits & kOwner) != 0) Put(out, std::string_view(status.owner));
    if ((bits & kStartedAt) != 0) Put(out, *status.started_at, base);
    if ((bits & kEndedAt) != 0) Put(out, *status.ended_at, base);
    if ((bits & kFinishedAt) != 0) Put(out, *status.finished_at, base);
    if ((bits & kLastError) != 0) Put(out, std::string_view(status.last_error));
}

Result<void> UnpackStatus(std::string_view blob, Run& run) {
    Unpacker in(blob);
    RunStatus& status = run.status;
    if (in.Number() != kVersion) return Damaged();
    const std::uint64_t bits = in.Number();
    in.Take(status.state);
    in.Take(run.updated_at);
    const TimePoint base = run.updated_at;
    if ((bits & kFailures) != 0) in.Take(status.failures);
    if ((bits & kFence) != 0) in.Take(status.fence);
    if ((bits & kExecId) != 0) in.Take(status.exec_id);
    if ((bits & kExecUuid) != 0) {
        Uuid id;
        in.Take(id);
        status.exec_id = id.ToString();
    }
    if ((bits & kLastReport) != 0) in.Take(status.last_report);
    if ((bits & kOutcome) != 0) in.Take(status.outcome);
    if ((bits & kLeaseUntil) != 0) in.Take(status.lease_until, base);
    if ((bits & kDeadline) != 0) in.Take(status.deadline, base);
    if ((bits & kProgress) != 0) in.Take(status.progress);
    if ((bits & kProgressNote) != 0) in.Take(status.progress_note);
    if ((bits & kResult) != 0) in.Take(status.result);
    if ((bits & kDetail) != 0) in.Take(status.detail);
    if ((bits & kRemark) != 0) in.Take(status.remark);
    if ((bits & kSkipReason) != 0) in.Take(status.skip_reason);
    if ((bits & kAttempt) != 0) in.Take(status.attempt);
    if ((bits & kOwner) != 0) in.Take(status.owner);
    if ((bits & kStartedAt) != 0) in.Take(status.started_at, base);
    if ((bits & kEndedAt) != 0) in.Take(status.ended_at, base);
    if ((bits & kFinishedAt) != 0) in.Take(status.finished_at, base);
    if ((bits & kLastError) != 0) in.Take(status.last_error);
    status.cancel_requested = (bits & kCancelRequested) != 0;
    status.not_stopping = (bits & kNotStopping) != 0;
    status.blocked = (bits & kBlocked) != 0;
    if (!in.done_but_padding()) return Damaged();
    return {};
}

}  // namespace ksana::store_sqlite
