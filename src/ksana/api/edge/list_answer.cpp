#include "ksana/api/edge/list_answer.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ksana/api/edge/cursors.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/http_server/routing/problem.hpp"

namespace ksana::api {
namespace {

using http_server::Request;
using http_server::Response;

// Returns what a cursor is bound to: the path, and the query without the parameters that may differ
// from page to page.
std::string ScopeOf(const Request& request) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : request.query) {
        if (name == "cursor" || name == "limit" || name == "total") continue;
        parts.push_back(fmt::format("{}:{}={}", name.size(), name, value));
    }
    std::ranges::sort(parts);
    return Sha256(fmt::format("{}\n{}", request.path, fmt::join(parts, "\n")));
}

std::string TotalText(const store::Counted& total) {
    return ObjectText()
        .Put("count", std::min(total.count, kMaxTotal))
        .Put("relation", total.count > kMaxTotal || !total.complete ? "at_least" : "exact")
        .Take();
}

}  // namespace

PageParams ReadPage(api::QueryReader& reader, bool with_total) {
    PageParams wish;
    wish.limit = reader.Number("limit", 1, kMaxListSize, kListSize);
    wish.cursor = reader.Text("cursor");
    if (with_total) wish.total = reader.Flag("total").value_or(false);
    return wish;
}

Result<void> OpenCursor(const Request& request, Cursors& cursors, PageParams& wish) {
    KSANA_TRY(wish.cursor, cursors.Open(ScopeOf(request), wish.cursor));
    return {};
}

Result<Response> ListAnswer(const Request& request, Cursors& cursors, const ListPage& page) {
    ObjectText object;
    object.Raw("items", fmt::format("[{}]", fmt::join(page.items, ",")));
    std::string link;
    if (page.next.empty()) {
        object.Raw("next_cursor", "null");
    } else {
        KSANA_TRY(const std::string cursor, cursors.Seal(ScopeOf(request), page.next));
        object.Put("next_cursor", cursor);
        link = http_server::NextLink(request, cursor);
    }
    if (page.total) object.Raw("total", TotalText(*page.total));
    Response response = http_server::JsonResponse(200, object.Take());
    if (!link.empty()) response.headers.emplace_back("Link", std::move(link));
    return response;
}

}  // namespace ksana::api
