#pragma once

#include <string>
#include <string_view>

#include "ksana/model/job/join.hpp"

namespace ksana::codec {

// Returns {"ended": {"load": "2026-01-01T00:00:00Z"}}, the body of a join's document.
std::string JoinToJson(const model::Join& join);
// Returns an empty join for a text that is none: the next ends begin it anew.
model::Join JoinFromJson(std::string_view text);

}  // namespace ksana::codec
