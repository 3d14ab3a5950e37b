#pragma once

#include <string>
#include <vector>

#include "ksana/client/api_client.hpp"

namespace ksana::client {

// What a list of the API holds, over all its pages up to a bound.
struct ApiList {
    std::vector<codec::Json> items;
    std::string next_cursor;  // "": that was all
    codec::Json last_page;    // as it came: for members beside the items (a total)

    // In the shape of one page of the API.
    codec::Json AsPage() const;
};

// The most that "all" means: what a person or a script still wants as one text.
inline constexpr std::size_t kMostListed = 100'000;

// Follows next_cursor until there are `most` items or no more. The query must not hold a limit or
// a cursor.
Result<ApiList> ListAll(ApiClient& api, const std::string& path, const Query& query,
                        std::size_t most);

}  // namespace ksana::client
