#include "ksana/store_sqlite/packed_run.hpp"

#include <cstdint>

namespace ksana::store_sqlite {

using model::Run;
using model::RunStatus;
using model::UniqueRule;

namespace {

constexpr std::uint64_t kVersion = 1;

// Seven bits a byte, the lowest first.
void PutNumber(std::string& out, std::uint64_t value) {
    while (value >= 0x80) {
        out.push_back(static_cast<char>(value | 0x80U));
        value >>= 7U;
    }
    out.push_back(static_cast<char>(value));
}

// Also negative ones stay short.
void Put(std::string& out, std::int64_t value) {
    PutNumber(out,
              (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63));
}
void Put(std::string& out, TimePoint time) { Put(out, time.time_since_epoch().count()); }
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
    void Take(std::optional<TimePoint>& out) {
        std::int64_t micros = 0;
        Take(micros);
        out = TimePoint(Duration(micros));
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

  private:
    std::string_view rest_;
    bool ok_ = true;
};

enum FixedBit : std::uint64_t {
    kKey = 1U << 0U,
    kStates = 1U << 1U,
    kUntil = 1U << 2U,
    kSelector = 1U << 3U
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
};

constexpr std::uint64_t When(bool condition, std::uint64_t bit) { return condition ? bit : 0; }

std::uint64_t BitsOf(const RunStatus& status) {
    return When(status.failures != 0, kFailures) | When(status.fence != 0, kFence) |
           When(!status.exec_id.empty(), kExecId) |
           When(status.last_report.has_value(), kLastReport) |
           When(status.outcome.has_value(), kOutcome) |
           When(status.lease_until.has_value(), kLeaseUntil) |
           When(status.deadline.has_value(), kDeadline) | When(status.progress != 0, kProgress) |
           When(!status.progress_note.empty(), kProgressNote) |
           When(status.cancel_requested, kCancelRequested) |
           When(status.not_stopping, kNotStopping) | When(!status.result.empty(), kResult) |
           When(!status.detail.empty(), kDetail) | When(!status.remark.empty(), kRemark) |
           When(status.skip_reason != model::SkipReason::kNone, kSkipReason);
}

Error Damaged() {
    return {Code::kDataLoss, "sqlite: a stored run is damaged, or made by a newer program"};
}

}  // namespace

std::string PackFixed(const Run& run) {
    const UniqueRule& unique = run.unique;
    const std::uint64_t bits =
        When(!unique.key.empty(), kKey) | When(unique.states != UniqueRule{}.states, kStates) |
        When(unique.until.has_value(), kUntil) | When(!run.selector.empty(), kSelector);
    std::string out;
    if (bits == 0) return out;
    PutNumber(out, kVersion);
    PutNumber(out, bits);
    if ((bits & kKey) != 0) Put(out, std::string_view(unique.key));
    if ((bits & kStates) != 0) PutNumber(out, unique.states);
    if ((bits & kUntil) != 0) Put(out, *unique.until);
    if ((bits & kSelector) != 0) {
        PutNumber(out, run.selector.size());
        for (const auto& [key, value] : run.selector) {
            Put(out, std::string_view(key));
            Put(out, std::string_view(value));
        }
    }
    return out;
}

Result<void> UnpackFixed(std::string_view blob, Run& run) {
    if (blob.empty()) return {};
    Unpacker in(blob);
    if (in.Number() != kVersion) return Damaged();
    const std::uint64_t bits = in.Number();
    if ((bits & kKey) != 0) in.Take(run.unique.key);
    if ((bits & kStates) != 0) run.unique.states = static_cast<model::RunStates>(in.Number());
    if ((bits & kUntil) != 0) in.Take(run.unique.until);
    const std::uint64_t labels = (bits & kSelector) != 0 ? in.Number() : 0;
    for (std::uint64_t i = 0; i < labels && in.ok(); ++i) {
        std::string key;
        in.Take(key);
        in.Take(run.selector[key]);
    }
    if (!in.done()) return Damaged();
    return {};
}

void PackStatus(const RunStatus& status, std::string& out) {
    const std::uint64_t bits = BitsOf(status);
    out.clear();
    PutNumber(out, kVersion);
    PutNumber(out, bits);
    if ((bits & kFailures) != 0) Put(out, std::int64_t{status.failures});
    if ((bits & kFence) != 0) Put(out, status.fence);
    if ((bits & kExecId) != 0) Put(out, std::string_view(status.exec_id));
    if ((bits & kLastReport) != 0) Put(out, *status.last_report);
    if ((bits & kOutcome) != 0) Put(out, *status.outcome);
    if ((bits & kLeaseUntil) != 0) Put(out, *status.lease_until);
    if ((bits & kDeadline) != 0) Put(out, *status.deadline);
    if ((bits & kProgress) != 0) Put(out, std::int64_t{status.progress});
    if ((bits & kProgressNote) != 0) Put(out, std::string_view(status.progress_note));
    if ((bits & kResult) != 0) Put(out, std::string_view(status.result));
    if ((bits & kDetail) != 0) Put(out, std::string_view(status.detail));
    if ((bits & kRemark) != 0) Put(out, std::string_view(status.remark));
    if ((bits & kSkipReason) != 0) Put(out, status.skip_reason);
}

Result<void> UnpackStatus(std::string_view blob, RunStatus& status) {
    Unpacker in(blob);
    if (in.Number() != kVersion) return Damaged();
    const std::uint64_t bits = in.Number();
    if ((bits & kFailures) != 0) in.Take(status.failures);
    if ((bits & kFence) != 0) in.Take(status.fence);
    if ((bits & kExecId) != 0) in.Take(status.exec_id);
    if ((bits & kLastReport) != 0) in.Take(status.last_report);
    if ((bits & kOutcome) != 0) in.Take(status.outcome);
    if ((bits & kLeaseUntil) != 0) in.Take(status.lease_until);
    if ((bits & kDeadline) != 0) in.Take(status.deadline);
    if ((bits & kProgress) != 0) in.Take(status.progress);
    if ((bits & kProgressNote) != 0) in.Take(status.progress_note);
    if ((bits & kResult) != 0) in.Take(status.result);
    if ((bits & kDetail) != 0) in.Take(status.detail);
    if ((bits & kRemark) != 0) in.Take(status.remark);
    if ((bits & kSkipReason) != 0) in.Take(status.skip_reason);
    status.cancel_requested = (bits & kCancelRequested) != 0;
    status.not_stopping = (bits & kNotStopping) != 0;
    if (!in.done()) return Damaged();
    return {};
}

}  // namespace ksana::store_sqlite
