#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/libpq/params.hpp"

struct pg_result;

namespace ksana::libpq {

// The result of one statement, in binary form. Owns libpq's result; one thread at a time.
class Rows {
  public:
    Rows() = default;
    explicit Rows(pg_result* result) : result_(result) {}

    std::size_t size() const;
    bool IsNull(std::size_t row, int column) const;
    // Valid as long as the Rows.
    std::string_view Bytes(std::size_t row, int column) const;
    std::string_view CommandTag() const;  // for example "COMMIT"
    std::size_t AffectedRows() const;

  private:
    struct Clear {
        void operator()(pg_result* result) const;
    };
    std::unique_ptr<pg_result, Clear> result_;
};

// Reads the columns of one row from left to right. The Rows must outlive it. The statement defines
// the type of a column; reading another type is a bug in this module, which a failed check catches
// in part.
class RowReader {
  public:
    RowReader(const Rows& rows, std::size_t row, int column = 0)
        : rows_(rows), row_(row), column_(column) {}

    bool Bool() { return Next().front() != 0; }
    std::int16_t Int16() { return static_cast<std::int16_t>(Number()); }
    std::int32_t Int32() { return static_cast<std::int32_t>(Number()); }
    std::int64_t Int64() { return Number(); }
    std::string Text() { return std::string(Next()); }  // empty for NULL
    std::string_view Bytes() { return Next(); }         // empty for NULL; valid as long as the Rows
    Uuid Id();
    RowPlace Place();  // tid
    TimePoint Time() { return TimePoint(Duration(Number())); }
    TimePoint Timestamp();             // timestamptz
    std::vector<std::string> Texts();  // text[]

    template <class E>
    E Enum() {
        return static_cast<E>(Number());
    }

    std::optional<TimePoint> MaybeTime() {
        if (SkipNull()) return std::nullopt;
        return Time();
    }
    std::optional<Uuid> MaybeId() {
        if (SkipNull()) return std::nullopt;
        return Id();
    }
    template <class E>
    std::optional<E> MaybeEnum() {
        if (SkipNull()) return std::nullopt;
        return Enum<E>();
    }
    std::optional<std::int64_t> MaybeInt64() {
        if (SkipNull()) return std::nullopt;
        return Number();
    }
    std::int32_t Int32Or(std::int32_t fallback) { return SkipNull() ? fallback : Int32(); }
    std::int64_t Int64Or(std::int64_t fallback) { return SkipNull() ? fallback : Int64(); }
    bool BoolOr(bool fallback) { return SkipNull() ? fallback : Bool(); }
    // Returns true and skips the column if it is NULL.
    bool SkipNull() {
        if (!rows_.IsNull(row_, column_)) return false;
        ++column_;
        return true;
    }
    // For a column in which `none` or NULL means none.
    std::optional<TimePoint> TimeOrNone(std::int64_t none);

  private:
    std::string_view Next() { return rows_.Bytes(row_, column_++); }
    std::int64_t Number();

    const Rows& rows_;
    std::size_t row_;
    int column_;
};

}  // namespace ksana::libpq
