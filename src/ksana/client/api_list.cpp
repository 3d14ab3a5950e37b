#include "ksana/client/api_list.hpp"

#include <algorithm>
#include <utility>

namespace ksana::client {

using codec::Json;

namespace {

constexpr std::size_t kPage = 500;  // the API's maximum
// The most empty pages in a row, as a search for rare items may give; more than any list has.
constexpr int kMaxEmptyPages = 100'000;

}  // namespace

Json ApiList::AsPage() const {
    const Json cursor = next_cursor.empty() ? Json() : Json::Of(next_cursor);
    return last_page.With("/items", Json::Array(items)).With("/next_cursor", cursor);
}

Result<ApiList> ListAll(ApiClient& api, const std::string& path, const Query& query,
                        std::size_t most) {
    ApiList list;
    int empty_pages = 0;
    while (list.items.size() < most) {
        Query asked = query;
        asked.emplace_back("limit", std::to_string(std::min(kPage, most - list.items.size())));
        if (!list.next_cursor.empty()) asked.emplace_back("cursor", list.next_cursor);
        KSANA_TRY(ApiAnswer answer, api.Get(path, std::move(asked)));
        std::vector<Json> items = answer.json.At("/items").Items();
        empty_pages = items.empty() ? empty_pages + 1 : 0;
        const std::string asked_cursor = std::move(list.next_cursor);
        std::move(items.begin(), items.end(), std::back_inserter(list.items));
        list.next_cursor = answer.json.TextAt("/next_cursor");
        list.last_page = answer.json;
        if (list.next_cursor.empty()) break;
        if (list.next_cursor == asked_cursor || empty_pages > kMaxEmptyPages) {
            return Error(Code::kInternal, "the server gives pages without an end");
        }
    }
    return list;
}

}  // namespace ksana::client
