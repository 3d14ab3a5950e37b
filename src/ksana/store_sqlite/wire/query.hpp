#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/store_sqlite/rows/run_lanes.hpp"

namespace ksana::store_sqlite {

inline std::int64_t Micros(TimePoint time) { return time.time_since_epoch().count(); }

// One use of a prepared statement; the destructor resets the statement for the next use. Parameters
// are bound one after the other, and columns are read one after the other. Bound texts must live
// until the statement has run. Used by the thread that uses the connection, which must outlive it.
// An error of a bind or a step comes out of Next or Run.
class Query {
  public:
    // The connection of a query.
    class Owner {
      public:
        // Called when a step or a bind has failed; returns the error to report.
        virtual Error StepFailed(int rc, sqlite3_stmt* statement) = 0;
        // Error that every use of the connection returns; none: the connection works.
        virtual const std::optional<Error>& broken() const = 0;

      protected:
        ~Owner() = default;
    };

    Query(Owner& owner, sqlite3_stmt* statement) : owner_(owner), statement_(statement) {}
    ~Query() { Reset(); }
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    // Resets the statement for another use with new parameters.
    Query& Again() {
        Reset();
        return *this;
    }

    Query& Int(std::int64_t value) {
        return Bound(sqlite3_bind_int64(statement_, ++bound_, value));
    }
    Query& Null() { return Bound(sqlite3_bind_null(statement_, ++bound_)); }
    Query& Text(std::string_view value) {
        // A null pointer would bind NULL, and an empty view may hold one.
        return Bound(sqlite3_bind_text64(statement_, ++bound_, value.empty() ? "" : value.data(),
                                         value.size(), SQLITE_STATIC, SQLITE_UTF8));
    }
    // Binds a text as a blob.
    Query& Bytes(std::string_view value) {
        return Bound(sqlite3_bind_blob64(statement_, ++bound_, value.empty() ? "" : value.data(),
                                         value.size(), SQLITE_STATIC));
    }
    Query& Id(const Uuid& id) {
        return Bound(sqlite3_bind_blob(statement_, ++bound_, id.bytes.data(),
                                       static_cast<int>(id.bytes.size()), SQLITE_STATIC));
    }
    Query& Range(const PlaceRange& range) { return Text(range.from).Text(range.to); }
    Query& Time(TimePoint time) { return Int(time.time_since_epoch().count()); }
    Query& Time(const std::optional<TimePoint>& time) { return time ? Time(*time) : Null(); }
    Query& TimeOr(const std::optional<TimePoint>& time, std::int64_t none) {
        return time ? Time(*time) : Int(none);
    }
    template <class E>
    Query& Enum(E value) {
        return Int(static_cast<std::int64_t>(value));
    }
    template <class E>
    Query& Enum(const std::optional<E>& value) {
        return value ? Enum(*value) : Null();
    }

    // Advances to the next row, whose columns are then read from the first one on. Returns whether
    // there is one.
    Result<bool> Next();
    // Runs the statement, ignores its rows and resets it.
    Result<void> Run();

    bool IsNull() const { return sqlite3_column_type(statement_, read_) == SQLITE_NULL; }
    void Skip() { ++read_; }
    std::int64_t Int() { return sqlite3_column_int64(statement_, read_++); }
    std::string_view View();
    std::string Text() { return std::string(View()); }
    void Into(std::string& out) { out.assign(View()); }
    Uuid Id();
    bool Bool() { return Int() != 0; }
    TimePoint Time() { return TimePoint(Duration(Int())); }
    std::optional<TimePoint> OptionalTime();
    std::optional<TimePoint> TimeUnless(std::int64_t none);
    template <class E>
    E Enum() {
        return static_cast<E>(Int());
    }
    template <class E>
    std::optional<E> OptionalEnum() {
        if (!IsNull()) return Enum<E>();
        Skip();
        return std::nullopt;
    }

  private:
    Query& Bound(int rc) {
        if (rc != SQLITE_OK) [[unlikely]]
            bind_failure_ = rc;
        return *this;
    }
    void Reset() {
        if (statement_ != nullptr) sqlite3_reset(statement_);
        bound_ = 0;
        bind_failure_ = SQLITE_OK;
    }

    Owner& owner_;
    sqlite3_stmt* statement_;  // null: it could not be prepared, and the owner is broken
    int bound_ = 0;
    int read_ = 0;
    int bind_failure_ = SQLITE_OK;
};

}  // namespace ksana::store_sqlite
