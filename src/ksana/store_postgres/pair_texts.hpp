#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/text_map.hpp"

namespace ksana::store_postgres {

// Labels and selectors as a set of texts that PostgreSQL can compare (<@): "3:gpuyes" is gpu=yes,
// so that no character of a key needs to be forbidden.
std::vector<std::string> PairTexts(const TextMap& pairs);
TextMap PairsOf(const std::vector<std::string>& texts);

// The text form of a text[], for arrays inside an array parameter.
std::string ArrayText(const std::vector<std::string>& texts);

}  // namespace ksana::store_postgres
