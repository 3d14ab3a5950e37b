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
// Totals are counted up to here.
inline constexpr std::int64_t kMaxTotal = 10'000;

// Which page of a list is asked for.
struct PageWish {
    std::size_t limit = kListSize;
    std::string cursor;  // of the store, once OpenCursor was called
    bool total = false;
};

PageWish ReadPage(api::QueryReader& reader, bool with_total);
// After the query was found to be right.
Result<void> OpenCursor(const http_server::Request& request, Cursors& cursors, PageWish& wish);

// "name" or "-name" for the order the other way round; leaves both alone where it is absent.
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

// A page ends early, with a cursor, once its items are larger than this together: an answer must
// not grow with what somebody wrote into a thousand jobs. What a store gives at once is bounded so:
inline constexpr std::size_t kMaxPageBytes = 8 << 20;
inline constexpr std::size_t kItemsAtOnce = 100;

// A page also ends early once about so many jobs or runs were looked at for it that do not belong
// to the list: a search for what hardly any has must not take as long as there are rows. Each of
// the questions that a page takes has its share.
inline constexpr std::size_t kLooksForPage = 4'000;
inline std::size_t LooksAtOnce(const PageWish& wish) {
    return kLooksForPage / ((wish.limit + kItemsAtOnce - 1) / kItemsAtOnce);
}
// Likewise a total, which is then a lower bound.
inline constexpr store::CountBounds kTotalBounds{.most = kMaxTotal + 1, .look = 4'000};

// {"items": […], "next_cursor": …, "total": …} with a Link to the next page.
struct ListPage {
    std::vector<std::string> items;       // each a JSON value
    std::string next;                     // the store's cursor; empty: the last page
    std::optional<store::Counted> total;  // within kTotalBounds
};
// Asks the store by list(limit, cursor), and shows each item, until the page is full.
template <class List, class Show>
Result<ListPage> FillPage(const PageWish& wish, const List& list, const Show& show) {
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
        enough = found.looked_enough || bytes >= kMaxPageBytes;
    } while (!page.next.empty() && page.items.size() < wish.limit && !enough);
    return page;
}

Result<http_server::Response> ListAnswer(const http_server::Request& request, Cursors& cursors,
                                         const ListPage& page);

}  // namespace ksana::api
