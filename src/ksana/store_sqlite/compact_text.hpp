#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ksana/base/result.hpp"
#include "ksana/model/policy.hpp"

namespace ksana::store_sqlite {

// Small values of a run as short texts for one column.

// A map as length:text for every key and value in turn; empty for none.
std::string MapToText(const std::map<std::string, std::string>& map);
Result<std::map<std::string, std::string>> MapFromText(std::string_view text);

// Equal policies give equal texts: numbers with blanks between them, the sequence last.
std::string PolicyToText(const model::RunPolicy& policy);
Result<model::RunPolicy> PolicyFromText(std::string_view text);

}  // namespace ksana::store_sqlite
