#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"

namespace ksana::store {

inline constexpr std::size_t kMaxPageSize = 1'000;
inline constexpr std::size_t kDefaultPageSize = 100;

// One page of a list. `next` continues it: what is inserted or deleted between two pages makes no
// other item appear twice or not at all.
template <class T>
struct Page {
    std::vector<T> items;
    std::string next;  // empty: this was the last one
    // It ended early: so many rows as the query allows were looked at. It may even be empty.
    bool looked_enough = false;
};

// How many there are, of which somebody wants to know up to a number.
struct CountBounds {
    std::int64_t most = 0;  // stops there
    std::size_t look = 0;   // rows that are looked at, at most (about); 0: as many as it takes
};
struct Counted {
    std::int64_t count = 0;
    bool complete = true;  // false: rows were left that nobody looked at
    friend bool operator==(const Counted&, const Counted&) = default;
};

// Where a page ended: the value it is sorted by and the id that breaks ties. Text inside a cursor
// is not a secret and not trusted: Parse checks it.
struct Position {
    std::string value;
    std::string id;
    friend bool operator==(const Position&, const Position&) = default;
};

// The sort is part of the cursor, so that one made for another order is refused.
std::string MakeCursor(std::string_view sort, const Position& position);
// Nothing for an empty cursor: the first page.
Result<std::optional<Position>> ParseCursor(std::string_view sort, std::string_view cursor);

// The cursor of an ascending list of events that goes on after the event of this number, whether it
// is (still) there or not.
inline std::string EventsAfter(std::int64_t seq) {
    return MakeCursor("seq", {"", std::to_string(seq)});
}

// The cursor of a list of runs in its first order, the newest id first, that goes on after this
// run: for who takes only a part of a page.
inline std::string RunsAfter(const Uuid& id) { return MakeCursor("-id", {"0", id.ToString()}); }

}  // namespace ksana::store
