#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ksana/api/edge/query_reader.hpp"
#include "ksana/http_server/routing/message.hpp"

// Lists of document D: pages with numbers, {"items": […], "page": 1, "size": 20, "total": 7}.

namespace ksana::api {

// The items that page numbers reach; whoever wants others narrows the query, or uses /api/v1. Each
// page is found by counting from the start, so this also bounds the work.
inline constexpr std::size_t kDispatcherDepth = 10'000;
inline constexpr std::size_t kMaxDispatcherPage = 500;
inline constexpr std::size_t kDispatcherPageSize = 20;

// The page that a client asks for.
struct NumberedPage {
    std::size_t page = 1;  // from 1
    std::size_t size = kDispatcherPageSize;

    std::size_t begin() const { return (page - 1) * size; }
    std::size_t end() const { return page * size; }
};
// Reads `page` and `size`. A page beyond kDispatcherDepth is a fault.
NumberedPage ReadNumberedPage(QueryReader& reader);

// Items of one page, and how many there are in all.
struct NumberedItems {
    std::vector<std::string> items;  // each a JSON value
    std::size_t total = 0;
    bool exact = true;  // false: there are at least `total`
};
http_server::Response NumberedAnswer(const NumberedPage& page, const NumberedItems& found);

}  // namespace ksana::api
