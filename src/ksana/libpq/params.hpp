#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::libpq {

// Type OIDs from PostgreSQL's catalogue; they never change.
inline constexpr std::uint32_t kBoolOid = 16;
inline constexpr std::uint32_t kByteaOid = 17;
inline constexpr std::uint32_t kInt8Oid = 20;
inline constexpr std::uint32_t kInt2Oid = 21;
inline constexpr std::uint32_t kInt4Oid = 23;
inline constexpr std::uint32_t kTextOid = 25;
inline constexpr std::uint32_t kTidOid = 27;
inline constexpr std::uint32_t kXidOid = 28;
inline constexpr std::uint32_t kUuidOid = 2950;

// Location of a row in its table (ctid). Valid as long as the row is not changed.
struct RowPlace {
    std::array<char, 6> bytes{};
};

// One version of a row: its location and the transaction that has written it (xmin). Every change
// of the row makes a new version; a lock does not.
struct RowVersion {
    RowPlace place;
    std::int32_t writer = 0;
};

// Append the binary form of one value, most significant byte first.
void AppendBinary(std::string& out, bool value);
void AppendBinary(std::string& out, std::int16_t value);
void AppendBinary(std::string& out, std::int32_t value);
void AppendBinary(std::string& out, std::int64_t value);
void AppendBinary(std::string& out, std::string_view value);
void AppendBinary(std::string& out, const Uuid& value);
void AppendBinary(std::string& out, const RowPlace& value);

constexpr std::uint32_t OidOf(bool) { return kBoolOid; }
constexpr std::uint32_t OidOf(std::int16_t) { return kInt2Oid; }
constexpr std::uint32_t OidOf(std::int32_t) { return kInt4Oid; }
constexpr std::uint32_t OidOf(std::int64_t) { return kInt8Oid; }
constexpr std::uint32_t OidOf(std::string_view) { return kTextOid; }
constexpr std::uint32_t OidOf(const Uuid&) { return kUuidOid; }

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// An element of an array parameter is its length and then its binary form; NULL is the length -1.
// SetLength fills in the length of the element that begins at `start`.
void SetLength(std::string& out, std::size_t start);
inline constexpr std::int32_t kNullLength = -1;

template <class T>
requires(!kIsOptional<T>) void AppendElement(std::string& out, const T& value) {
    const std::size_t start = out.size();
    AppendBinary(out, std::int32_t{0});
    AppendBinary(out, value);
    SetLength(out, start);
}
template <class T>
void AppendElement(std::string& out, const std::optional<T>& value) {
    if (value) return AppendElement(out, *value);
    AppendBinary(out, kNullLength);
}

// Times as stored in the tables: microseconds since 1970.
inline std::int64_t Micros(TimePoint time) { return time.time_since_epoch().count(); }
inline std::optional<std::int64_t> Micros(const std::optional<TimePoint>& time) {
    if (!time) return std::nullopt;
    return Micros(*time);
}

// Enumerations as stored in the tables.
template <class E>
requires std::is_enum_v<E> std::int16_t Small(E value) { return static_cast<std::int16_t>(value); }
template <class E>
requires std::is_enum_v<E> std::optional<std::int16_t> Small(const std::optional<E>& value) {
    if (!value) return std::nullopt;
    return Small(*value);
}

// The parameters of one statement, all in binary form. The statement names their types ($1::text),
// so that a value of the wrong type is an error of the server and never a wrong value. Not
// thread-safe.
class Params {
  public:
    template <class T>
    requires(!kIsOptional<T>) Params& Add(const T& value) {
        AppendBinary(*values_.emplace_back(std::in_place), value);
        return *this;
    }
    template <class T>
    Params& Add(const std::optional<T>& value) {
        if (value) return Add(*value);
        values_.emplace_back(std::nullopt);
        return *this;
    }

    // Adds an array with one element for each item. `element` may return an optional, for NULL.
    template <class Items, class F>
    Params& Array(const Items& items, const F& element) {
        using Element = std::remove_cvref_t<decltype(element(*std::begin(items)))>;
        std::string body;
        for (const auto& item : items) AppendElement(body, element(item));
        AddElements(body, std::size(items), ElementOid<Element>());
        return *this;
    }
    template <class Items>
    Params& Array(const Items& items) {
        return Array(
            items, [](const auto& item) -> const auto& { return item; });
    }

    // Add what AppendElement has built: `count` elements as an array, or one element as a plain
    // value.
    void AddElements(std::string_view elements, std::size_t count, std::uint32_t oid);
    void AddElement(std::string_view element);

    std::size_t size() const { return values_.size(); }
    const std::vector<std::optional<std::string>>& values() const { return values_; }

  private:
    template <class T>
    static constexpr std::uint32_t ElementOid() {
        if constexpr (kIsOptional<T>) return OidOf(typename T::value_type{});
        if constexpr (!kIsOptional<T>) return OidOf(T{});
    }

    std::vector<std::optional<std::string>> values_;  // none: NULL
};

}  // namespace ksana::libpq
