#include "ksana/api/dispatcher/numbered_page.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <limits>

#include "ksana/api/edge/object_text.hpp"

namespace ksana::api {

NumberedPage ReadNumberedPage(QueryReader& reader) {
    NumberedPage page;
    page.page = reader.Number("page", 1, std::numeric_limits<std::int32_t>::max(), 1);
    page.size = reader.Number("size", 1, kMaxDispatcherPage, kDispatcherPageSize);
    if (page.end() > kDispatcherDepth) {
        reader.Fault("page",
                     fmt::format("goes beyond the first {} items: narrow the query, or use the "
                                 "cursors of /api/v1",
                                 kDispatcherDepth),
                     "out_of_range");
    }
    return page;
}

http_server::Response NumberedAnswer(const NumberedPage& page, const NumberedItems& found) {
    ObjectText text;
    text.Raw("items", fmt::format("[{}]", fmt::join(found.items, ",")));
    text.Put("page", static_cast<std::int64_t>(page.page));
    text.Put("size", static_cast<std::int64_t>(page.size));
    text.Put("total", static_cast<std::int64_t>(found.total));
    text.Put("relation", found.exact ? "exact" : "at_least");
    return http_server::JsonResponse(200, text.Take());
}

}  // namespace ksana::api
