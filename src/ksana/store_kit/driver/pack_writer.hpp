#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"

// Stores the fields of a structure in a short blob instead of columns: a 4-byte mask of the fields
// that differ from their default, followed by those fields. A driver lists the fields of a blob
// once, in a function that it calls with a writer and with a reader (pack_reader.hpp). The order of
// the fields is the order of the bits, so new fields are added at the end. A reader that meets an
// unknown bit is not `done`. More than 32 fields are stored as several parts in a row.

namespace ksana::store_kit {

inline constexpr std::size_t kPackMaskBytes = 4;

// Appends one part to a string; complete when the writer is destroyed. The string must outlive it.
// Not thread-safe.
class PackWriter {
  public:
    // Appends to `out`. `always` writes the mask even if every field has its default, which is
    // necessary where another part precedes or follows.
    explicit PackWriter(std::string& out, bool always = false)  // NOLINT(*-member-init): buffer_
        : out_(out), start_(out.size()) {
        if (always) Begin();
    }
    PackWriter(const PackWriter&) = delete;
    PackWriter& operator=(const PackWriter&) = delete;
    ~PackWriter() {
        if (!begun_) return;
        char* const mask = out_.size() > start_ ? &out_[start_] : buffer_.data();
        for (std::size_t i = 0; i < kPackMaskBytes; ++i) {
            mask[i] = static_cast<char>((mask_ >> (8 * i)) & 0xffU);
        }
        Flush();
    }

    template <class T>
    void Field(const T& value, const std::type_identity_t<T>& fallback) {
        if (Bit(value != fallback)) Put(value);
    }
    void Field(const std::string& value, std::string_view fallback) {
        if (Bit(value != fallback)) Put(value);
    }
    // A flag has a bit and no value.
    void Flag(bool value) { Bit(value); }
    // Stores the distance from `base`, which is shorter than the full time.
    void Near(const std::optional<TimePoint>& value, TimePoint base) {
        if (Bit(value.has_value())) Put(std::int64_t{(*value - base).count()});
    }
    // Most exec ids are UUIDs, which take 16 bytes instead of 36.
    void ExecId(const std::string& value) {
        const std::optional<Uuid> uuid = Uuid::ParseExact(value);
        if (Bit(uuid.has_value())) Put(*uuid);
        if (Bit(!uuid && !value.empty())) Put(value);
    }
    // Stores the value always; it has no bit.
    template <class T>
    void Value(const T& value) {
        Begin();
        Put(value);
    }
    // Calls visit(*this, item) for each item, which stores its members with Value.
    template <class T, class F>
    void Each(const std::vector<T>& items, const F& visit) {
        if (!Bit(!items.empty())) return;
        PutNumber(items.size());
        for (const T& item : items) visit(*this, item);
    }

  private:
    void Begin() {
        if (begun_) return;
        begun_ = true;
        used_ = kPackMaskBytes;
    }
    void Flush() {
        out_.append(buffer_.data(), used_);
        used_ = 0;
    }
    void PutBytes(const void* bytes, std::size_t size) {
        if (size > buffer_.size() - used_) Flush();
        if (size > buffer_.size()) {
            out_.append(static_cast<const char*>(bytes), size);
            return;
        }
        std::memcpy(buffer_.data() + used_, bytes, size);
        used_ += size;
    }
    bool Bit(bool set) {
        if (set) {
            Begin();
            mask_ |= 1U << bit_;
        }
        ++bit_;
        return set;
    }
    // Varint: seven bits per byte, lowest first.
    void PutNumber(std::uint64_t value) {
        constexpr std::size_t kMost = 10;
        if (kMost > buffer_.size() - used_) Flush();
        while (value >= 0x80) {
            buffer_[used_++] = static_cast<char>(value | 0x80U);
            value >>= 7U;
        }
        buffer_[used_++] = static_cast<char>(value);
    }
    void Put(const std::string& value) {
        PutNumber(value.size());
        PutBytes(value.data(), value.size());
    }
    // Zigzag: small negative numbers stay short.
    template <class T>
    requires std::is_integral_v<T>
    void Put(T number) {
        const auto value = static_cast<std::int64_t>(number);
        PutNumber((static_cast<std::uint64_t>(value) << 1U) ^
                  static_cast<std::uint64_t>(value >> 63));
    }
    void Put(TimePoint value) { Put(std::int64_t{value.time_since_epoch().count()}); }
    void Put(Duration value) { Put(std::int64_t{value.count()}); }
    void Put(double value) { PutBytes(&value, sizeof(value)); }
    void Put(const Uuid& value) { PutBytes(value.bytes.data(), value.bytes.size()); }
    void Put(const TextMap& map) {
        PutNumber(map.size());
        for (const auto& [key, value] : map) {
            Put(key);
            Put(value);
        }
    }
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
    bool begun_ = false;
    // Bytes not yet in out_. Most writes are a byte or two, for which appending to a string is
    // slow.
    std::size_t used_ = 0;
    std::array<char, 256> buffer_;  // NOLINT(*-member-init): read no further than used_
};

}  // namespace ksana::store_kit
