#include "ksana/store_postgres/packed_run.hpp"

#include <cstdint>
#include <optional>
#include <type_traits>

namespace ksana::store_postgres {
namespace {

using model::Run;
using model::RunStatus;

// Says once what is in a value, for the writer and for the reader: the order is that of the bits.
template <class Io, class AnyRun>
void VisitFixed(Io& io, AnyRun& run) {
    io.Field(run.priority, model::kDefaultPriority);
    io.Field(run.unique.states, model::kUnfinishedStates);
    io.Field(run.unique.until, {});
}

template <class Io, class AnyStatus>
void VisitStatus(Io& io, AnyStatus& status) {
    io.Field(status.failures, 0);
    io.Field(status.fence, 0);
    io.Field(status.exec_id, {});
    io.Field(status.last_report, {});
    io.Field(status.outcome, {});
    io.Field(status.lease_until, {});
    io.Field(status.deadline, {});
    io.Field(status.started_at, {});
    io.Field(status.ended_at, {});
    io.Field(status.progress, 0);
    io.Field(status.progress_note, {});
    io.Field(status.cancel_requested, false);
    io.Field(status.not_stopping, false);
    io.Field(status.result, {});
    io.Field(status.detail, {});
    io.Field(status.remark, {});
    io.Field(status.skip_reason, model::SkipReason::kNone);
}

constexpr std::size_t kMaskBytes = 4;

class Writer {
  public:
    // Appends to `out`, and nothing at all while every field is its default.
    explicit Writer(std::string& out) : out_(out), start_(out.size()) {}

    template <class T>
    void Field(const T& value, const std::type_identity_t<T>& fallback) {
        if (value != fallback) {
            if (mask_ == 0) out_.append(kMaskBytes, '\0');
            mask_ |= 1U << bit_;
            Put(value);
        }
        ++bit_;
    }

    ~Writer() {
        if (mask_ == 0) return;
        for (std::size_t i = 0; i < kMaskBytes; ++i) {
            out_[start_ + i] = static_cast<char>((mask_ >> (8 * i)) & 0xffU);
        }
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

  private:
    // Seven bits a byte, the lowest first.
    void PutNumber(std::uint64_t value) {
        while (value >= 0x80) {
            out_.push_back(static_cast<char>(value | 0x80U));
            value >>= 7U;
        }
        out_.push_back(static_cast<char>(value));
    }
    void Put(const std::string& value) {
        PutNumber(value.size());
        out_.append(value);
    }
    // Also negative ones stay short.
    void Put(std::int64_t value) {
        PutNumber((static_cast<std::uint64_t>(value) << 1U) ^
                  static_cast<std::uint64_t>(value >> 63));
    }
    void Put(TimePoint value) { Put(std::int64_t{value.time_since_epoch().count()}); }
    template <class T>
    void Put(const std::optional<T>& value) {
        Put(*value);
    }
    template <class E>
    requires std::is_enum_v<E>
    void Put(E value) { PutNumber(static_cast<std::uint64_t>(value)); }

    std::string& out_;
    const std::size_t start_;
    std::uint32_t mask_ = 0;
    unsigned bit_ = 0;
};

// Anything wrong makes it not done.
class Reader {
  public:
    explicit Reader(std::string_view packed) : rest_(packed) {
        if (packed.empty()) return;
        ok_ = packed.size() >= kMaskBytes;
        if (!ok_) return;
        for (std::size_t i = 0; i < kMaskBytes; ++i) {
            mask_ |= std::uint32_t{static_cast<std::uint8_t>(packed[i])} << (8 * i);
        }
        rest_.remove_prefix(kMaskBytes);
    }

    template <class T>
    void Field(T& value, const std::type_identity_t<T>& fallback) {
        if ((mask_ & 1U) != 0) {
            Take(value);
        } else {
            value = fallback;
        }
        mask_ >>= 1U;
    }

    bool done() const { return ok_ && mask_ == 0 && rest_.empty(); }

  private:
    std::uint64_t Number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            const auto byte = static_cast<std::uint8_t>(rest_.front());
            rest_.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if (byte < 0x80) return value;
        }
        ok_ = false;
        return 0;
    }
    void Take(std::string& value) {
        const std::uint64_t size = Number();
        ok_ = ok_ && size <= rest_.size();
        if (!ok_) return;
        value.assign(rest_.substr(0, size));
        rest_.remove_prefix(size);
    }
    template <class T>
    requires std::is_integral_v<T>
    void Take(T& value) {
        const std::uint64_t number = Number();
        value = static_cast<T>(static_cast<std::int64_t>(number >> 1U) ^
                               -static_cast<std::int64_t>(number & 1U));
    }
    void Take(TimePoint& value) {
        std::int64_t micros = 0;
        Take(micros);
        value = TimePoint(Duration(micros));
    }
    template <class E>
    requires std::is_enum_v<E>
    void Take(E& value) {
        const std::uint64_t number = Number();
        ok_ = ok_ && number < model::kEnumCount<E>;
        value = static_cast<E>(number);
    }
    template <class T>
    void Take(std::optional<T>& value) {
        Take(value.emplace());
    }

    std::string_view rest_;
    std::uint32_t mask_ = 0;
    bool ok_ = true;
};

Error Damaged() {
    return {Code::kDataLoss, "PostgreSQL: a stored run is damaged, or made by a newer program"};
}

}  // namespace

void PackFixed(const Run& run, std::string& out) {
    Writer writer(out);
    VisitFixed(writer, run);
}

Result<void> UnpackFixed(std::string_view packed, Run& run) {
    Reader reader(packed);
    VisitFixed(reader, run);
    if (!reader.done()) return Damaged();
    return {};
}

void PackStatus(const RunStatus& status, std::string& out) {
    Writer writer(out);
    VisitStatus(writer, status);
}

Result<void> UnpackStatus(std::string_view packed, RunStatus& status) {
    Reader reader(packed);
    VisitStatus(reader, status);
    if (!reader.done()) return Damaged();
    return {};
}

}  // namespace ksana::store_postgres
