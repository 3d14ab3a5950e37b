#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/api/edge/cursors.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/http_server/routing/message.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/store/page.hpp"

namespace ksana::api {

inline constexpr std::size_t kMaxListSize = 500;
inline constexpr std::size_t kListSize = 100;
// Totals above this are reported as a lower bound.
inline constexpr std::int64_t kMaxTotal = 10'000;

// The page of a list that a client asks for.
struct PageParams {
    std::size_t limit = kListSize;
    std::string cursor;  // the client's; the store's after OpenCursor
    bool total = false;
};

PageParams ReadPage(api::QueryReader& reader, bool with_total);
// Replaces the client's cursor by the store's. Call it after the query was found valid. Returns
// kInvalidArgument for a cursor of another list, filter or order.
Result<void> OpenCursor(const http_server::Request& request, Cursors& cursors, PageParams& wish);

// Reads "name", or "-name" for descending order. Leaves both arguments unchanged if `sort` is
// absent.
template <class E>
void ReadSort(api::QueryReader& reader, E& sort, bool& descending) {
    const std::string text = reader.Text("sort");
    if (text.empty()) return;
    std::string_view name = text;
    const bool down = name.starts_with('-');
    if (down) name.remove_prefix(1);
    if (const auto found = model::FromName<E>(name)) {
        sort = *found;
        descending = down;
    } else {
        reader.NotAllowed("sort", name, model::EnumNames<E>::kNames);
    }
}

// A page ends early, with a cursor, once its items exceed kMaxPageBytes together: the size of an
// answer must not depend on the size of the jobs it lists. Items are read from the store
// kItemsAtOnce at a time.
inline constexpr std::size_t kMaxPageBytes = 8 << 20;
inline constexpr std::size_t kItemsAtOnce = 100;

// A page also ends early after about this many jobs or runs that do not match the filter: a search
// for something rare must not read the whole table. The limit is divided among the store queries of
// the page.
inline constexpr std::size_t kLooksForPage = 4'000;
inline std::size_t LooksAtOnce(const PageParams& wish) {
    return kLooksForPage / ((wish.limit + kItemsAtOnce - 1) / kItemsAtOnce);
}
// Bounds of a count; beyond them the total is a lower bound.
inline constexpr store::CountBounds kTotalBounds{.most = kMaxTotal + 1, .look = 4'000};

// A list as JSON: {"items": […], "next_cursor": …, "total": …} with a Link to the next page.
struct ListPage {
    std::vector<std::string> items;       // each a JSON value
    std::string next;                     // the store's cursor; empty: the last page
    std::optional<store::Counted> total;  // within kTotalBounds
};
// Calls list(limit, cursor) and shows each item until the page is full or one of its bounds is
// reached.
template <class List, class Show>
Result<ListPage> FillPage(const PageParams& wish, const List& list, const Show& show) {
    ListPage page;
    page.next = wish.cursor;
    std::size_t bytes = 0;
    bool enough = false;
    do {
        const std::size_t missing = wish.limit - page.items.size();
        KSANA_TRY(auto found, list(std::min(missing, kItemsAtOnce), page.next));
        for (const auto& item : found.items) {
            page.items.push_back(show(item));
            bytes += page.items.back().size();
        }
        page.next = std::move(found.next);
        enough = found.ended_early || bytes >= kMaxPageBytes;
    } while (!page.next.empty() && page.items.size() < wish.limit && !enough);
    return page;
}

Result<http_server::Response> ListAnswer(const http_server::Request& request, Cursors& cursors,
                                         const ListPage& page);

}  // namespace ksana::api
