#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ksana/model/enum_names.hpp"
#include "ksana/store_kit/driver/pack_writer.hpp"

namespace ksana::store_kit {

// Reads a blob that a PackWriter wrote. After malformed input `ended` and `done` return false and
// the values read are meaningless. An empty blob means that every field has its default. The blob
// must outlive the reader. Not thread-safe.
class PackReader {
  public:
    explicit PackReader(std::string_view packed) : rest_(packed) {
        if (packed.empty()) return;
        ok_ = packed.size() >= kPackMaskBytes;
        if (!ok_) return;
        for (std::size_t i = 0; i < kPackMaskBytes; ++i) {
            mask_ |= std::uint32_t{static_cast<std::uint8_t>(packed[i])} << (8 * i);
        }
        rest_.remove_prefix(kPackMaskBytes);
    }

    template <class T>
    void Field(T& value, const std::type_identity_t<T>& fallback) {
        if (Bit()) {
            Take(value);
        } else {
            value = fallback;
        }
    }
    void Field(std::string& value, std::string_view fallback) {
        if (Bit()) {
            Take(value);
        } else if (fallback.empty()) {
            value.clear();  // the usual case, and much faster
        } else {
            value = fallback;
        }
    }
    void Flag(bool& value) { value = Bit(); }
    void Near(std::optional<TimePoint>& value, TimePoint base) {
        value.reset();
        if (!Bit()) return;
        std::int64_t micros = 0;
        Take(micros);
        value = base + Duration(micros);
    }
    void ExecId(std::string& value) {
        value.clear();
        if (Bit()) {
            Uuid id;
            Take(id);
            value = id.ToString();
        }
        if (Bit()) Take(value);
    }
    template <class T>
    void Value(T& value) {
        Take(value);
    }
    template <class T, class F>
    void Each(std::vector<T>& items, const F& visit) {
        items.clear();
        if (!Bit()) return;
        const std::uint64_t count = Number();
        // Every item takes at least one byte.
        ok_ = ok_ && count <= rest_.size();
        for (std::uint64_t i = 0; i < count && ok_; ++i) visit(*this, items.emplace_back());
    }

    // Returns whether every field was read. `rest` is the part that follows.
    bool ended() const { return ok_ && mask_ == 0; }
    std::string_view rest() const { return rest_; }
    bool done() const { return ended() && rest_.empty(); }
    // Like `done`, but allows zero bytes at the end.
    bool done_but_padding() const {
        if (!ended()) return false;
        // Compares each byte with the one before it, which memcmp does many at a time.
        return rest_.empty() ||
               (rest_[0] == '\0' && rest_.substr(1) == rest_.substr(0, rest_.size() - 1));
    }

  private:
    bool Bit() {
        const bool set = (mask_ & 1U) != 0;
        mask_ >>= 1U;
        return set;
    }
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
    void Take(Duration& value) {
        std::int64_t micros = 0;
        Take(micros);
        value = Duration(micros);
    }
    void Take(double& value) {
        ok_ = ok_ && sizeof(value) <= rest_.size();
        if (!ok_) return;
        std::memcpy(&value, rest_.data(), sizeof(value));
        rest_.remove_prefix(sizeof(value));
    }
    void Take(Uuid& value) {
        ok_ = ok_ && value.bytes.size() <= rest_.size();
        if (!ok_) return;
        std::memcpy(value.bytes.data(), rest_.data(), value.bytes.size());
        rest_.remove_prefix(value.bytes.size());
    }
    void Take(TextMap& map) {
        map.clear();
        const std::uint64_t count = Number();
        for (std::uint64_t i = 0; i < count && ok_; ++i) {
            std::string key;
            Take(key);
            Take(map[key]);
        }
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

}  // namespace ksana::store_kit
