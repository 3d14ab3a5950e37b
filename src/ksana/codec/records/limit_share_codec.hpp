#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/limit_share.hpp"

namespace ksana::codec {

// The stored form of the shares of a limit. Every value comes back as it was.
std::string ShareBookToJson(const model::ShareBook& book);
// Returns kInvalidArgument for a text that ShareBookToJson cannot have made.
Result<model::ShareBook> ShareBookFromJson(std::string_view text);

}  // namespace ksana::codec
