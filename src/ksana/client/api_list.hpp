#pragma once

#include <string>
#include <vector>

#include "ksana/client/api_client.hpp"

namespace ksana::client {

// The items of a list, over all its pages up to a bound.
struct ApiList {
    std::vector<codec::Json> items;
    std::string next_cursor;  // empty: the list is complete
    codec::Json last_page;    // as received, for members beside the items (a total)

    // Returns the items in the form of one page of the API.
    codec::Json AsPage() const;
};

// The most items that "all" returns: as many as a user or a script can use as one text.
inline constexpr std::size_t kMostListed = 100'000;

// Follows next_cursor until there are `most` items or no more. `query` must not contain a limit or
// a cursor. Returns the first error; kInternal if the pages never end.
Result<ApiList> ListAll(ApiClient& api, const std::string& path, const Query& query,
                        std::size_t most);

}  // namespace ksana::client
