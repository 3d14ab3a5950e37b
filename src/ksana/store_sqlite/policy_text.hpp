#pragma once

#include <string>
#include <string_view>

#include "ksana/base/result.hpp"
#include "ksana/model/policy.hpp"

namespace ksana::store_sqlite {

// Equal policies give equal texts: numbers with blanks between them, the sequence last.
std::string PolicyToText(const model::RunPolicy& policy);
Result<model::RunPolicy> PolicyFromText(std::string_view text);

}  // namespace ksana::store_sqlite
