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

// One page of a list. Rows inserted or deleted between two pages neither repeat nor hide other
// items.
template <class T>
struct Page {
    std::vector<T> items;
    std::string next;  // cursor of the next page; empty: this was the last
    // The page ended early because the query's bound on examined rows (`look`) was reached. The
    // page may be empty.
    bool ended_early = false;
};

// Bounds of a count.
struct CountBounds {
    std::int64_t most = 0;  // the count stops here
    std::size_t look = 0;   // about how many rows to examine at most; 0: no bound
};
struct Counted {
    std::int64_t count = 0;
    bool complete = true;  // false: the bound `look` was reached before all rows were examined
    friend bool operator==(const Counted&, const Counted&) = default;
};

// The last item of a page: the value it is sorted by, and its id, which breaks ties. A cursor is
// neither secret nor trusted: ParseCursor checks it.
struct Position {
    std::string value;
    std::string id;
    friend bool operator==(const Position&, const Position&) = default;
};

// Returns a cursor that contains the sort, so that a list in another order refuses it.
std::string MakeCursor(std::string_view sort, const Position& position);
// Returns nothing for an empty cursor (the first page), kInvalidArgument for a malformed one or one
// of another sort.
Result<std::optional<Position>> ParseCursor(std::string_view sort, std::string_view cursor);

// Returns the cursor of an ascending event list that continues after `seq`, whether or not that
// event still exists.
inline std::string EventsAfter(std::int64_t seq) {
    return MakeCursor("seq", {"", std::to_string(seq)});
}

// Returns the cursor of a run list in the default order (newest id first) that continues after
// `id`, for a caller that used only part of a page.
inline std::string RunsAfter(const Uuid& id) { return MakeCursor("-id", {"0", id.ToString()}); }

// A page of a list that has no filter but the beginning of the key.
struct ListParams {
    std::string prefix;  // of the key; empty: all
    std::size_t limit = kDefaultPageSize;
    std::string cursor;
};

}  // namespace ksana::store
